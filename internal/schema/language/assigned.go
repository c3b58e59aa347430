package language

import (
	"cmp"
	"maps"
	"slices"
)

// SELECT @a := x, @a + 1 FROM t becomes SELECT x, x + 1 FROM t, and @a then has the value of the
// last row. What is assigned within an expression becomes one more column, which is not the
// answer's.
//
// It is refused where that is not certain, or where something may read @a of the row before:
// anywhere but in the list of the statement's own SELECT, after *, with UNION, if the statement has
// @a in other clauses or earlier in the list, and where not each row may come to the assignment.

// Assigned is a column that is assigned to a variable.
type Assigned struct {
	Column   int
	Variable string
	Name     string // of the column
}

// Limits of what a list assigns: variables that branches may change, and parts of expressions that
// are written where a variable is read.
const (
	maxBranched = 64
	maxRepeated = 10000
)

// rowVariables follows the variables of a row through the list of a SELECT.
type rowVariables struct {
	assigns   map[string]bool  // variables that the list assigns
	elsewhere map[string]int   // how often other parts of the statement have each
	now       map[string]*expr // what each is, as far as the list has been followed
	times     int              // that something was assigned
	repeated  int              // parts of expressions that are written once more
	refused   bool
}

// assigned takes the assignments out of a query's list. It returns what is assigned, and how many
// columns it added to the list for that. If it can't it leaves them, and the restorer refuses them.
func (q *query) assigned() (columns []Assigned, added int) {
	s := q.plain()
	if s == nil {
		return nil, 0
	}
	list := s.items
	if star := slices.IndexFunc(list, func(i item) bool { return i.of.form == starForm }); star >= 0 {
		list = list[:star]
	}
	r := &rowVariables{assigns: map[string]bool{}, elsewhere: map[string]int{}, now: map[string]*expr{}}
	count := func(n int) func(*expr) bool {
		return func(e *expr) bool {
			if e.form == userForm || e.form == assignForm {
				r.elsewhere[e.text] += n
			}
			return true
		}
	}
	q.deeply(func(e *expr) { count(1)(e) })
	for _, i := range list {
		i.of.each(count(-1))
		i.of.each(func(e *expr) bool {
			r.assigns[e.text] = r.assigns[e.text] || e.form == assignForm
			return true
		})
	}
	items := slices.Clone(s.items)
	whole := map[string]int{} // the columns that are what a variable is assigned last
	for n := range list {
		i := &items[n]
		of := r.row(i.of)
		i.of.each(func(e *expr) bool {
			if e.form == assignForm {
				delete(whole, e.text)
			}
			return true
		})
		if i.of.form == assignForm {
			whole[i.of.text] = n
		}
		if of != i.of && !i.named {
			i.alias, i.named = i.text, true
		}
		i.of = of
	}
	for _, variable := range slices.Sorted(maps.Keys(r.now)) {
		n, ok := whole[variable]
		if !ok {
			n = len(items)
			items = append(items, item{of: r.again(r.now[variable]), alias: "@" + variable, named: true})
			added++
		}
		columns = append(columns, Assigned{Column: n, Variable: variable, Name: items[n].alias})
	}
	if r.refused || added > 0 && s.distinct {
		return nil, 0
	}
	s.items = items
	return columns, added
}

// row returns an expression without assignments, in which variables are what they are in this row.
func (r *rowVariables) row(e *expr) *expr {
	switch {
	case e == nil || r.refused:
		return e
	case e.form == userForm && r.assigns[e.text]:
		return cmp.Or(r.again(r.now[e.text]), e)
	case e.form == assignForm:
		of := r.row(e.args[0])
		r.refused = r.refused || r.elsewhere[e.text] > 0
		r.now[e.text] = of
		r.times++
		return of
	case e.form == caseForm, e.form == callForm && e.text == "IF" && len(e.args) == 3:
		return r.branched(e)
	}
	// Of others not all operands are computed, or not in their order, or not once a row.
	steady := e.form == castForm || e.form == prefixForm || e.form == binaryForm && e.text != "AND" && e.text != "OR"
	return e.changed(func(part *expr) *expr {
		times := r.times
		of := r.row(part)
		r.refused = r.refused || r.times > times && !steady
		return of
	})
}

// branched does so for CASE and IF. A variable that branches assign becomes such a CASE or IF.
func (r *rowVariables) branched(e *expr) *expr {
	c := e.clone()
	branch := func(i int) bool { return i > 0 && (e.form == callForm || i%2 == 0 || i == len(e.args)-1) }
	for i := range c.args {
		if !branch(i) {
			times := r.times
			c.args[i] = r.row(c.args[i])
			r.refused = r.refused || i > 0 && r.times > times // not each row comes to it
		}
	}
	before, times := r.now, r.times
	after := make([]map[string]*expr, len(c.args))
	changed := map[string]bool{}
	for i := range c.args {
		if !branch(i) {
			continue
		}
		r.now = maps.Clone(before)
		c.args[i] = r.row(c.args[i])
		after[i] = r.now
		if r.refused = r.refused || len(r.now) > maxBranched; r.refused {
			return e
		}
		for variable, of := range r.now {
			changed[variable] = changed[variable] || of != before[variable]
		}
	}
	r.now = maps.Clone(before)
	if r.times > times {
		for variable, is := range changed {
			if !is {
				continue
			}
			of := c.clone()
			for i := range of.args {
				if branch(i) {
					of.args[i] = r.again(after[i][variable])
				}
			}
			r.now[variable] = of
		}
	}
	if slices.Equal(c.args, e.args) {
		return e
	}
	return c
}

// random are the functions that return something else when they are called again.
var random = setOf("RAND UUID UUID_SHORT SYSDATE SLEEP GET_LOCK RELEASE_LOCK RELEASE_ALL_LOCKS")

// again returns what a variable is, to be written once more. It refuses what nothing was assigned
// to in this row.
func (r *rowVariables) again(of *expr) *expr {
	r.refused = r.refused || of == nil
	if r.refused {
		return of
	}
	of.each(func(e *expr) bool {
		r.repeated++
		r.refused = r.refused || r.repeated > maxRepeated || e.form == callForm && random[e.text] || e.query != nil
		return !r.refused
	})
	return of
}
