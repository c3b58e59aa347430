package language

import (
	"database/sql/driver"
	"math"
	"slices"
	"strconv"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/functions"
	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// How values are compared: text without regard to case, and as a number with a number.

// collationOf returns the collation of an expression.
func collationOf(e *expr) string {
	if e.form == collateForm {
		return collation(e.text)
	}
	return "NOCASE"
}

// collates reports whether an expression says itself how its text is compared.
func collates(e *expr) (is bool) {
	e.each(func(e *expr) bool {
		is = is || e.form == collateForm || e.form == prefixForm && e.text == "BINARY"
		return !is
	})
	return is
}

// exact reports whether an expression is text that is compared byte by byte, also by LIKE and by
// the functions that search.
func exact(e *expr) bool {
	switch e.form {
	case collateForm:
		return collation(e.text) == "BINARY"
	case prefixForm:
		return e.text == "BINARY" || e.text == "+" && exact(e.args[0])
	case caseForm, callForm:
		if integerResults[e.text] || doubleResults[e.text] {
			return false
		}
		return slices.ContainsFunc(e.args, func(a *expr) bool { return a != nil && exact(a) })
	}
	return false
}

// noText reports whether an expression is no text for certain, or a list.
func noText(e *expr) bool {
	switch e.form {
	case wordForm:
		return e.text != "NULL"
	case numberForm, numberOfForm, paramForm, isForm, likeForm, betweenForm, inForm, existsForm, rowForm:
		return true
	case binaryForm:
		return e.text != "->" && e.text != "->>"
	case prefixForm:
		return e.text != "BINARY" && e.text != "+"
	case callForm:
		return integerResults[e.text] || doubleResults[e.text] || numberArguments[e.text]
	}
	return false
}

// folds reports whether values are compared without regard to the case of text. To SQLite, text
// that functions return has no collation.
func folds(list ...*expr) bool {
	for _, e := range list {
		if collates(e) || noText(e) {
			return false
		}
	}
	return true
}

// against returns an operand that is compared with values of a kind: text that is compared with a
// number counts as a number, and what is compared with a time as one.
func (r *restorer) against(e *expr, other Kind, column bool) *expr {
	if e.form == callForm && e.text == "JSON_EXTRACT" || e.form == binaryForm && e.text == "->" {
		e = &expr{form: callForm, text: "JSON_UNQUOTE", args: []*expr{e}}
	}
	k := r.kind(e)
	switch {
	case k.isTime() || other.isTime():
		if k.Type == Datetime || k.Type == Date && other.Type == Date || k.Type == null || other.Type == null {
			return e
		}
		if e.form == stringForm {
			return &expr{form: stringForm, text: functions.AsText(functions.Instant([]driver.Value{e.text}))}
		}
		return &expr{form: callForm, text: "INSTANT", args: []*expr{e}}
	case r.countsAsNumber(e, other, column):
		return &expr{form: numberOfForm, args: []*expr{e}}
	}
	return e
}

// asNumber writes text as a number. Of a text that is written there, a number is known now. Another
// text is looked at if the statement needs it at all, and is warned of once.
func (r *restorer) asNumber(e *expr) {
	if r.kind(e).isTime() {
		r.call("digits_of_time", e)
		return
	}
	switch f := functions.AsNumber(e.text); {
	case e.form != stringForm:
		r.call("number", e)
	case functions.IsNumeral(e.text) && !math.IsInf(f, 0):
		r.write(strconv.FormatFloat(f, 'e', -1, 64))
	default:
		r.call("number_once", e)
	}
}

// countsAsNumber reports whether an expression is text, and is compared with a number. Where a
// column is compared with an integer in quotes, the engine itself makes it one, and finds rows by
// it.
func (r *restorer) countsAsNumber(e *expr, other Kind, column bool) bool {
	if !r.kind(e).onlyText() || !other.Number() {
		return false
	}
	return !column || e.form != stringForm || !plainNumber().MatchString(e.text)
}

// plainNumber matches an integer as the engine itself reads it.
var plainNumber = words.Regexp(`^-?(0|[1-9][0-9]{0,17})$`)

// inQuery writes e IN (q).
func (r *restorer) inQuery(e *expr, not bool, q *query) {
	columns := r.columnsOf(q)
	one := len(columns) == 1 && e.form != rowForm
	if one && r.kind(e).onlyText() && columns[0].Kind.Number() {
		r.asNumber(e)
	} else {
		r.folded(e)
	}
	r.write(map[bool]string{true: " NOT IN ", false: " IN "}[not])
	if one && r.kind(e).Number() && columns[0].Kind.onlyText() {
		r.write("(SELECT number(", QuoteName(columns[0].Name), ") FROM ")
		r.enclosed(q)
		r.write(")")
		return
	}
	r.enclosed(q)
}

// mixed reports whether of some expressions one is text and one is a number.
func (r *restorer) mixed(list []*expr) bool {
	text := func(e *expr) bool { return r.kind(e).text() }
	number := func(e *expr) bool { return r.kind(e).Number() }
	return slices.ContainsFunc(list, text) && slices.ContainsFunc(list, number)
}

// inMixed writes text IN (...) with texts and numbers: each is compared as what it is.
func (r *restorer) inMixed(e *expr) {
	r.write(map[bool]string{true: "NOT "}[e.not], "(")
	r.each(len(e.args)-1, "", " OR ", func(i int) {
		r.operand(&expr{form: binaryForm, text: "=", args: []*expr{e.args[0], e.args[i+1]}})
	})
	r.write(")")
}

// comparable returns a comparison with several values in which text counts as a number if the
// others are numbers, and as a time if one is a time.
func (r *restorer) comparable(e *expr) *expr {
	var with Kind
	for _, a := range e.args {
		if k := r.kind(a); k.isTime() && k.Type > with.Type || k.Number() && !with.isTime() {
			with = k
		}
	}
	if with.Type == Date && slices.ContainsFunc(e.args, func(a *expr) bool { return r.kind(a).Type != Date }) {
		with.Type = Datetime
	}
	c := e.clone()
	for i, a := range c.args {
		c.args[i] = r.against(a, with, e.args[0].form == columnForm)
	}
	return c
}

// text writes an expression as text. A decimal number has all of its places then.
func (r *restorer) text(e *expr) {
	switch k := r.kind(e); k.Type {
	case Decimal:
		r.call("number_text", e, raw(strconv.Itoa(k.scale)))
	case Float, Integer:
		r.call("number_text", e, raw("-1"))
	default:
		r.expr(e)
	}
}

func (r *restorer) textOperand(e *expr) {
	if r.kind(e).Number() {
		r.text(e)
		return
	}
	r.operand(e)
}

// as writes what an expression may be that is of a kind: IF(a, 1, 'x') is text.
func (r *restorer) as(k Kind, e *expr) {
	switch {
	case k.Type == Datetime && r.kind(e).Type == Date:
		r.call("datetime_of", e)
	case k.text():
		r.text(e)
	default:
		r.expr(e)
	}
}

// folded writes what is compared with others.
func (r *restorer) folded(e *expr, others ...*expr) {
	if !folds(append(others, e)...) {
		r.operand(e)
		return
	}
	r.write("(")
	r.operand(e)
	r.write(" COLLATE NOCASE)")
}

// sorted writes an expression by which rows are sorted, or put into one group.
func (r *restorer) sorted(e *expr) {
	if e.form == columnForm || e.form == levelForm || e.form == rawForm || !folds(e) {
		r.expr(e)
		return
	}
	r.operand(e)
	r.write(" COLLATE NOCASE")
}
