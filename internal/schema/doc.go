// Package schema is the Performance Schema: the calls and waits of a process, as tables that are
// queried in SQL.
//
// In come sources: running processes, and recordings. Out come sessions, which understand MySQL's
// SQL:
//
//	c := schema.NewCatalog()
//	c.Add(source)
//	s, err := c.Session(ctx)
//	result, err := s.Query(ctx, "SELECT EVENT_NAME, COUNT_STAR FROM events_calls_summary_global_by_event_name", nil)
//
// The tables are those of MySQL's WL#2360: setup tables, of which some columns can be updated, and
// event tables, which can only be read and truncated. Each statement sees one snapshot of each
// source, taken when it first needs it. A statement goes this way:
//
//	statement.go           its first word chooses what handles it; some are not allowed
//	show.go                SHOW and DESCRIBE become queries
//	package language       it becomes one of SQLite's,
//	names.go               by what its names mean to the session
//	package engine         SQLite runs it, and calls
//	package functions      MySQL's functions
//	vtab.go                SQLite asks for rows of
//	package tables,        the tables, those of information_schema too, which
//	information.go         are functions of
//	package source         a source's snapshot
//
// cmd/ftrace calls this package, and package wire, which serves it to MySQL's clients. Nothing that
// is linked into traced programs does.
package schema
