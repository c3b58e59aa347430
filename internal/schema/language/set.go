package language

import "github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"

// A Setting is what SET does to one variable.
type Setting struct {
	Name   string // with its scope, if it is written with one
	User   bool   // it is @Name
	Global bool   // of SET GLOBAL
	Word   string // the value, if it is a word, such as ON
	Value  *Query // the value, if Word is ""
}

// Settings reads what SET has from a token on.
func (st *Statement) Settings(i int) ([]Setting, error) {
	global := false
	return read(st, i, func(p *parser) (list []Setting) {
		for more := p.i < len(p.tokens); more; more = p.accept(",") {
			for p.among("SESSION", "GLOBAL", "LOCAL") {
				global = p.taken() == "GLOBAL"
			}
			t := p.next()
			v := Setting{Name: t.text, User: t.kind == usrVar, Global: global}
			if p.i++; !p.among("=", ":=") || t.kind == num || t.kind == str {
				p.i = min(p.i, len(p.tokens)-1)
				p.syntax()
			}
			p.i++
			if t, after := p.next(), p.at(p.i+1); !v.User && t.kind == word && (p.i+1 == len(p.tokens) || after.is(",")) {
				v.Word = t.text
				p.i++
			} else {
				v.Value = p.valueOf([]*expr{p.expr()})
			}
			list = append(list, v)
		}
		return list
	})
}

// Values reads the expressions from a token on, as a query of them.
func (st *Statement) Values(i int) (*Query, error) {
	return read(st, i, func(p *parser) *Query { return p.valueOf(p.exprs()) })
}

// valueOf returns the query of expressions.
func (p *parser) valueOf(list []*expr) *Query {
	s := &selection{}
	for _, e := range list {
		s.items = append(s.items, item{of: e})
	}
	return &Query{p.Statement, &query{terms: []term{{only: s}}}}
}

// Temporary splits SET STATEMENT a = 1 FOR statement into its settings, which begin at token 2, and
// the statement.
func (st *Statement) Temporary() (settings, then *Statement, err error) {
	for i, t := range st.outer(2) {
		switch {
		case t.is("FOR") && i+1 < len(st.tokens):
			return &Statement{st.Text, nil, st.tokens[:i]}, &Statement{st.Text, st.Args, st.tokens[i+1:]}, nil
		case t.kind == param:
			return nil, nil, mysqlerr.NotYet("? in SET STATEMENT")
		}
	}
	return nil, nil, st.Near(len(st.tokens) - 1)
}
