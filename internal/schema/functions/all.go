package functions

import (
	"database/sql/driver"
	"slices"
	"strconv"
	"strings"
)

// A Statement is the one under way for which a function is called.
type Statement interface {
	Stopped() bool         // it is to end
	Interrupted() error    // why it is to end; nil: it is not
	Done() <-chan struct{} // closed when it is to end; nil: it never is
	// Cut warns of a text of which only the beginning is a number of a kind: of each such text
	// once, or whenever it is called.
	Cut(kind, text string, once bool)
}

// A Function is one that SQLite gets. It takes so many arguments, -1: any number, and keeps none of
// them, since texts are SQLite's own. If one of a fixed number is NULL it is not called. An error
// that it returns is that of the statement.
type Function struct {
	Name string
	Args int32
	Call func(s Statement, args []driver.Value) driver.Value
}

// ofStatements are functions that know for which statement they are called.
var ofStatements = []Function{
	{"sleep", 1, sleep},
	{"number", 1, numberOf(false)},
	{"number_once", 1, numberOf(true)},
	{"signed", 1, func(s Statement, a []value) value {
		text, ok := a[0].(string)
		if !ok {
			return signed(a)
		}
		whole := wholeNumber().FindString(text)
		if whole == "" || strings.TrimRight(text[len(whole):], " ") != "" {
			s.Cut("INTEGER", text, false)
		}
		if n, err := strconv.ParseInt(strings.TrimSpace(whole), 10, 64); err == nil {
			return n
		}
		return signed([]value{AsNumber(whole)})
	}},
	{"time_shift", 4, shiftedTime},
	{"shift_of_time", 4, func(s Statement, a []value) value {
		return shiftedTime(s, []value{a[3], a[0], a[1], a[2]})
	}},
	{"like", 2, likeFunction(lowered, -1)},
	{"like", 3, likeFunction(lowered, -1)},
	{"like_exact", 2, likeFunction(asIs, '\\')},
	{"like_exact", 3, likeFunction(asIs, -1)},
	{"regexp", 2, func(s Statement, a []value) value { return regexpLike(s, []value{a[1], a[0]}) }},
	{"regexp_like", -1, regexpLike},
	{"regexp_substr", 2, regexpSubstr},
	{"regexp_instr", 2, regexpInstr},
	{"regexp_replace", 3, regexpReplace},
	{"regexp_substr_exact", 2, withCase(regexpSubstr)},
	{"regexp_instr_exact", 2, withCase(regexpInstr)},
	{"regexp_replace_exact", 3, withCase(regexpReplace)},
}

// All returns MySQL's functions that SQLite lacks, or has with another meaning.
func All() []Function {
	list := slices.Clone(ofStatements)
	for _, some := range []map[string]function{functions, textFunctions, foreign, timeFunctions, writtenTimes, jsonFunctions} {
		for name, f := range some {
			list = append(list, Function{name, f.args, func(_ Statement, a []value) value { return f.call(a) }})
		}
	}
	return list
}

// numberOf returns the function of a text as a number, which warns of each text once, or always.
func numberOf(once bool) func(Statement, []value) value {
	return func(s Statement, a []value) value {
		if text, ok := a[0].(string); ok && !IsNumeral(text) {
			s.Cut("DOUBLE", text, once)
		}
		return AsNumber(a[0])
	}
}
