// Package functions has MySQL's functions and values: how text is a number, how numbers, times and
// JSON are text, and what CONCAT, DATE_ADD, REGEXP_REPLACE and some hundred others return.
//
// In come values as SQLite has them: nil, int64, float64 and string. So do values go out, or errors
// of package mysqlerr. [All] returns the functions, for package engine, with the names by which
// package schema's restorer calls them: CAST(x AS DATE) is date_of(x). A function that takes long,
// or warns, knows the [Statement] for which it is called. [RegisterAggregates] adds the functions
// of groups. This package knows no tables, and no sessions.
package functions
