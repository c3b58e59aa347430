package schema

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// A rewriter turns a statement into SQLite's spelling.
type rewriter struct {
	session *Session
	source  string
	tokens  []token
	out     []string          // what replaces each token
	names   map[string]string // of columns that SQLite would name after the rewritten text
	with    map[string]bool   // names of WITH clauses
	skip    map[int]bool      // tokens that a literal replaces

	selects    map[int]bool // parentheses, opening and closing, of SELECTs that are not subqueries
	enclosures []enclosure
	rolledUp   []rollup
	nested     *nesting
	ofToken    []int // for each token, the enclosures that begin or end with it
	deep       bool  // the statement is nested too deep
	literals   int   // bytes of variables' values
}

// rewrite returns a statement as SQLite understands it, and the names of result columns that SQLite
// would name differently.
func (s *Session) rewrite(source string, list []token) (string, map[string]string, error) {
	r := &rewriter{session: s, source: source, tokens: list, out: make([]string, len(list)), names: map[string]string{}, with: map[string]bool{}, skip: map[int]bool{}, selects: map[int]bool{}}
	if r.nesting().deep > maxDepth {
		return "", nil, tooDeep()
	}
	r.oldConsumers()
	for i := range list {
		if err := r.token(i); err != nil {
			return "", nil, err
		}
	}
	r.needed()
	r.parenthesized()
	r.tables()
	r.recursions()
	r.having()
	r.divisions()
	r.xors()
	r.collations()
	for _, rewrite := range []func() error{r.nots, r.intervals, r.rollups} {
		if err := rewrite(); err != nil {
			return "", nil, err
		}
	}
	r.groupConcats()
	if r.deep {
		return "", nil, tooDeep()
	}
	r.enclosed()
	r.orderRollups()
	r.selectNames()
	return r.span(0, len(list)), r.names, nil
}

// span returns the rewritten text of some tokens.
func (r *rewriter) span(from, to int) string {
	var b []byte
	for i := from; i < to; i++ {
		if r.out[i] == "" {
			continue
		}
		if i > from && r.tokens[i].start > r.tokens[i-1].end || len(b) > 0 && joins(b[len(b)-1], r.out[i][0]) {
			b = append(b, ' ')
		}
		b = append(b, r.out[i]...)
	}
	return strings.TrimSpace(string(b))
}

// joins reports whether SQLite takes the last byte of a token and the first of the next for one
// token: 1--1 has a comment, and a AND b may have been a&&b.
func joins(last, first byte) bool {
	return wordByte(last) && wordByte(first) || last == first && (last == '-' || last == '\'' || last == '`') || last == '/' && first == '*'
}

func (r *rewriter) at(i int) *token {
	if i < 0 || i >= len(r.tokens) {
		return &token{kind: op}
	}
	return &r.tokens[i]
}

// renamed are words and operators that SQLite has under another name, or does without.
var renamed = map[string]string{
	"<=>": "IS", "&&": "AND", "||": "OR", "/": "*1.0/", "DIV": "/", "RLIKE": "REGEXP", "STRAIGHT_JOIN": "JOIN",
	"JSON_ARRAYAGG": "json_group_array", "JSON_OBJECTAGG": "json_group_object", "POSITION": "locate",
	"SQL_NO_CACHE": "", "SQL_CACHE": "", "SQL_CALC_FOUND_ROWS": "", "HIGH_PRIORITY": "", "LOW_PRIORITY": "",
}

// token rewrites one token.
func (r *rewriter) token(i int) error {
	t := r.at(i)
	call := r.at(i + 1).is("(")
	if r.skip[i] {
		return nil
	}
	if t.identifier() && engines(t.text) {
		return NewError(erUnsupported, "This version of ftrace doesn't yet support '%s': it is a name of the engine's own", t.text)
	}
	switch t.kind {
	case name:
		r.out[i] = quoteName(t.text)
		if r.at(i-1).is("*") && r.at(i-2).kind == num && r.at(i-2).text == "1" && enums[strings.ToUpper(t.text)] {
			r.out[i-2], r.out[i-1], r.out[i] = "enum_index(", "", r.out[i]+")" // this is how clients read the number of its value
		}
	case str:
		if r.at(i - 1).is("COLLATE") {
			r.out[i] = collation(t.text)
			break
		}
		r.out[i] = quoteString(t.text)
		// In LIKE a backslash escapes even without ESCAPE.
		if r.at(i-1).is("LIKE") && strings.Contains(t.text, `\`) && !r.at(i+1).is("ESCAPE") {
			r.out[i] += ` ESCAPE '\'`
		}
		if compares[r.at(i-1).text] && r.at(i-1).kind == op && !r.at(i+1).is("COLLATE") { // it may be compared with something that has no collation
			r.out[i] += " COLLATE NOCASE"
		}
	case sysVar:
		v, err := r.session.variable(t.text)
		if err != nil {
			return err
		}
		r.out[i] = literal(v)
	case usrVar:
		if r.at(i + 1).is(":=") {
			return NewError(erUnsupported, "This version of ftrace doesn't yet support '@%s :=' except in the statement's own SELECT, without UNION and *, of a variable that is nowhere else in it", t.text)
		}
		r.out[i] = literal(r.session.user[strings.ToLower(t.text)])
		if r.literals += len(r.out[i]); r.literals > maxText {
			return NewError(erTooLong, "A statement with the values of its @variables is larger than max_allowed_packet (%d)", maxText)
		}
	case word:
		r.out[i] = t.text
		upper := strings.ToUpper(t.text)
		qualified := r.at(i-1).is(".") || r.at(i+1).is(".")
		switch {
		case qualified:
		case r.at(i - 1).is("COLLATE"):
			r.out[i] = collation(t.text)
		case r.at(i+1).kind == str && (strings.HasPrefix(upper, "_UTF8") || upper == "_LATIN1" || upper == "_BINARY"): // the character set of what follows
			r.out[i] = ""
		case upper == "BINARY" && (r.at(i+1).kind == str || r.at(i+1).identifier()) && !r.at(i-1).is("AS"):
			r.out[i] = ""
			if last := r.operandEnd(i + 1); last > i {
				r.enclose(i+1, last, "(", " COLLATE BINARY)")
			}
		case (upper == "CONVERT" || upper == "CAST") && call:
			r.convert(i)
		case clocks[upper] != "":
			if r.out[i] = clocks[upper]; !call {
				r.out[i] += "()"
			}
		case upper == "UNKNOWN" && (r.at(i-1).is("IS") || r.at(i-1).is("NOT") && r.at(i-2).is("IS")):
			r.out[i] = "NULL"
		case upper == "MOD" && !r.modCall(i):
			r.out[i] = "%"
		case (upper == "DATABASE" || upper == "SCHEMA") && call && r.at(i+2).is(")"):
			r.replaceCall(i, quoteString(r.session.database))
		case upper == "CONNECTION_ID" && call && r.at(i+2).is(")"):
			r.replaceCall(i, fmt.Sprint(r.session.who.Load().id))
		case upper == "FOUND_ROWS" && call && r.at(i+2).is(")"):
			r.replaceCall(i, fmt.Sprint(r.session.last.rowsFound()))
		case upper == "ROW_COUNT" && call && r.at(i+2).is(")"):
			r.replaceCall(i, fmt.Sprint(r.session.last.rowsChanged()))
		case (upper == "USER" || upper == "CURRENT_USER" || upper == "SESSION_USER" || upper == "SYSTEM_USER") && call && r.at(i+2).is(")"):
			r.replaceCall(i, quoteString(r.session.who.Load().String()))
		case upper == "CURRENT_USER" && !call:
			r.out[i] = quoteString(r.session.who.Load().String())
		case upper == "LAST_INSERT_ID" && call && r.at(i+2).is(")"):
			r.replaceCall(i, "0") // no table numbers its rows
		case (upper == "DATE" || upper == "TIME" || upper == "TIMESTAMP") && r.at(i+1).kind == str && !r.at(i-1).is("AS"): // a literal
			r.out[i] = ""
			r.enclose(i+1, i+1, converted[cmp.Or(map[string]string{"TIMESTAMP": "DATETIME"}[upper], upper)]+"(", ")")
		case upper == "TIMESTAMP" && call:
			r.out[i] = converted["DATETIME"]
		case (upper == "ANY" || upper == "SOME") && call && r.at(i-1).is("="):
			r.out[i-1], r.out[i] = "IN", ""
		case upper == "ALL" && call && (r.at(i-1).is("<>") || r.at(i-1).is("!=")):
			r.out[i-1], r.out[i] = "NOT IN", ""
		case upper == "ISNULL" && call:
			r.out[i] = "is_null"
		case upper == "DUAL" && r.at(i-1).is("FROM"):
			r.out[i], r.out[i-1] = "", ""
		case r.at(i-1).is("(") && r.at(i-2).is("EXTRACT") && r.at(i+1).is("FROM"):
			if !partUnits[upper] {
				return NewError(erUnsupported, "This version of ftrace doesn't yet support 'EXTRACT(%s FROM ...)'", t.text)
			}
			r.out[i] = quoteString(t.text)
		case upper == "TRIM" && call:
			r.trim(i)
		case r.separates(i):
			r.out[i] = ","
		case r.at(i-1).is("(") && (r.at(i-2).is("TIMESTAMPDIFF") || r.at(i-2).is("TIMESTAMPADD")): // the unit
			if _, known := units[upper]; !known {
				return NewError(erUnsupported, "This version of ftrace doesn't yet support '%s(%s, ...)'", r.at(i-2).text, t.text)
			}
			r.out[i] = quoteString(t.text)
		case upper == "DISTINCT" && r.at(i-1).unites():
			r.out[i] = ""
		case upper == "FOR" && r.at(i+1).is("UPDATE"), upper == "UPDATE" && r.at(i-1).is("FOR"):
			r.out[i] = ""
		default:
			if other, ok := renamed[upper]; ok {
				r.out[i] = other
			}
		}
		if first := t.text[0]; first == '$' || first >= '0' && first <= '9' { // SQLite would not take it for a name
			r.out[i] = quoteName(t.text)
		}
	case op:
		r.out[i] = t.text
		if other, ok := renamed[t.text]; ok {
			r.out[i] = other
		}
	default:
		r.out[i] = t.text
	}
	return nil
}

// engines reports whether a name is one of SQLite's own tables, through which limits or pages can
// be changed.
func engines(name string) bool {
	const pragma = "pragma_"
	return len(name) > len(pragma) && strings.EqualFold(name[:len(pragma)], pragma) || strings.EqualFold(name, "sqlite_dbpage")
}

// enums are the columns that are enumerations.
var enums = map[string]bool{"ENABLED": true, "TIMED": true, "INSTRUMENTED": true, "PANICKED": true, "TIMER_NAME": true}

// collation returns the collation of SQLite that is closest to one of MySQL's.
func collation(name string) string {
	if strings.HasSuffix(strings.ToLower(name), "_bin") || strings.EqualFold(name, "binary") {
		return "BINARY"
	}
	return "NOCASE"
}

// compares are the operators that compare.
var compares = map[string]bool{"=": true, "<=>": true, "<": true, ">": true, "<=": true, ">=": true, "<>": true, "!=": true}

// clocks are functions that may be written with or without parentheses.
var clocks = map[string]string{"CURRENT_TIMESTAMP": "now", "LOCALTIME": "now", "LOCALTIMESTAMP": "now", "CURRENT_DATE": "curdate", "CURRENT_TIME": "curtime"}

// parenthesized rewrites (SELECT ...) UNION (SELECT ... LIMIT 1): SQLite allows parentheses only
// around subqueries.
func (r *rewriter) parenthesized() {
	for i := range r.tokens {
		if !r.at(i).is("(") || !r.at(i+1).is("SELECT") && !r.at(i+1).is("(") {
			continue
		}
		before, end := r.at(i-1), r.closing(i)
		if before.is("ALL") || before.is("DISTINCT") {
			before = r.at(i - 2)
		}
		after := r.at(end + 1)
		if before.unites() || r.selects[i-1] || i == 0 && (after.unites() || after.is("ORDER") || after.is("LIMIT")) {
			r.out[i] = "SELECT * FROM ("
			r.selects[i], r.selects[end] = true, true
		}
	}
}

// having turns HAVING into conditions of WHERE if nothing is grouped: MySQL then applies it to the
// rows, and SQLite can't.
func (r *rewriter) having() {
	type query struct {
		where, having int // the tokens, -1: there is none
		grouped       bool
	}
	none := query{where: -1, having: -1}
	stack := []query{none}
	end := func(q query) {
		if q.having < 0 || q.grouped {
			return
		}
		r.out[q.having] = "WHERE"
		if q.where >= 0 {
			r.out[q.where], r.out[q.having] = "WHERE (", ") AND"
		}
	}
	for i := range r.tokens {
		t, q := r.at(i), &stack[len(stack)-1]
		switch {
		case t.is("("):
			stack = append(stack, none)
		case t.is(")"):
			end(*q)
			if stack = stack[:len(stack)-1]; len(stack) == 0 {
				return
			}
		case t.unites():
			end(*q)
			*q = none
		case t.is("WHERE"):
			q.where = i
		case t.is("HAVING"):
			q.having = i
		case t.is("GROUP") && r.at(i+1).is("BY"), r.at(i+1).is("(") && aggregates[strings.ToUpper(t.text)]:
			q.grouped = true
		}
	}
	end(stack[len(stack)-1])
}

var aggregates = map[string]bool{"COUNT": true, "SUM": true, "AVG": true, "MIN": true, "MAX": true, "GROUP_CONCAT": true, "TOTAL": true, "STD": true, "STDDEV": true, "STDDEV_POP": true, "STDDEV_SAMP": true,
	"VARIANCE": true, "VAR_POP": true, "VAR_SAMP": true}

// tables adds the default schema before tables, and AS before UPDATE's alias.
func (r *rewriter) tables() {
	for i := range r.tokens {
		if !r.at(i).identifier() || !r.at(i-1).is("WITH") && !r.at(i-1).is("RECURSIVE") && !r.at(i-1).is(",") {
			continue
		}
		as := i + 1
		for ; r.at(i+1).is("(") && as < len(r.tokens) && !r.at(as-1).is(")"); as++ { // columns
		}
		if r.at(as).is("AS") && r.at(as+1).is("(") {
			r.with[strings.ToLower(r.at(i).text)] = true
		}
	}
	type level struct{ from bool } // within a list of tables
	stack := []level{{}}
	expect, target := false, false // a table, a table that is written to
	for i := range r.tokens {
		t := r.at(i)
		top := &stack[len(stack)-1]
		switch {
		case t.is("("):
			stack = append(stack, level{from: expect})
			continue
		case t.is(")"):
			if len(stack) > 1 {
				stack = stack[:len(stack)-1]
			}
			expect = false
			continue
		case r.separates(i):
			continue
		case t.is("FROM"), t.is("JOIN"), t.is("STRAIGHT_JOIN"), t.is("INTO"), t.is("UPDATE") && i == 0, t.is("TABLE") && i < 4, t.is("VIEW") && i < 4:
			top.from, expect = true, true
			target = !t.is("FROM") && !t.is("JOIN") && !t.is("STRAIGHT_JOIN")
			continue
		case t.is(",") && top.from:
			expect, target = true, false
			continue
		case t.is("SELECT"), t.is("WITH"), t.is("WHERE"), t.is("SET"), t.is("ON"), t.is("USING"), t.is("GROUP"), t.is("ORDER"), t.is("LIMIT"), t.is("HAVING"), t.is("UNION"), t.is("VALUES"):
			top.from, expect = t.is("ON") && top.from, false
			continue
		case t.is("IF"), t.is("NOT"), t.is("EXISTS"), t.is("LATERAL"), t.is("IGNORE"):
			continue
		}
		if !expect || !t.identifier() || r.out[i] == "" {
			continue
		}
		expect = false
		last := i
		if r.at(i + 1).is(".") {
			last = i + 2
		} else if !r.with[strings.ToLower(t.text)] && (target || !r.at(i+1).is("(")) {
			r.out[i] = quoteName(r.session.database) + "." + r.out[i]
		}
		if r.at(0).is("UPDATE") && len(stack) == 1 && r.at(last+1).identifier() && !r.at(last+1).is("SET") && !r.at(last+1).is("AS") && i < 4 {
			r.out[last+1] = "AS " + r.out[last+1]
		}
	}
}

// selectNames determines the names of result columns that are expressions: the text as it was
// written.
func (r *rewriter) selectNames() {
	depth, from := 0, -1
	item := func(to int) {
		if from < 0 || from >= to {
			return
		}
		text := r.span(from, to)
		original := r.source[r.at(from).start:r.at(to-1).end]
		if to == from+1 && r.at(from).kind == str {
			original = r.at(from).text
		}
		if text != original && !r.aliased(from, to) {
			r.names[text] = original
		}
		from = -1
	}
	for i := range r.tokens {
		t := r.at(i)
		switch {
		case r.selects[i]:
			item(i)
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		case depth != 0:
		case t.is("SELECT"):
			from = i + 1
			if r.at(from).is("DISTINCT") || r.at(from).is("ALL") {
				from++
			}
		case from >= 0 && t.is(","):
			item(i)
			from = i + 1
		case from >= 0 && (t.is("FROM") || t.is("UNION") || t.is("LIMIT") || t.is("WHERE") || t.is("ORDER") || t.is(";")):
			item(i)
			from = -1
		}
	}
	item(len(r.tokens))
}

// aliased reports whether an item of SELECT's list ends in an alias.
func (r *rewriter) aliased(from, to int) bool {
	last, before := r.at(to-1), r.at(to-2)
	if to-from < 2 || !last.identifier() && last.kind != str || last.is("END") || last.is("NULL") || last.is("TRUE") || last.is("FALSE") {
		return false
	}
	switch {
	case before.is("LIKE"), before.is("REGEXP"), before.is("RLIKE"), before.is("AND"), before.is("OR"), before.is("DIV"), before.is("MOD"), before.is("XOR"), before.is("NOT"), before.is("COLLATE"), before.is("BINARY"):
		return false
	}
	return before.kind != op || before.is(")")
}

// quoteName returns a name as SQL. In double quotes, a name that SQLite does not know would be a
// string.
func quoteName(s string) string { return "`" + strings.ReplaceAll(s, "`", "``") + "`" }

// quoteString returns a string as SQL. SQLite reads a statement only up to the first zero byte.
func quoteString(s string) string {
	q := "'" + strings.ReplaceAll(s, "'", "''") + "'"
	if strings.Contains(s, "\x00") {
		return "(" + strings.ReplaceAll(q, "\x00", "'||char(0)||'") + ")"
	}
	return q
}

// literal returns a value as SQL.
func literal(v value) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return quoteString(fmt.Sprint(v))
}
