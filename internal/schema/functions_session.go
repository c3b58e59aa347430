package schema

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/engine"
)

// A sessionFunction is a function that is called for the session whose statement it is.
type sessionFunction struct {
	name string
	args int32
	call func(s *Session, a []value) value
}

var sessionFunctions = []sessionFunction{
	{"sleep", 1, sleep},
	{"recursion", 2, recursion},
	{"number", 1, numberOf},
	{"number_once", 1, numberOnce},
	{"signed", 1, func(s *Session, a []value) value {
		text, ok := a[0].(string)
		if !ok {
			return signed(a)
		}
		whole := wholeNumber.FindString(text)
		if whole == "" || strings.TrimRight(text[len(whole):], " ") != "" {
			s.cut("INTEGER", text)
		}
		if n, err := strconv.ParseInt(strings.TrimSpace(whole), 10, 64); err == nil {
			return n
		}
		return signed([]value{asNumber(whole)})
	}},
	{"time_shift", 4, shiftedTime},
	{"shift_of_time", 4, func(s *Session, a []value) value {
		return shiftedTime(s, []value{a[3], a[0], a[1], a[2]})
	}},
	{"like", 2, likeFunction(lowered, -1)},
	{"like", 3, likeFunction(lowered, -1)},
	{"like_exact", 2, likeFunction(asIs, '\\')},
	{"like_exact", 3, likeFunction(asIs, -1)},
	{"regexp", 2, func(s *Session, a []value) value { return regexpLike(s, []value{a[1], a[0]}) }},
	{"regexp_like", -1, regexpLike},
	{"regexp_substr", 2, regexpSubstr},
	{"regexp_instr", 2, regexpInstr},
	{"regexp_replace", 3, regexpReplace},
	{"regexp_substr_exact", 2, withCase(regexpSubstr)},
	{"regexp_instr_exact", 2, withCase(regexpInstr)},
	{"regexp_replace_exact", 3, withCase(regexpReplace)},
}

// allFunctions are those that SQLite gets.
var allFunctions = sync.OnceValue(func() (list []engine.Function) {
	for _, f := range slices.Concat(sessionFunctions, lockFunctions) {
		list = append(list, engine.Function{Name: f.name, Args: f.args, Call: func(s any, a []value) value { return f.call(s.(*Session), a) }})
	}
	for _, some := range []map[string]function{functions, textFunctions, foreign, timeFunctions, writtenTimes, jsonFunctions} {
		for name, f := range some {
			list = append(list, engine.Function{Name: name, Args: f.args, Call: func(_ any, a []value) value { return f.call(a) }})
		}
	}
	return list
})
