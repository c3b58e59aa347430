//go:build ftrace_core

// This file is added to package database/sql. It tells the core of statements, whatever the driver.

package sql

// The usual statements are declared before any is sent.
var _ = func() bool {
	for _, own := range [...]string{"other", "select", "insert", "update", "delete", "begin", "commit", "rollback"} {
		ftraceDeclareSpan("statement/sql", own, "text;err!;func(string)(error)")
	}
	return true
}()

// ftraceStatement is called by the function that sends a statement. end is called when it ends.
//
//go:noinline
func ftraceStatement(query string) (s ftraceSpan) {
	if query != "" {
		bytes, _ := ftraceWithoutPasswords([]byte(query))
		shown := string(bytes)
		s.token, s.number = ftraceBeginSpan("statement/sql", ftraceWord(shown), shown, shown)
	}
	return s
}

func (s ftraceSpan) end(err *error) { ftraceEndSpan(s.token, s.number, 0, *err, err) }
