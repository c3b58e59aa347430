package language

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/functions"
)

// MySQL knows what an expression is before it computes anything: an integer, a decimal number with
// so many places, text. SQLite does not. So the restorer finds it out, from the types of columns
// on. The answer's columns get their types from it, 7/2 is 3.5000, and text that is compared with a
// number is made one.

// A Type is what all values of an expression are, if they are not NULL.
type Type uint8

const (
	unknown Type = iota // the values say it
	null                // there are none
	Integer
	Decimal
	Float
	String
	Date     // text that is a day, and compared with others as its midnight
	Datetime // text that is a day with a time of day
	enum     // text that is a number too
)

// Number reports whether values of the type are numbers.
func (t Type) Number() bool { return t == Integer || t == Decimal || t == Float }

// text reports whether values of the type are text.
func (t Type) text() bool { return t >= String }

// onlyText reports whether they are text, and no numbers too.
func (t Type) onlyText() bool { return t == String || t.isTime() }

// isTime reports whether they are times, which are compared with others as times.
func (t Type) isTime() bool { return t == Date || t == Datetime }

// Kind returns the kind of values of the type: decimal numbers have so many places.
func (t Type) Kind(places int) Kind { return Kind{Type: t, scale: places, digits: places} }

// A Kind says what an expression's values are.
type Kind struct {
	Type
	scale  int // the places of a decimal number that are shown
	digits int // the places that are computed, at least as many
}

// placesOfQuotient is how many places more than its dividend a quotient has: MySQL's
// div_precision_increment.
const placesOfQuotient = 4

// maxScale is how many places a decimal number can have.
const maxScale = 38

func decimal(scale, digits int) Kind {
	return Kind{Type: Decimal, scale: min(scale, maxScale), digits: max(scale, digits)}
}

// asNumber returns the kind of what a number is made of. Of text, and of NULL, that is a
// floating-point one. Of a time it is its digits.
func (k Kind) asNumber() Kind {
	if k.isTime() {
		return Integer.Kind(0)
	}
	if k.text() || k.Type == null {
		return Float.Kind(0)
	}
	return k
}

// KindOf returns the kind of a column's values by its type. Types of columns that the engine
// computes are not known.
func KindOf(columnType string) Kind {
	name, size, _ := strings.Cut(strings.ToLower(columnType), "(")
	switch name, _, _ = strings.Cut(name, " "); name {
	case "enum":
		return enum.Kind(0)
	case "bigint", "int", "integer", "smallint", "tinyint", "mediumint", "bool", "boolean", "year":
		return Integer.Kind(0)
	case "decimal", "numeric", "dec":
		_, places, _ := strings.Cut(strings.TrimRight(size, " )"), ",")
		scale, _ := strconv.Atoi(strings.TrimSpace(places))
		return decimal(scale, 0)
	case "double", "float", "real":
		return Float.Kind(0)
	case "date":
		return Date.Kind(0)
	case "datetime", "timestamp":
		return Datetime.Kind(0)
	}
	if strings.Contains(name, "char") || strings.Contains(name, "text") || strings.Contains(name, "time") {
		return String.Kind(0)
	}
	return Kind{}
}

// Name returns the type of a column with such values; "": it is not known.
func (k Kind) Name() string {
	switch k.Type {
	case Integer:
		return "bigint"
	case Decimal:
		return fmt.Sprintf("decimal(65,%d)", k.scale)
	case Float:
		return "double"
	case String, enum:
		return "longtext"
	case Date:
		return "date"
	case Datetime:
		return "datetime"
	}
	return ""
}

// Shown returns the type of a column with such values, and the places of decimal numbers. It is not
// known if only the values say it.
func (k Kind) Shown() (t Type, places int, known bool) {
	if k.Type == enum {
		return String, 0, true
	}
	return k.Type, k.scale, k.Type > null
}

// Of returns the kind of a variable that gets a value of an expression: a time is text then.
func (k Kind) Of(v any) Kind {
	switch {
	case k.Type == unknown, k.Type == null:
		return kindOfValue(v)
	case k.isTime():
		return String.Kind(0)
	}
	return k
}

// kindOfValue returns the kind of a value that is given to a statement.
func kindOfValue(v any) Kind {
	switch v.(type) {
	case nil:
		return null.Kind(0)
	case int64, int, uint64, bool:
		return Integer.Kind(0)
	case float64:
		return Float.Kind(0)
	case string, []byte:
		return String.Kind(0)
	}
	return Kind{}
}

// kindOfNumber returns the kind of a number as it is written.
func kindOfNumber(text string) Kind {
	whole, places, point := strings.Cut(text, ".")
	switch {
	case strings.HasPrefix(text, "0x"), strings.HasPrefix(text, "0X"):
		return Integer.Kind(0)
	case strings.ContainsAny(text, "eE"):
		return Float.Kind(0)
	case point:
		return decimal(len(places), 0)
	}
	if _, err := strconv.ParseInt(whole, 10, 64); err != nil {
		return decimal(0, 0)
	}
	return Integer.Kind(0)
}

// either returns the kind of what is one of several expressions, as IFNULL returns it.
func either(kinds ...Kind) (k Kind) {
	k.Type = null
	for _, other := range kinds {
		switch {
		case other.Type == null:
		case other.Type == unknown:
			return Kind{}
		case k.Type == null:
			k = other
		case k.Type == other.Type && k.Type != Decimal:
		case k.isTime() && other.isTime():
			k = Datetime.Kind(0)
		case k.text() || other.text():
			k = String.Kind(0)
		case k.Type == Float || other.Type == Float:
			k = Float.Kind(0)
		default:
			k = decimal(max(k.scale, other.scale), max(k.digits, other.digits))
		}
	}
	return k
}

// computed returns the kind of a sum, a difference, a product or a remainder.
func computed(operator string, a, b Kind) Kind {
	a, b = a.asNumber(), b.asNumber()
	k := either(a, b)
	if k.Type == Decimal && operator == "*" {
		return decimal(a.scale+b.scale, a.digits+b.digits)
	}
	return k
}

// quotient returns the kind of a / b.
func quotient(a, b Kind) Kind {
	a, b = a.asNumber(), b.asNumber()
	if k := either(a, b); k.Type == unknown || k.Type == Float {
		return k
	}
	// MySQL computes with groups of nine digits.
	groups := func(digits int) int { return (digits + 8) / 9 * 9 }
	x, y := groups(a.digits), groups(b.digits)
	more := max(0, placesOfQuotient-(x-a.digits)-(y-b.digits))
	return decimal(a.scale+placesOfQuotient, groups(x+y+more))
}

// A Column is a column of a table or of a query.
type Column struct {
	Name   string
	Kind   Kind
	Hidden bool // * does not include it
}

// A nameScope is what names in a SELECT may mean.
type nameScope struct {
	tables []scopeTable
	items  []item // which give names
}

type scopeTable struct {
	name    string
	columns []Column
}

// A withName is a query of WITH.
type withName struct {
	name    string
	columns []Column
}

// kind returns the kind of an expression, in the scopes of what is being written.
func (r *restorer) kind(e *expr) Kind {
	if e == nil {
		return null.Kind(0)
	}
	k, ok := r.kinds[e]
	if !ok {
		if r.kinds == nil {
			r.kinds = map[*expr]Kind{}
		}
		r.kinds[e] = Kind{} // should it be found within itself, by names
		k = r.findKind(e)
		r.kinds[e] = k
	}
	return k
}

func (r *restorer) kindsOf(list []*expr) (kinds []Kind) {
	for _, e := range list {
		kinds = append(kinds, r.kind(e))
	}
	return kinds
}

func (r *restorer) findKind(e *expr) Kind {
	integer, text := Integer.Kind(0), String.Kind(0)
	switch e.form {
	case stringForm:
		return text
	case numberForm:
		return kindOfNumber(e.text)
	case wordForm:
		if e.text == "NULL" {
			return null.Kind(0)
		}
		return integer
	case columnForm:
		return r.kindOfName(e.path)
	case paramForm:
		if n, _ := strconv.Atoi(e.text[1:]); n > 0 && n <= len(r.stmt.Args) {
			return kindOfValue(r.stmt.Args[n-1])
		}
	case userForm:
		_, k := r.names.UserVariable(e.text)
		return k
	case sysForm:
		if v, err := r.names.Variable(e.text); err == nil {
			return kindOfValue(v)
		}
	case assignForm, levelForm:
		return r.kind(e.args[0])
	case shiftForm:
		if a, b := e.args[0], e.args[1]; a.form == intervalForm {
			return r.kind(b).shifted(a.text)
		} else {
			return r.kind(a).shifted(b.text)
		}
	case collateForm:
		return text
	case numberOfForm:
		return Float.Kind(0)
	case isForm, likeForm, betweenForm, inForm, anyForm, existsForm:
		return integer
	case prefixForm:
		return r.kindOfPrefix(e)
	case binaryForm:
		switch e.text {
		case "+", "-", "*", "%", "MOD":
			return computed(e.text, r.kind(e.args[0]), r.kind(e.args[1]))
		case "/":
			return quotient(r.kind(e.args[0]), r.kind(e.args[1]))
		case "->", "->>":
			return text
		}
		return integer
	case queryForm:
		if columns := r.columnsOf(e.query); len(columns) == 1 {
			return columns[0].Kind
		}
	case castForm:
		return kindOfCast(e)
	case caseForm:
		var kinds []Kind
		for i := 2; i < len(e.args); i += 2 {
			kinds = append(kinds, r.kind(e.args[i]))
		}
		return either(append(kinds, r.kind(e.args[len(e.args)-1]))...)
	case callForm:
		return r.kindOfCall(e)
	}
	return Kind{}
}

func (r *restorer) kindOfPrefix(e *expr) Kind {
	k := r.kind(e.args[0])
	switch {
	case e.text == "BINARY":
		return String.Kind(0)
	case e.text == "-":
		return k.asNumber()
	case e.text == "+":
		return k
	}
	return Integer.Kind(0)
}

func kindOfCast(e *expr) Kind {
	switch k := KindOf(e.text); {
	case e.text == "SIGNED", e.text == "UNSIGNED":
		return Integer.Kind(0)
	case k.Type == Decimal && len(e.path) == 2:
		scale, _ := strconv.Atoi(e.path[1])
		return decimal(scale, 0)
	case k.Type != unknown:
		return k
	}
	return String.Kind(0)
}

// shifted returns the kind of a time and an interval of a unit.
func (k Kind) shifted(unit string) Kind {
	switch {
	case k.Type == Date && !functions.WholeDays(unit):
		return Datetime.Kind(0)
	case k.isTime():
		return k
	}
	return String.Kind(0)
}

func (r *restorer) kindOfCall(e *expr) Kind {
	first := Kind{}
	if len(e.args) > 0 {
		first = r.kind(e.args[0])
	}
	number := first.asNumber()
	switch {
	case integerResults[e.text]:
		return Integer.Kind(0)
	case doubleResults[e.text]:
		return Float.Kind(0)
	case textResults[e.text], documents[e.text] != "", e.text == "JSON_UNQUOTE", e.text == "JSON_TYPE", e.text == "JSON_QUOTE":
		return String.Kind(0)
	case sameResults[e.text]:
		return first
	case eitherResults[e.text]:
		kinds := r.kindsOf(e.args)
		k := either(kinds...)
		if (e.text == "GREATEST" || e.text == "LEAST") && k.Number() && slices.Contains(kinds, null.Kind(0)) {
			k = Float.Kind(0)
		}
		return k
	}
	switch e.text {
	case "DATE", "LAST_DAY", "FROM_DAYS", "MAKEDATE", "CURDATE", "CURRENT_DATE", "UTC_DATE":
		return Date.Kind(0)
	case "TIMESTAMP", "CONVERT_TZ", "NOW", "SYSDATE", "CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP", "UTC_TIMESTAMP":
		return Datetime.Kind(0)
	case "STR_TO_DATE":
		k := String.Kind(0)
		if len(e.args) == 2 && e.args[1].form == stringForm {
			switch day, clock := functions.FormatHas(e.args[1].text); {
			case day && clock:
				k = Datetime.Kind(0)
			case day:
				k = Date.Kind(0)
			}
		}
		return k
	case "TIME_FORMAT", "ADDTIME", "SUBTIME", "MAKETIME", "TIME":
		return String.Kind(0)
	case "FROM_UNIXTIME":
		if len(e.args) == 1 {
			return Datetime.Kind(0)
		}
		return String.Kind(0)
	case "DATE_ADD", "DATE_SUB", "ADDDATE", "SUBDATE":
		if len(e.args) == 2 && e.args[1].form == intervalForm {
			return first.shifted(e.args[1].text)
		}
		return first.shifted("DAY")
	case "TIMESTAMPADD":
		if len(e.args) == 3 {
			return r.kind(e.args[2]).shifted(e.args[0].text)
		}
	case "IF":
		if len(e.args) == 3 {
			if k := either(r.kindsOf(e.args[1:])...); k.Type != null {
				return k
			}
			return String.Kind(0)
		}
	case "LAG", "LEAD":
		if len(e.args) == 3 {
			return either(first, r.kind(e.args[2]))
		}
		return first
	case "ABS":
		return number
	case "MOD":
		if len(e.args) == 2 {
			return computed("%", first, r.kind(e.args[1]))
		}
	case "SUM", "AVG":
		if first.Type == Integer {
			number = decimal(0, 0)
		}
		if number.Type == Decimal && e.text == "AVG" {
			number = quotient(number, Integer.Kind(0))
		}
		return number
	case "CEILING", "CEIL", "FLOOR":
		if number.Type == Decimal {
			return Integer.Kind(0)
		}
		return number
	case "ROUND", "TRUNCATE":
		if number.Type != Decimal {
			return number
		}
		places := 0
		if len(e.args) == 2 {
			if e.args[1].form != numberForm {
				return number
			}
			places, _ = strconv.Atoi(e.args[1].text)
		}
		return decimal(max(places, 0), 0)
	}
	return Kind{}
}

// kindOfName returns the kind of what a name means in the scopes around.
func (r *restorer) kindOfName(path []string) Kind {
	name := path[len(path)-1]
	for _, s := range slices.Backward(r.scopes) {
		for _, t := range s.tables {
			if len(path) > 1 && !strings.EqualFold(path[len(path)-2], t.name) {
				continue
			}
			for _, c := range t.columns {
				if strings.EqualFold(c.Name, name) {
					return c.Kind
				}
			}
		}
		for _, i := range s.items {
			if len(path) == 1 && i.named && strings.EqualFold(i.alias, name) {
				return r.kind(i.of)
			}
		}
	}
	return Kind{}
}

// scopeOf returns the scope of a SELECT.
func (r *restorer) scopeOf(s *selection) *nameScope {
	sc := &nameScope{items: s.items}
	var add func([]*tableRef)
	add = func(list []*tableRef) {
		for _, t := range list {
			if t.inner != nil {
				add(t.inner)
				continue
			}
			sc.tables = append(sc.tables, scopeTable{t.known(), r.columnsOfTable(t)})
		}
	}
	add(s.from)
	return sc
}

// inScope calls f while names mean what they mean in a SELECT.
func (r *restorer) inScope(s *selection, f func()) {
	n := len(r.scopes)
	r.scopes = append(r.scopes, r.scopeOf(s))
	f()
	r.scopes = r.scopes[:n]
}

// columnsOfTable returns the columns of a table, nil if there is no such table.
func (r *restorer) columnsOfTable(t *tableRef) []Column {
	if t.query != nil {
		return r.columnsOf(t.query)
	}
	if t.schema == "" {
		for _, w := range slices.Backward(r.with) {
			if strings.EqualFold(w.name, t.name) {
				return w.columns
			}
		}
	}
	return r.names.Columns(r.schemaOf(t), t.name)
}

// pushWith lets the names of WITH be known.
func (r *restorer) pushWith(q *query, c common) {
	name := strings.ToLower(c.name)
	rename := func(columns []Column) []Column {
		if len(columns) != len(c.columns) {
			return columns
		}
		columns = slices.Clone(columns)
		for i := range columns {
			columns[i].Name = c.columns[i]
		}
		return columns
	}
	if q.recursive { // the first of its queries says what its columns are
		r.with = append(r.with, withName{name: name})
		first := &query{with: c.query.with, recursive: c.query.recursive, terms: c.query.terms[:1]}
		r.with[len(r.with)-1].columns = rename(r.columnsOf(first))
		return
	}
	r.with = append(r.with, withName{name, rename(r.columnsOf(c.query))})
}

// columnsOf returns the columns of a query; nil: they are not known.
func (r *restorer) columnsOf(q *query) (columns []Column) {
	if known, ok := r.results[q]; ok {
		return known
	}
	if r.results == nil {
		r.results = map[*query][]Column{}
	}
	defer r.deeper()()
	with := len(r.with)
	defer func() {
		r.with = r.with[:with]
		r.results[q] = columns
	}()
	for _, c := range q.with {
		r.pushWith(q, c)
	}
	for i, t := range q.terms {
		var more []Column
		if t.nested != nil {
			more = r.columnsOf(t.nested)
		} else {
			more = r.columnsOfSelection(t.only)
		}
		if i == 0 {
			columns = slices.Clone(more)
			continue
		}
		if len(more) != len(columns) {
			return nil
		}
		for i := range columns {
			columns[i].Kind = either(columns[i].Kind, more[i].Kind)
		}
	}
	return columns
}

func (r *restorer) columnsOfSelection(s *selection) (columns []Column) {
	if s.values != nil {
		for i := range s.values[0] {
			var kinds []Kind
			for _, row := range s.values {
				kinds = append(kinds, r.kind(row[i]))
			}
			columns = append(columns, Column{Kind: either(kinds...)})
		}
		return columns
	}
	r.inScope(s, func() {
		sc := r.scopes[len(r.scopes)-1]
		for _, i := range s.items {
			if i.of.form != starForm {
				name := i.text[:functions.Characters(i.text, maxName)]
				switch {
				case i.named:
					name = i.alias
				case i.of.form == columnForm:
					name = i.of.path[len(i.of.path)-1]
				}
				columns = append(columns, Column{Name: name, Kind: r.kind(i.of)})
				continue
			}
			for _, t := range sc.tables {
				if len(i.of.path) > 0 && !strings.EqualFold(i.of.path[len(i.of.path)-1], t.name) {
					continue
				}
				for _, c := range t.columns {
					if !c.Hidden {
						columns = append(columns, c)
					}
				}
			}
		}
	})
	return columns
}
