package language

import (
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// A Statement is one in MySQL's spelling, split into tokens. Errors of its methods are MySQL's
// errors, of syntax or of what is not understood.
type Statement struct {
	Text   string
	Args   []any // for its ?s
	tokens []token
}

// Read splits a statement. It leaves out what ends it.
func Read(text string, args []any) (*Statement, error) {
	list, err := tokens(text)
	for len(list) > 0 && list[len(list)-1].is(";") {
		list = list[:len(list)-1]
	}
	st := &Statement{text, args, list}
	if i := slices.IndexFunc(list, func(t token) bool { return t.is(";") }); err == nil && i >= 0 {
		err = st.Near(i)
	}
	return st, err
}

// Split splits text into statements at semicolons. If no semicolon ends the last one it is rest: a
// shell reads on then.
func Split(text string) (statements []string, rest string) {
	list, err := tokens(text)
	if err != nil {
		return nil, text // an open quote or comment
	}
	from, any := 0, false
	for _, t := range list {
		if t.is(";") {
			if any {
				statements = append(statements, strings.TrimSpace(text[from:t.start]))
			}
			from, any = t.end, false
			continue
		}
		any = true
	}
	if !any {
		return statements, ""
	}
	return statements, strings.TrimSpace(text[from:])
}

func (st *Statement) at(i int) *token {
	if i < 0 || i >= len(st.tokens) {
		return &token{kind: op}
	}
	return &st.tokens[i]
}

// Len returns the number of tokens. What is at other places than theirs is a token that is nothing.
func (st *Statement) Len() int { return len(st.tokens) }

// Is reports whether the tokens at a place are these words or marks.
func (st *Statement) Is(i int, words ...string) bool {
	for n, w := range words {
		if !st.at(i + n).is(w) {
			return false
		}
	}
	return true
}

// Verb returns the word or mark at a place in capitals; "": there is another token.
func (st *Statement) Verb(i int) string {
	if t := st.at(i); t.kind == word || t.kind == op {
		return strings.ToUpper(t.text)
	}
	return ""
}

// Word returns what the token at a place means: the text of a string, the name in backquotes.
func (st *Statement) Word(i int) string { return st.at(i).text }

// Named reports whether the token at a place may be a name.
func (st *Statement) Named(i int) bool { return st.at(i).identifier() }

// Near returns the error of a statement that is wrong at a place.
func (st *Statement) Near(i int) error { return mysqlerr.Near(st.rest(i)) }

// rest returns the text from a token on.
func (st *Statement) rest(i int) string {
	if i >= len(st.tokens) {
		return ""
	}
	return st.Text[st.tokens[i].start:]
}

// outer yields the tokens from one on, except parentheses and what is in them.
func (st *Statement) outer(from int) iter.Seq2[int, *token] {
	return func(yield func(int, *token) bool) {
		depth := 0
		for i := from; i < len(st.tokens); i++ {
			switch t := st.at(i); {
			case t.is("("):
				depth++
			case t.is(")"):
				depth--
			case depth == 0 && !yield(i, t):
				return
			}
		}
	}
}

// Params returns the number of ?s.
func (st *Statement) Params() (n int) {
	for i := range st.tokens {
		if st.tokens[i].kind == param {
			n++
		}
	}
	return n
}

// timeHint matches the hint of a SELECT that limits its time.
var timeHint = words.Regexp(`(?is)^\s*/\*\+.*\bMAX_EXECUTION_TIME\s*\(\s*([0-9]+)\s*\).*\*/`)

// TimeHint returns how many milliseconds the hint of a SELECT lets it run. It is not ok if there is
// no such hint.
func (st *Statement) TimeHint() (ms int64, ok bool) {
	first := 0
	for st.at(first).is("(") {
		first++
	}
	for i, t := range st.outer(first) {
		if t.is("SELECT") && i+1 < len(st.tokens) {
			if m := timeHint().FindStringSubmatch(st.Text[t.end:st.at(i+1).start]); m != nil {
				ms, _ = strconv.ParseInt(m[1], 10, 64)
				return ms, true
			}
			break
		}
	}
	return 0, false
}

// A Table is a table's name, with its schema; "": it is in the default one.
type Table struct{ Schema, Name string }

// String returns the name as SQL.
func (t Table) String() string { return QuoteName(t.Schema) + "." + QuoteName(t.Name) }

// Table reads the name of a table at a token, and returns the token after it.
func (st *Statement) Table(i int) (t Table, next int, err error) {
	next, err = st.parse(i, func(p *parser) { t = p.tableNamed() })
	return t, next, err
}

func (p *parser) tableNamed() Table {
	t := &tableRef{}
	p.tableName(t)
	return Table{t.schema, t.name}
}

// Rename replaces the statement's strings that are old by now, if the statement names a table.
func (st *Statement) Rename(table, old, now string) {
	if !slices.ContainsFunc(st.tokens, func(t token) bool { return t.identifier() && strings.EqualFold(t.text, table) }) {
		return
	}
	st.tokens = slices.Clone(st.tokens)
	for i := range st.tokens {
		if t := &st.tokens[i]; t.kind == str && strings.EqualFold(t.text, old) {
			t.text = now
		}
	}
}

// query reads the query that a statement is from a token on.
func (st *Statement) query(i int) (*query, error) { return read(st, i, (*parser).query) }

// Filter returns what SQLite is to have after a query that SHOW stands for: the WHERE, LIKE or
// LIMIT that begins at a token. LIKE is of a column.
func (st *Statement) Filter(n Names, i int, column string) (*Plan, error) {
	which := &query{}
	var where *expr
	if _, err := st.parse(i, func(p *parser) {
		if p.accept("WHERE") {
			where = p.expr()
		} else if p.accept("LIKE") {
			where = &expr{form: likeForm, args: []*expr{{form: columnForm, path: []string{column}}, p.bits(0)}}
		}
		p.ends(which)
		p.end()
	}); err != nil {
		return nil, err
	}
	return st.plan(n, func(r *restorer, _ *Plan) {
		if where != nil {
			r.write(" WHERE ")
			r.expr(where)
		}
		r.limit(which)
	})
}
