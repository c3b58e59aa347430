package schema

import (
	"cmp"
	"slices"
	"strings"
)

// For operators that SQLite lacks, the operands are enclosed in what it has: !x in (NOT (x)); a XOR
// b, which is NULL if one of them is, in ((NOT NOT (a)) + (NOT NOT (b))) % 2; a DIV b in
// whole_division(a, b).

// enclosure is what is written before one token and after another.
type enclosure struct {
	first, last    int
	before, behind string
}

func (r *rewriter) enclose(first, last int, before, behind string) {
	if r.ofToken == nil {
		r.ofToken = make([]int, len(r.tokens))
	}
	for _, at := range []int{first, last} {
		if r.ofToken[at]++; r.ofToken[at] > 2*maxDepth {
			r.deep = true
			return
		}
	}
	r.enclosures = append(r.enclosures, enclosure{first, last, before, behind})
}

// enclosed writes all enclosures, inner ones first.
func (r *rewriter) enclosed() {
	slices.SortStableFunc(r.enclosures, func(a, b enclosure) int { return cmp.Compare(a.last-a.first, b.last-b.first) })
	for _, e := range r.enclosures {
		r.out[e.first] = e.before + r.out[e.first]
		r.out[e.last] += e.behind
	}
}

// operandEnd returns the last token of the operand of a prefix operator. The operand begins with
// token i: a name, a literal, a call, something in parentheses or a CASE, with any prefix operators
// before it. It is -1 if there is none.
func (r *rewriter) operandEnd(i int) int {
	for t := r.at(i); t.is("!") || t.is("-") || t.is("+") || t.is("~") || t.is("BINARY"); t = r.at(i) {
		i++
	}
	switch t := r.at(i); {
	case t.is("("), t.is("CASE"):
		i = r.closing(i)
	case t.kind == op:
		return -1
	default:
		for r.at(i + 1).is(".") {
			i += 2
		}
		if r.at(i + 1).is("(") {
			i = r.closing(i + 1)
		}
	}
	if i > 0 && r.at(i+1).is("OVER") {
		if i += 2; r.at(i).is("(") {
			i = r.closing(i)
		}
	}
	for i > 0 && r.at(i+1).is("COLLATE") {
		i += 2
	}
	if i >= len(r.tokens) {
		return -1
	}
	return i
}

// factors returns the first token of the product that ends with token last. It is not ok if there
// is none.
func (r *rewriter) factors(last int) (first int, ok bool) {
	for n := 0; ; n++ {
		if r.deep = r.deep || n > maxDepth; r.deep { // SQLite would not accept as many either
			return 0, false
		}
		switch t := r.at(last); {
		case t.is("END"):
			if first = r.beginning(last); first < 0 {
				return 0, false
			}
		case t.is(")"):
			first = r.opening(last - 1)
			if before := r.at(first - 1); before.kind == name || before.kind == word && !beforeParenthesis[strings.ToUpper(before.text)] && !before.is("DIV") && !before.is("MOD") {
				first--
			}
		case t.kind == op:
			return 0, false
		default:
			for first = last; r.at(first - 1).is("."); first -= 2 {
			}
		}
		for before := r.at(first - 1); before.is("!") || before.is("BINARY") || (before.is("-") || before.is("~")) && r.operator(first-2); before = r.at(first - 1) {
			first--
		}
		switch before := r.at(first - 1); {
		case before.is("OVER"), before.is("*"), before.is("/"), before.is("%"), before.is("DIV"), before.is("MOD"):
			last = first - 2
		case r.at(first).is("OVER"):
			last = first - 1
		default:
			return first, first >= 0
		}
	}
}

// operator reports whether a token is an operator, so that another one after it takes one operand.
func (r *rewriter) operator(i int) bool {
	t := r.at(i)
	return t.kind == op && !t.is(")") || t.is("DIV") || t.is("MOD")
}

// modCall reports whether a MOD is a call of the function: nothing comes before it that the
// operator would divide.
func (r *rewriter) modCall(i int) bool {
	before := r.at(i - 1)
	upper := strings.ToUpper(before.text)
	keyword := before.kind == word && (beforeParenthesis[upper] || aroundExpressions[upper] || r.operator(i-1))
	return r.at(i+1).is("(") && (i == 0 || keyword || before.kind == op && !before.is(")"))
}

// divisions rewrites all DIV, % and MOD that are operators: SQLite's work on integers.
func (r *rewriter) divisions() {
	for i := range r.tokens {
		t := r.at(i)
		function := "mod("
		switch {
		case t.is("DIV"):
			function = "whole_division("
		case t.is("%"), t.is("MOD") && !r.modCall(i):
		default:
			continue
		}
		if first, ok := r.factors(i - 1); ok {
			if last := r.operandEnd(i + 1); last > 0 {
				r.out[i] = ","
				r.enclose(first, last, function, ")")
			}
		}
	}
}

// collations makes text that functions return compare without regard to case. To SQLite it has no
// collation, and that of a literal or column counts only if it comes second.
func (r *rewriter) collations() {
	enclose := func(first, last int) {
		if t := r.at(last); first < 0 || t.kind != str && !t.is(")") && !t.is("END") || r.list(first, last) {
			return
		}
		for i := first; i <= last; i++ {
			if r.at(i).is("BINARY") || r.at(i).is("COLLATE") {
				return
			}
		}
		r.enclose(first, last, "(", " COLLATE NOCASE)")
	}
	for i := range r.tokens {
		next := r.at(i + 1)
		switch t := r.at(i); {
		case t.kind == op && compares[t.text] && next.kind != str && !next.is("ANY") && !next.is("SOME") && !next.is("ALL"):
			enclose(i+1, r.operandEnd(i+1))
		case t.is("IN") && !r.separates(i), t.is("BETWEEN"), t.kind == op && compares[t.text] && next.kind != str:
			last := i - 1
			if r.at(last).is("NOT") {
				last--
			}
			if first, ok := r.factors(last); ok {
				enclose(first, last)
			}
		case t.is("CASE"):
			if last := r.operandEnd(i + 1); last > 0 && r.at(last+1).is("WHEN") {
				enclose(i+1, last)
			}
		case t.is("NULLIF") && next.is("("):
			if last := r.operandEnd(i + 2); last > 0 && r.at(last+1).is(",") {
				enclose(i+2, last)
			}
		}
	}
}

// list reports whether something in parentheses is a list of values.
func (r *rewriter) list(first, last int) bool {
	return r.at(first).is("(") && !r.at(first+1).is("SELECT") && len(r.split(first+1, last)) > 1
}

// nots rewrites all !.
func (r *rewriter) nots() error {
	for i := range r.tokens {
		if !r.at(i).is("!") {
			continue
		}
		last := r.operandEnd(i + 1)
		if last < 0 {
			return syntaxError(r.source[r.at(i).start:])
		}
		r.out[i] = "NOT ("
		r.enclose(i, last, "(", "))")
	}
	return nil
}

// aroundExpressions are the words that come before an expression, between two or after one, if all
// operators of the expression bind as strongly as XOR or more strongly.
var aroundExpressions = map[string]bool{"OR": true, "AS": true, "SELECT": true, "DISTINCT": true, "ALL": true, "FROM": true, "WHERE": true, "ON": true, "USING": true, "GROUP": true, "BY": true, "WITH": true,
	"HAVING": true, "ORDER": true, "ASC": true, "DESC": true, "LIMIT": true, "OFFSET": true, "UNION": true, "EXCEPT": true, "INTERSECT": true, "WHEN": true, "THEN": true, "ELSE": true, "SET": true, "VALUES": true,
	"SEPARATOR": true, "JOIN": true, "INNER": true, "CROSS": true, "LEFT": true, "RIGHT": true, "NATURAL": true, "STRAIGHT_JOIN": true, "WINDOW": true, "ROWS": true, "RANGE": true, "FOR": true}

// around reports whether a token is such a word, or a mark with that meaning.
func (r *rewriter) around(i int) bool {
	t := r.at(i)
	switch {
	case t.kind == word:
		return aroundExpressions[strings.ToUpper(t.text)] && !r.at(i-1).is(".") && !((t.is("LEFT") || t.is("RIGHT")) && r.at(i+1).is("("))
	}
	return t.is(",") || t.is("||") || t.is(":=")
}

// ends reports whether an expression ends before a token.
func (r *rewriter) ends(i int) bool { return i >= len(r.tokens) || r.at(i).is(")") || r.around(i) }

// xors rewrites all XOR.
func (r *rewriter) xors() {
	type level struct {
		first       int   // token of the expression
		xors        []int // in it
		set, target bool  // in SET; before the = of an assignment
	}
	stack := []level{{}}
	end := func(l *level, next int) {
		if len(l.xors) > 0 {
			last := next - 1
			if r.aliased(l.first, next) {
				last--
			}
			for _, i := range l.xors {
				r.out[i] = ")) + (NOT NOT ("
			}
			if l.first <= last {
				r.enclose(l.first, last, "(((NOT NOT (", "))) % 2)")
			}
		}
		l.first, l.xors = next+1, nil
	}
	for i := range r.tokens {
		t, l := r.at(i), &stack[len(stack)-1]
		switch {
		case t.is("("), t.is("CASE"):
			stack = append(stack, level{first: i + 1})
		case t.is(")"), t.is("END") && len(stack) > 1:
			end(l, i)
			if len(stack) > 1 {
				stack = stack[:len(stack)-1]
			}
		case r.around(i):
			end(l, i)
			l.set = t.is("SET") || l.set && t.is(",")
			l.target = l.set
		case t.is("=") && l.target:
			end(l, i)
			l.target = false
		case t.is("XOR") && !r.at(i-1).is(".") && !r.at(i+1).is("."):
			l.xors = append(l.xors, i)
		}
	}
	for i := range stack {
		end(&stack[i], len(r.tokens))
	}
}
