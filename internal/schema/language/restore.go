package language

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/engine"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/functions"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// A restorer writes trees in SQLite's spelling. What SQLite has under another name, or lacks,
// becomes calls of this package's functions. What is left is refused by name.
type restorer struct {
	names    Names
	stmt     *Statement
	b        strings.Builder
	with     []withName   // of the WITH clauses around
	scopes   []*nameScope // of the SELECTs around
	kinds    map[*expr]Kind
	results  map[*query][]Column
	within   int                                // expressions that are around
	literals int                                // bytes of variables' values
	params   int                                // the highest number of a parameter
	beside   func(column, text string) []string // of the change that is written
	database string                             // the default schema of the view whose query is written, "": it is none's
	viewing  []string                           // names of the views around
	views    int                                // that were written
}

func (r *restorer) write(parts ...string) {
	for _, part := range parts {
		r.b.WriteString(part)
	}
	if r.b.Len() > 4*engine.MaxText {
		fail(mysqlerr.New(mysqlerr.TooLong, "A statement is larger than max_allowed_packet (%d)", engine.MaxText))
	}
}

// deeper counts what stands within something else, and returns what ends it.
func (r *restorer) deeper() func() {
	if r.within++; r.within > 2*engine.MaxDepth {
		fail(TooDeep())
	}
	return func() { r.within-- }
}

// each calls f for the numbers below n, after what it begins with, if there are any, or what comes
// between them.
func (r *restorer) each(n int, begin, between string, f func(i int)) {
	for i := range n {
		r.write(begin)
		f(i)
		begin = between
	}
}

// list writes expressions with commas between them.
func (r *restorer) list(list []*expr) {
	r.each(len(list), "", ", ", func(i int) { r.expr(list[i]) })
}

// call writes a call of a function.
func (r *restorer) call(function string, args ...*expr) {
	r.write(function, "(")
	r.list(args)
	r.write(")")
}

// raw is text in SQLite's spelling as an argument.
func raw(text string) *expr { return &expr{form: rawForm, text: text} }

// operand writes an expression that is part of another.
func (r *restorer) operand(e *expr) {
	switch e.form {
	case prefixForm, binaryForm, isForm, likeForm, betweenForm, inForm, collateForm, existsForm, userForm, sysForm:
		r.write("(")
		r.expr(e)
		r.write(")")
	default:
		r.expr(e)
	}
}

// expr writes an expression.
func (r *restorer) expr(e *expr) {
	defer r.deeper()()
	switch e.form {
	case stringForm:
		r.write(QuoteString(e.text))
	case numberOfForm:
		r.asNumber(e.args[0])
	case numberForm, rawForm:
		r.write(e.text)
	case wordForm:
		switch e.text {
		case "TRUE":
			r.write("1")
		case "FALSE":
			r.write("0")
		case "DEFAULT":
			fail(mysqlerr.NotYet("DEFAULT"))
		default:
			r.write(e.text)
		}
	case columnForm:
		r.path(e.path)
	case starForm:
		if len(e.path) > 0 {
			r.path(e.path)
			r.write(".")
		}
		r.write("*")
	case paramForm:
		r.param(e.text)
	case sysForm:
		v, err := r.names.Variable(e.text)
		if err != nil {
			fail(err)
		}
		r.write(Literal(v))
	case userForm:
		v, _ := r.names.UserVariable(e.text)
		text := Literal(v)
		if r.literals += len(text); r.literals > engine.MaxText {
			fail(mysqlerr.New(mysqlerr.TooLong, "A statement with the values of its @variables is larger than max_allowed_packet (%d)", engine.MaxText))
		}
		r.write(text)
	case assignForm:
		fail(mysqlerr.New(mysqlerr.Unsupported, "This version of ftrace doesn't yet support '@%s :=' where another row, clause or SELECT may see it, with UNION, after *, or where not each row comes to it", e.text))
	case prefixForm:
		r.prefix(e)
	case binaryForm:
		r.binary(e)
	case isForm:
		r.operand(e.args[0])
		r.write(" IS ", map[bool]string{true: "NOT "}[e.not], map[string]string{"UNKNOWN": "NULL", "NULL": "NULL", "TRUE": "TRUE", "FALSE": "FALSE"}[e.text])
	case likeForm:
		if slices.ContainsFunc(e.args[:2], exact) {
			r.write(map[bool]string{true: "NOT "}[e.not], "like_exact(")
			r.arguments(append([]*expr{e.args[1], e.args[0]}, e.args[2:]...), String.Kind(0))
			r.write(")")
			return
		}
		r.textOperand(e.args[0])
		r.not(e, "LIKE")
		r.textOperand(e.args[1])
		if pattern := e.args[1]; len(e.args) > 2 {
			r.write(" ESCAPE ")
			r.operand(e.args[2])
		} else if pattern.form != stringForm || strings.Contains(pattern.text, `\`) { // a backslash escapes even without ESCAPE
			r.write(` ESCAPE '\'`)
		}
	case betweenForm:
		e = r.comparable(e)
		r.folded(e.args[0], e.args[1:]...)
		r.not(e, "BETWEEN")
		r.operand(e.args[1])
		r.write(" AND ")
		r.operand(e.args[2])
	case inForm:
		if e.query != nil {
			r.inQuery(e.args[0], e.not, e.query)
			return
		}
		if r.kind(e.args[0]).text() && r.mixed(e.args[1:]) {
			r.inMixed(e)
			return
		}
		e = r.comparable(e)
		r.folded(e.args[0], e.args[1:]...)
		r.not(e, "IN")
		r.write("(")
		r.list(e.args[1:])
		r.write(")")
	case existsForm:
		r.write("EXISTS ")
		r.enclosed(e.query)
	case queryForm:
		r.enclosed(e.query)
	case rowForm:
		r.write("(")
		r.list(e.args)
		r.write(")")
	case collateForm:
		r.operand(e.args[0])
		r.write(" COLLATE ", collation(e.text))
	case callForm:
		r.function(e)
	case castForm:
		r.cast(e)
	case caseForm:
		r.caseOf(e)
	case shiftForm:
		r.shift(e)
	case levelForm:
		r.write("(CASE WHEN ftrace_level >= ", strconv.Itoa(e.level), " THEN ")
		r.expr(e.args[0])
		r.write(" END COLLATE ", collationOf(e.args[0]), ")")
	case intervalForm:
		fail(functions.IntervalError(r.stmt.rest(e.first)))
	case anyForm:
		fail(mysqlerr.NotYet("ANY, SOME and ALL except = ANY and <> ALL"))
	}
}

// param writes a word that may be a ? with its number.
func (r *restorer) param(word string) {
	if digits, ok := strings.CutPrefix(word, "?"); ok {
		n, _ := strconv.Atoi(digits)
		r.params = max(r.params, n)
	}
	r.write(word)
}

func (r *restorer) not(e *expr, operator string) {
	if e.not {
		r.write(" NOT")
	}
	r.write(" ", operator, " ")
}

// path writes a name with what qualifies it.
func (r *restorer) path(path []string) {
	for i, name := range path {
		if i > 0 {
			r.write(".")
		}
		r.write(QuoteName(name))
	}
}

func (r *restorer) prefix(e *expr) {
	switch of := e.args[0]; e.text {
	case "!", "NOT":
		r.write("NOT ")
		r.operand(of)
	case "BINARY":
		r.operand(of)
		r.write(" COLLATE BINARY")
	case "+":
		r.write("+ ")
		r.operand(of)
	case "-":
		r.write("- ") // -- would begin a comment
		r.counted(of)
	default:
		r.write(e.text, " ")
		r.operand(of)
	}
}

// renamed are operators that SQLite has under another name.
var renamed = map[string]string{"<=>": "IS", "!=": "<>"}

// functionsOf are functions for operators that SQLite lacks, or has for other values only.
var functionsOf = map[string]string{"DIV": "whole_division", "%": "mod", "MOD": "mod", "^": "bits_of_one"}

func (r *restorer) binary(e *expr) {
	a, b := e.args[0], e.args[1]
	switch function := functionsOf[e.text]; {
	case function != "":
		r.call(function, r.numbers(e).args...)
		return
	case e.text == "XOR": // NULL if one of them is
		r.write("(NOT ")
		r.operand(a)
		r.write(") <> (NOT ")
		r.operand(b)
		r.write(")")
		return
	case e.text == "/":
		r.quotient(e)
		return
	case e.text == "->" || e.text == "->>":
		of := &expr{form: callForm, text: "JSON_EXTRACT", args: e.args}
		if e.text == "->>" {
			of = &expr{form: callForm, text: "JSON_UNQUOTE", args: []*expr{of}}
		}
		r.function(of)
		return
	case e.text == "*" && a.form == numberForm && a.text == "1" && b.form == columnForm && b.quoted && enums[strings.ToUpper(b.path[len(b.path)-1])]:
		r.call("enum_index", b) // this is how clients read the number of its value
		return
	case b.form == anyForm && (e.text == "=" && !b.not || (e.text == "<>" || e.text == "!=") && b.not):
		r.inQuery(a, b.not, b.query)
		return
	case r.beside != nil && (e.text == "<>" || e.text == "!=") && a.form == columnForm && b.form == stringForm:
		if others := r.beside(a.path[len(a.path)-1], b.text); others != nil {
			out := &expr{form: inForm, not: true, args: []*expr{a, b}}
			for _, other := range others {
				out.args = append(out.args, &expr{form: stringForm, text: other})
			}
			r.expr(out)
			return
		}
	case e.text == "+" || e.text == "-" || e.text == "*":
		r.sum(e)
		return
	case e.text == "REGEXP" && (exact(a) || exact(b)):
		r.write(map[bool]string{true: "NOT "}[e.not], "regexp_like(")
		r.arguments([]*expr{a, b, raw("'c'")}, String.Kind(0))
		r.write(")")
		return
	case e.text == "REGEXP":
		r.textOperand(a)
		r.not(e, e.text)
		r.textOperand(b)
		return
	case !compares[e.text]:
		r.operand(a)
		r.not(e, e.text)
		r.operand(b)
		return
	}
	r.operand(r.against(a, r.kind(b), b.form == columnForm))
	op, ok := renamed[e.text]
	if !ok {
		op = e.text
	}
	r.write(" ", op, " ")
	r.operand(r.against(b, r.kind(a), a.form == columnForm))
	if folds(a, b) {
		r.write(" COLLATE NOCASE")
	}
}

// sum writes a sum, a difference or a product. Those of decimal numbers have so many places: 0.1 +
// 0.2 is 0.3.
func (r *restorer) sum(e *expr) {
	k := r.kind(e)
	rounded := k.Type == Decimal && k.digits > 0 && k.digits <= functions.Digits
	if rounded {
		r.write("places(")
	}
	r.counted(e.args[0])
	r.not(e, e.text)
	r.counted(e.args[1])
	if rounded {
		r.write(", ", strconv.Itoa(k.digits), ")")
	}
}

func (r *restorer) quotient(e *expr) {
	if k := r.kind(e); k.Type == Decimal {
		r.call("quotient", e.args[0], e.args[1], raw(strconv.Itoa(k.digits)))
		return
	}
	r.counted(e.args[0])
	r.write(" * 1.0 / ")
	r.counted(e.args[1])
}

// numbers returns an expression whose arguments are numbers, where they are text.
func (r *restorer) numbers(e *expr) *expr {
	c := e.clone()
	for i, a := range c.args {
		if a != nil && r.kind(a).onlyText() {
			c.args[i] = &expr{form: numberOfForm, args: []*expr{a}}
		}
	}
	return c
}

// counted writes an operand of which a number is computed.
func (r *restorer) counted(e *expr) {
	if r.kind(e).onlyText() {
		r.asNumber(e)
		return
	}
	r.operand(e)
}

// enums are the columns that are enumerations.
var enums = setOf("ENABLED TIMED INSTRUMENTED PANICKED TIMER_NAME")

// ViewsTable is the table in test that has the views of users, who can't name it.
const ViewsTable = "ftrace_views"

// ownName reports whether a name is one of SQLite's own tables, through which limits or pages can
// be changed.
func ownName(name string) bool {
	const pragma = "pragma_"
	return len(name) > len(pragma) && strings.EqualFold(name[:len(pragma)], pragma) || strings.EqualFold(name, "sqlite_dbpage") || strings.EqualFold(name, ViewsTable)
}

func enginesName(name string) error {
	return mysqlerr.New(mysqlerr.Unsupported, "This version of ftrace doesn't yet support '%s': it is a name of the engine's own", name)
}

// collation returns the collation of SQLite that is closest to one of MySQL's.
func collation(name string) string {
	if strings.HasSuffix(strings.ToLower(name), "_bin") || strings.EqualFold(name, "binary") {
		return "BINARY"
	}
	return "NOCASE"
}

// shift writes t - INTERVAL n MINUTE as time_shift(t, n, 'MINUTE', -1), and INTERVAL n MINUTE + t
// as shift_of_time(n, 'MINUTE', 1, t).
func (r *restorer) shift(e *expr) {
	a, b := e.args[0], e.args[1]
	if a.form == intervalForm {
		r.call("shift_of_time", intervalNumber(a), raw("'"+a.text+"'"), raw("1"), b)
		return
	}
	r.timeShift(a, b, map[string]int{"+": 1, "-": -1}[e.text])
}

func (r *restorer) timeShift(t, interval *expr, sign int) {
	r.call("time_shift", t, intervalNumber(interval), raw("'"+interval.text+"'"), raw(strconv.Itoa(sign)))
}

// intervalNumber returns the value of an interval. 1.30 MINUTE_SECOND has 30 seconds.
func intervalNumber(e *expr) *expr {
	n, sign := e.args[0], ""
	if n.form == prefixForm && n.text == "-" {
		n, sign = n.args[0], "-"
	}
	if functions.CompositeUnits[e.text] == nil || n.form != numberForm || strings.Trim(n.text, "0123456789.") != "" {
		return e.args[0]
	}
	return &expr{form: stringForm, text: sign + n.text}
}

func (r *restorer) caseOf(e *expr) {
	base, last := e.args[0], len(e.args)-1
	var whens []*expr
	for i := 1; i < last; i += 2 {
		whens = append(whens, e.args[i])
	}
	if base != nil && r.mixed(append(whens, base)) {
		// Each is compared with it as what both are.
		c := e.clone()
		for i := 1; i < last; i += 2 {
			c.args[i] = &expr{form: binaryForm, text: "=", args: []*expr{base, e.args[i]}}
		}
		c.args[0] = nil
		e, base = c, nil
	}
	r.write("CASE")
	if base != nil {
		r.write(" ")
		r.folded(base, whens...)
	}
	for i := 1; i < last; i += 2 {
		r.write(" WHEN ")
		r.expr(e.args[i])
		r.write(" THEN ")
		r.as(r.kind(e), e.args[i+1])
	}
	if e.args[last] != nil {
		r.write(" ELSE ")
		r.as(r.kind(e), e.args[last])
	}
	r.write(" END")
}

// converted are the functions for CAST and CONVERT to types. For other types SQLite's CAST is used.
var converted = map[string]string{"SIGNED": "signed", "UNSIGNED": "signed", "DATE": "date_of", "DATETIME": "datetime_of", "TIME": "time_of", "DECIMAL": "round", "TIMESTAMP": "datetime_of"}

func (r *restorer) cast(e *expr) {
	if e.text == "DECIMAL" || e.text == "DOUBLE" || e.text == "FLOAT" || e.text == "REAL" {
		e = r.numbers(e)
	}
	of := e.args[0]
	function := converted[e.text]
	switch {
	case e.text == "DECIMAL" && len(e.path) == 2:
		r.call("round", of, raw(e.path[1]))
	case len(e.path) == 1 && (e.text == "TIME" || e.text == "DATETIME" || e.text == "TIMESTAMP"):
		r.call(function, of, raw(e.path[0]))
	case function != "":
		r.call(function, of)
	case (e.text == "CHAR" || e.text == "NCHAR") && len(e.path) > 0:
		r.call("left", of, raw(e.path[0]))
	case e.text == "CHAR", e.text == "NCHAR", e.text == "DOUBLE", e.text == "FLOAT", e.text == "REAL":
		r.write("CAST(")
		r.expr(of)
		r.write(" AS ", map[string]string{"CHAR": "TEXT", "NCHAR": "TEXT"}[e.text], map[bool]string{true: "REAL"}[strings.Contains("DOUBLE FLOAT REAL", e.text)], ")")
	default:
		fail(mysqlerr.NotYet("CAST(... AS " + e.text + ")"))
	}
}

// shifting are the functions that take an interval, and the direction in which they shift.
var shifting = map[string]int{"DATE_ADD": 1, "ADDDATE": 1, "DATE_SUB": -1, "SUBDATE": -1}

// otherNames are functions that have another name here.
var otherNames = map[string]string{"DATE": "date_of", "TIMESTAMP": "timestamp_of", "ISNULL": "is_null", "INSERT": "insert_text", "JSON_QUOTE": "json_quoted", "SCHEMA": "database", "CURRENT_USER": "user", "SESSION_USER": "user", "SYSTEM_USER": "user"}

// function writes a call that a statement has.
func (r *restorer) function(e *expr) {
	name := strings.ToLower(e.text)
	if numberArguments[e.text] {
		e = r.numbers(e)
		if e.text == "ROUND" && len(e.args) > 0 && r.kind(e.args[0]).Type == Float {
			name = "round_double"
		}
	}
	if other := otherNames[e.text]; other != "" {
		name = other
	} else if other := clocks[e.text]; other != "" {
		name = other
	}
	if len(e.args) == 0 {
		if v, ok := r.names.Value(name); ok {
			r.write(Literal(v))
			return
		}
	}
	switch sign := shifting[e.text]; {
	case documents[e.text] != "":
		r.write("json_text(")
		r.document(e)
		r.write(")")
		return
	case e.text == "JSON_TYPE":
		r.call("json_kind(json_type", e.args...)
		r.write(")")
		return
	case sign != 0 && len(e.args) == 2 && e.args[1].form == intervalForm:
		r.timeShift(e.args[0], e.args[1], sign)
		return
	case e.text == "GROUP_CONCAT" && len(e.args) > 0:
		r.groupConcat(e)
		return
	case (e.text == "COLLATION" || e.text == "CHARSET") && len(e.args) == 1:
		r.write(QuoteString(r.collationName(e.args[0], e.text == "CHARSET")))
		return
	case e.text == "TRIM" && e.path != nil:
		name += "_" + strings.ToLower(e.path[0])
	case (e.text == "SUM" || e.text == "AVG") && len(e.args) == 1 && r.kind(e).Type == Decimal:
		r.total(e)
		return
	case e.text == "FIELD":
		e = r.comparable(e)
	case e.text == "VALUES" && len(e.args) == 1 && e.args[0].form == columnForm: // in ON DUPLICATE KEY UPDATE
		r.write("excluded.", QuoteName(e.args[0].path[len(e.args[0].path)-1]))
		return
	case e.text == "COUNT" && e.distinct && len(e.args) > 1:
		r.write("COUNT(DISTINCT ")
		r.call("row_key", e.args...)
		r.write(")")
		return
	case e.text == "NULLIF" && len(e.args) == 2 && r.mixed(e.args):
		r.caseOf(&expr{form: caseForm, args: []*expr{nil, {form: binaryForm, text: "=", args: e.args}, {form: wordForm, text: "NULL"}, e.args[0]}})
		return
	case e.text == "NULLIF" && len(e.args) == 2:
		r.write("NULLIF(")
		r.folded(e.args[0], e.args[1])
		r.write(", ")
		r.expr(e.args[1])
		r.write(")")
		return
	}
	if searches[e.text] && slices.ContainsFunc(e.args, exact) {
		name += "_exact"
	}
	r.write(name, "(", map[bool]string{true: "DISTINCT "}[e.distinct])
	switch compares := e.distinct || e.text == "MIN" || e.text == "MAX"; {
	case compares && len(e.args) == 1:
		r.sorted(e.args[0])
	case textResults[e.text] || textArguments[e.text]:
		r.arguments(e.args, String.Kind(0))
	case e.text == "IF" && len(e.args) == 3:
		r.expr(e.args[0])
		r.write(", ")
		r.arguments(e.args[1:], r.kind(e))
	case eitherResults[e.text]:
		r.arguments(e.args, r.kind(e))
	default:
		r.list(e.args)
	}
	r.orderBy(e.order)
	r.write(")")
	r.over(e.window)
}

// collationName returns what COLLATION, or CHARSET, is of an expression.
func (r *restorer) collationName(e *expr, charset bool) string {
	name := "utf8mb4_general_ci"
	switch {
	case e.form == collateForm:
		name = strings.ToLower(e.text)
	case r.kind(e).Number() || exact(e):
		name = "binary"
	}
	if charset {
		name, _, _ = strings.Cut(name, "_")
	}
	return name
}

// total writes SUM and AVG of decimal numbers.
func (r *restorer) total(e *expr) {
	digits := r.kind(e).digits
	part := func(function string) {
		r.write(function, "(", map[bool]string{true: "DISTINCT "}[e.distinct])
		r.expr(e.args[0])
		r.write(")")
		r.over(e.window)
	}
	switch {
	case e.text == "AVG":
		r.write("quotient(")
		part("sum")
		r.write(", ")
		part("count")
		r.write(", ", strconv.Itoa(digits), ")")
	case digits > 0 && digits <= functions.Digits:
		r.write("places(")
		part("sum")
		r.write(", ", strconv.Itoa(digits), ")")
	default:
		part("sum")
	}
}

// arguments writes the arguments of a function that takes or returns values of a kind.
func (r *restorer) arguments(list []*expr, k Kind) {
	r.each(len(list), "", ", ", func(i int) { r.as(k, list[i]) })
}

// groupConcat writes GROUP_CONCAT([DISTINCT] x, y ORDER BY z SEPARATOR s) as
// concatenated([DISTINCT] ('1:s' || (x) || (y)) COLLATE NOCASE ORDER BY z). SQLite's own function
// takes one value and the separator, and with DISTINCT only one argument. So the separator, with
// its length, goes before each value.
func (r *restorer) groupConcat(e *expr) {
	separator := ","
	if e.separator != nil {
		separator = *e.separator
	}
	r.write("concatenated(", map[bool]string{true: "DISTINCT "}[e.distinct], "(", QuoteString(fmt.Sprint(len(separator), ":", separator)))
	for _, a := range e.args {
		r.write(" || (")
		r.text(a)
		r.write(")")
	}
	r.write(") COLLATE NOCASE")
	r.orderBy(e.order)
	r.write(")")
}

func (r *restorer) over(w *window) {
	if w == nil {
		return
	}
	r.write(" OVER ")
	if !w.defined {
		r.write(QuoteName(w.name))
		return
	}
	r.window(w)
}

func (r *restorer) window(w *window) {
	r.write("(")
	if w.name != "" {
		r.write(QuoteName(w.name))
	}
	r.each(len(w.partition), " PARTITION BY ", ", ", func(i int) { r.sorted(w.partition[i]) })
	r.orderBy(w.order)
	for _, part := range w.frame {
		r.write(" ")
		r.param(part)
	}
	r.write(")")
}

func (r *restorer) orderBy(list []ordered) {
	r.each(len(list), " ORDER BY ", ", ", func(i int) {
		r.sorted(list[i].of)
		r.write(map[bool]string{true: " DESC"}[list[i].desc])
	})
}

// QuoteName returns a name as SQL. In double quotes, a name that SQLite does not know would be a
// string. SQLite reads a statement only up to the first zero byte.
func QuoteName(s string) string { return "`" + quoting.Replace(s) + "`" }

var quoting = strings.NewReplacer("`", "``", "\x00", "")

// QuoteString returns a string as SQL. SQLite reads a statement only up to the first zero byte.
func QuoteString(s string) string {
	q := "'" + strings.ReplaceAll(s, "'", "''") + "'"
	if strings.Contains(s, "\x00") {
		return "(" + strings.ReplaceAll(q, "\x00", "'||char(0)||'") + ")"
	}
	return q
}

// Literal returns a value as SQL.
func Literal(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return QuoteString(fmt.Sprint(v))
}
