package schema

// nesting is what encloses what in a statement. It is determined once, so that it need not be
// searched for each token.
type nesting struct {
	other []int32 // of a parenthesis, CASE or END: its counterpart; -1: there is none
	open  []int32 // of a token: the parenthesis that is open there, the token itself if it opens one; -1: there is none
	deep  int     // the greatest depth
}

// nestingOf returns the nesting of some tokens.
func nestingOf(tokens []token) *nesting {
	n := &nesting{other: make([]int32, len(tokens)), open: make([]int32, len(tokens))}
	var all, parentheses []int32
	prefixes := 0 // operators before an operand
	for i := range tokens {
		t := &tokens[i]
		n.other[i] = -1
		switch {
		case t.is("("), t.is("CASE"):
			all = append(all, int32(i))
			if t.is("(") {
				parentheses = append(parentheses, int32(i))
			}
		case t.is(")"), t.is("END"):
			if last := len(all) - 1; last >= 0 {
				n.other[i], n.other[all[last]] = all[last], int32(i)
				all = all[:last]
			}
			if last := len(parentheses) - 1; last >= 0 && t.is(")") {
				parentheses = parentheses[:last]
			}
		}
		n.open[i] = -1
		if last := len(parentheses) - 1; last >= 0 {
			n.open[i] = parentheses[last]
		}
		if prefix(t) {
			prefixes++
		} else if !t.is("(") {
			prefixes = 0
		}
		n.deep = max(n.deep, len(all), prefixes)
	}
	return n
}

// prefix reports whether a token can be an operator before its operand.
func prefix(t *token) bool {
	return t.is("!") || t.is("-") || t.is("+") || t.is("~") || t.is("NOT") || t.is("BINARY")
}

// nesting returns the nesting of the rewriter's tokens.
func (r *rewriter) nesting() *nesting {
	if r.nested == nil {
		r.nested = nestingOf(r.tokens)
	}
	return r.nested
}

// closing returns the parenthesis that closes the one at a token, or the END of the CASE there; -1
// if there is none.
func (r *rewriter) closing(at int) int {
	if at < 0 || at >= len(r.tokens) || !r.at(at).is("(") && !r.at(at).is("CASE") {
		return -1
	}
	return int(r.nesting().other[at])
}

// beginning returns the CASE of an END; -1 if there is none.
func (r *rewriter) beginning(end int) int {
	at := int(r.nesting().other[end])
	if !r.at(at).is("CASE") {
		return -1
	}
	return at
}

// opening returns the parenthesis that is open at a token, or the first token if there is none.
func (r *rewriter) opening(at int) int {
	if at < 0 || at >= len(r.tokens) {
		return 0
	}
	return max(int(r.nesting().open[at]), 0)
}
