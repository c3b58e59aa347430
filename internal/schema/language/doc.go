// Package language turns statements in MySQL's spelling into SQLite's.
//
//	st, err := language.Read("SELECT 7 / 2 FROM t", nil)
//	q, err := st.Query(0)
//	plan, err := q.Plan(names) // names say what t is
//
// A statement goes this way:
//
//	token.go, statement.go  it is split into tokens
//	parse.go, tree.go       a tree is made of it
//	restore.go              the tree is written in SQLite's spelling
//	types.go, compare.go,   by what each expression is
//	functions_kinds.go
//
// A Statement, what is read of it, and a Plan are for use by one goroutine.
package language
