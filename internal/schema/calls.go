package schema

import (
	"slices"
	"strings"
)

// Calls for which MySQL has words between the arguments: TRIM(x FROM y), CAST(x AS SIGNED).

// separators are the words between the arguments of functions.
var separators = map[string][]string{"EXTRACT": {"FROM"}, "TRIM": {"FROM"}, "SUBSTRING": {"FROM", "FOR"}, "SUBSTR": {"FROM", "FOR"}, "MID": {"FROM", "FOR"}, "POSITION": {"IN"}}

// separates reports whether a token is such a word.
func (r *rewriter) separates(i int) bool {
	if t := r.at(i); !t.is("FROM") && !t.is("FOR") && !t.is("IN") {
		return false
	}
	open := r.opening(i - 1)
	return open > 0 && slices.Contains(separators[strings.ToUpper(r.at(open-1).text)], strings.ToUpper(r.at(i).text))
}

// trim rewrites TRIM(LEADING x FROM text) and its kin. SQLite's TRIM(text) is MySQL's.
func (r *rewriter) trim(i int) {
	from, end := i+2, r.closing(i+1)
	for ; from < end && !(r.at(from).is("FROM") && r.opening(from-1) == i+1); from++ {
	}
	if from >= end {
		return
	}
	r.out[i] = "trim_both"
	for _, where := range []string{"LEADING", "TRAILING", "BOTH"} {
		if r.at(i + 2).is(where) {
			r.out[i] = "trim_" + where
			r.skip[i+2] = true
			if from == i+3 {
				r.enclose(from, from, "' '", "")
			}
		}
	}
}

// converted are the functions for CAST and CONVERT to types. For other types SQLite's CAST is used.
var converted = map[string]string{"SIGNED": "signed", "UNSIGNED": "signed", "DATE": "date_of", "DATETIME": "datetime_of", "TIME": "time", "DECIMAL": "round", "CHAR": "CAST"}

// convert rewrites CAST(x AS SIGNED) and CONVERT(x, SIGNED). It reduces CONVERT(x USING utf8mb4) to
// x.
func (r *rewriter) convert(i int) {
	depth := 0
	for j := i + 1; j < len(r.tokens); j++ {
		kind := strings.ToUpper(r.at(j + 1).text)
		switch {
		case r.at(j).is("("):
			depth++
		case r.at(j).is(")"):
			depth--
		case depth == 1 && r.at(j).is("USING") && r.at(j+2).is(")"):
			r.out[i] = ""
			r.skip[j], r.skip[j+1] = true, true
			return
		case depth == 1 && (r.at(j).is("AS") && r.at(i).is("CAST") || r.at(j).is(",") && r.at(i).is("CONVERT")) && converted[kind] != "":
			r.out[i] = converted[kind]
			end := r.closing(i + 1)
			for k := j; k < end; k++ {
				r.skip[k] = true
			}
			switch size := r.at(j + 2).is("("); {
			case kind == "DECIMAL" && size && r.at(j+4).is(","):
				r.out[j] = ", " + r.at(j+5).text
			case kind == "CHAR" && size:
				r.out[i], r.out[j] = "left", ", "+r.at(j+3).text
			case kind == "CHAR":
				r.out[j] = " AS TEXT"
			}
			return
		}
		if depth == 0 {
			return
		}
	}
}

// replaceCall replaces NAME() by a literal.
func (r *rewriter) replaceCall(i int, text string) {
	r.out[i] = text
	r.skip[i+1], r.skip[i+2] = true, true
}
