package sqldouble

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/funcname"
	"github.com/ftrace-wrap/ftrace-wrap/internal/kept"
	"github.com/ftrace-wrap/ftrace-wrap/internal/sqlvalue"
	"github.com/ftrace-wrap/ftrace-wrap/mock"
)

// fails is an error of the test, and the program gets it.
func (r *replay) fails(format string, args ...any) error {
	message := fmt.Sprintf(format, args...)
	r.t.Error(message)
	first, _, _ := strings.Cut(message, "\n")
	return errors.New(first)
}

// step returns with what error something other than a statement fails, or nil.
func (r *replay) step(op Op, query string) error {
	defer kept.Quiet()()
	all := r.statements()
	var same []int
	for i := range all {
		if all[i].Op == op && sameText(all[i].Query, query) {
			same = append(same, i)
		}
	}
	if s := r.next(all, r.ofTest(all, same)); s != nil { // what failed in other tests is not for this one
		return s.Err
	}
	return nil
}

// answer returns the recorded statement that answers one. If there is none it fails, or returns nil
// if the replay is lenient.
func (r *replay) answer(ctx context.Context, query string, args []driver.NamedValue, exec bool) (*Statement, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	defer kept.Quiet()()
	all := r.statements()
	asked := request{query, exec, args}
	var same []int
	for i := range all {
		if all[i].Op == "" && len(asked.differences(&all[i])) == 0 {
			same = append(same, i)
		}
	}
	own := r.ofTest(all, same)
	if own == nil {
		own = same
	}
	if s := r.next(all, own); s != nil {
		return s, s.Err
	}
	message := asked.unknown(all)
	if r.lenient {
		r.t.Log(message)
		return nil, nil
	}
	return nil, r.fails("%s", message)
}

// next returns which of the recorded statements that are the same comes next, or nil.
func (r *replay) next(all []Statement, same []int) *Statement {
	if len(same) == 0 {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	n := same[min(r.made[same[0]], len(same)-1)]
	r.made[same[0]]++
	return &all[n]
}

// ofTest returns those statements that are the test's own; else its parent's, and so on; else those
// of no test.
func (r *replay) ofTest(all []Statement, same []int) []int {
	where := func(is func(test string) bool) (list []int) {
		for _, i := range same {
			if is(all[i].Test) {
				list = append(list, i)
			}
		}
		return list
	}
	for name := r.t.Name(); name != ""; name = name[:max(0, strings.LastIndexByte(name, '/'))] {
		if own := where(func(test string) bool { return test == name || strings.HasPrefix(test, name+"/") }); own != nil {
			return own
		}
	}
	return where(func(test string) bool { return test == "" })
}

// A request is a statement that the program sends.
type request struct {
	query string
	exec  bool
	args  []driver.NamedValue
}

// differences returns how a recorded statement differs, one line for each difference.
func (q *request) differences(s *Statement) (lines []string) {
	if !sameText(s.Query, q.query) {
		lines = append(lines, fmt.Sprintf("Query: recorded %q, called with %q", folded(s.Query), folded(q.query)))
	}
	if recorded := s.Columns == nil; s.Err == nil && recorded != q.exec {
		by := map[bool]string{true: "Exec", false: "Query"}
		lines = append(lines, fmt.Sprintf("recorded by %s, called by %s", by[recorded], by[q.exec]))
	}
	for i := range max(len(s.Args), len(q.args)) {
		switch {
		case i >= len(s.Args):
			lines = append(lines, fmt.Sprintf("Args[%d]: recorded none, called with %s", i, q.shown(i)))
		case i >= len(q.args):
			lines = append(lines, fmt.Sprintf("Args[%d]: recorded %s, called with none", i, written(s.Args[i])))
		case !q.same(s.Args[i], i):
			lines = append(lines, fmt.Sprintf("Args[%d]: recorded %s, called with %s", i, written(s.Args[i]), q.shown(i)))
		}
	}
	return lines
}

// same reports whether a recorded argument is the one at i.
func (q *request) same(recorded any, i int) bool {
	name := ""
	if named, ok := recorded.(sql.NamedArg); ok {
		name, recorded = named.Name, named.Value
	}
	if name != q.args[i].Name {
		return false
	}
	if _, ok := recorded.(mock.Any); ok {
		return true
	}
	want, got := sqlvalue.Plain(recorded), q.plain(i)
	if a, ok := want.(time.Time); ok {
		b, ok := got.(time.Time)
		return ok && a.Equal(b)
	}
	return reflect.DeepEqual(want, got)
}

// plain returns the argument at i as it is compared.
func (q *request) plain(i int) any {
	if a, ok := q.args[i].Value.(argument); ok {
		return a.plain
	}
	return q.args[i].Value
}

// shown returns the argument at i for a message.
func (q *request) shown(i int) string {
	if name := q.args[i].Name; name != "" {
		return written(sql.Named(name, q.plain(i)))
	}
	return written(q.plain(i))
}

// written returns an argument for a message.
func written(v any) string {
	switch v := v.(type) {
	case sql.NamedArg:
		return v.Name + "=" + written(v.Value)
	case nil:
		return "NULL"
	case string:
		return fmt.Sprintf("%q", v)
	case []byte:
		return fmt.Sprintf("[]byte(%q)", v)
	case time.Time:
		return v.Format(time.RFC3339Nano)
	case mock.Any:
		return "any"
	}
	return fmt.Sprint(v)
}

// unknown returns what is said of a statement that was not recorded.
func (q *request) unknown(all []Statement) string {
	message := fmt.Sprintf("mock: no such statement was recorded%s\n\t%s", caller(), folded(q.query))
	var nearest []string
	common, n := -1, 0
	for i := range all {
		if all[i].Op != "" {
			continue
		}
		n++
		differ, alike := q.differences(&all[i]), alike(folded(all[i].Query), folded(q.query))
		if common < 0 || cmp.Or(cmp.Compare(alike, common), cmp.Compare(len(nearest), len(differ))) > 0 {
			nearest, common = differ, alike
		}
	}
	if nearest != nil {
		message += fmt.Sprintf("\nof the %d that were, the nearest differs in\n\t%s", n, strings.Join(nearest, "\n\t"))
	}
	return message
}

// alike returns how many bytes two texts have in common at the beginning and the end.
func alike(a, b string) int {
	n, m := 0, min(len(a), len(b))
	for n < m && a[n] == b[n] {
		n++
	}
	if n == m && len(a) == len(b) {
		return n + 1 // more than any other text
	}
	for k := 1; n < m && a[len(a)-k] == b[len(b)-k]; k++ {
		n++
	}
	return n
}

// folded returns a statement in one line.
func folded(query string) string { return strings.Join(strings.Fields(query), " ") }

// hidden matches the secrets in recorded statements.
const hidden = `'***'`

// literal matches what a secret may have been.
const literal = `('([^'\\]|\\.|'')*'|"([^"\\]|\\.|"")*"|[0-9][\w.]*|[nNxXbB]'[^']*')`

// sameText reports whether two statements have the same text, but for white space at the beginnings
// and ends of lines. A secret in the recorded one is like any literal.
func sameText(recorded, query string) bool {
	if recorded == query {
		return true
	}
	a, b := trimmed(recorded), trimmed(query)
	if a == b {
		return true
	}
	if !strings.Contains(a, hidden) {
		return false
	}
	parts := strings.Split(a, hidden)
	if !strings.HasPrefix(b, parts[0]) { // as most
		return false
	}
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	ok, err := regexp.MatchString(`^(?s:`+strings.Join(parts, literal)+`)$`, b)
	return ok && err == nil
}

// trimmed returns a statement without white space at the beginnings and ends of its lines. If a
// quoted text may go over several lines, it returns the statement as it is.
func trimmed(query string) string {
	lines := strings.Split(query, "\n")
	for i, line := range lines {
		for _, quote := range []string{"'", `"`, "`"} {
			if len(lines) > 1 && strings.Count(line, quote)%2 != 0 {
				return query
			}
		}
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool { return line == "" }), "\n")
}

// caller returns who sends a statement, for a message.
func caller() string {
	pcs := make([]uintptr, 100)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		f, more := frames.Next()
		ours := strings.HasPrefix(f.File, "ftrace-wrap/") || slices.ContainsFunc([]string{"runtime.", "reflect.", "database/sql.", "github.com/ftrace-wrap/ftrace-wrap/mock"}, func(pkg string) bool {
			return strings.HasPrefix(f.Function, pkg)
		})
		switch {
		case !more && ours:
			return ""
		case !ours:
			return fmt.Sprintf(", which %s makes at %s:%d", funcname.Short(f.Function), filepath.Base(f.File), f.Line)
		}
	}
}
