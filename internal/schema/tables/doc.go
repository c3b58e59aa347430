// Package tables has the tables of performance_schema and sys: lists of columns, each a function of
// a row of a source's snapshot. It knows no SQL, and neither sessions nor the engine.
package tables
