package functions

import (
	"math"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/engine"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// Functions return at most maxText bytes. They report an error before they make more than that.
// Those that take long check from time to time whether their statement is to end.

// tooLong is the error of a function whose result would be too long.
func tooLong(function string) error {
	return mysqlerr.New(mysqlerr.TooLong, "Result of %s() was larger than max_allowed_packet (%d) - truncated", function, engine.MaxText)
}

// foreign are functions of SQLite that accept more arguments than MySQL's do. With them they would
// take a time that is the product of both lengths.
var foreign = map[string]function{"trim": {2, wrongCount}, "ltrim": {2, wrongCount}, "rtrim": {2, wrongCount}}

// wrongCount is the error of a call with more or fewer arguments than the function takes.
func wrongCount(a []value) value {
	return mysqlerr.New(mysqlerr.Arguments, "Incorrect parameter count: %d", len(a))
}

// maxSleep is a year, in seconds.
const maxSleep = 365 * 24 * 3600

// sleep is SLEEP(seconds): 1 if it was interrupted.
func sleep(s Statement, a []value) value {
	timer := time.NewTimer(time.Duration(min(max(AsNumber(a[0]), 0), maxSleep) * float64(time.Second)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return int64(0)
	case <-s.Done():
		return int64(1)
	}
}

// maxExpression is how long a regular expression may be, and maxSteps how many steps its machine
// may take to go through a text.
const (
	maxExpression = 64 << 10
	maxSteps      = 1 << 28
)

// matcher is a compiled regular expression.
type matcher struct {
	*regexp.Regexp
	instructions int
}

// newMatcher compiles a regular expression.
func newMatcher(text string) (*matcher, error) {
	if len(text) > maxExpression {
		return nil, mysqlerr.New(mysqlerr.Regexp, "Got error 'it is longer than %d bytes' from regexp", maxExpression)
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, mysqlerr.New(mysqlerr.Regexp, "Got error '%v' from regexp", err)
	}
	parsed, _ := syntax.Parse(text, syntax.Perl) // as Compile does
	program, _ := syntax.Compile(parsed.Simplify())
	return &matcher{re, len(program.Inst)}, nil
}

// allows returns an error if the expression may take too long to go through a text.
func (m *matcher) allows(text string) error {
	if len(text)*m.instructions > maxSteps {
		return mysqlerr.New(mysqlerr.RegexpTime, "Timeout exceeded in regular expression match: an expression of %d instructions for a text of %d bytes", m.instructions, len(text))
	}
	return nil
}

// group is a reference to a group of the expression in its replacement: \1, and MySQL's $1.
var group = words.Regexp(`\\(\\|[0-9])|\$[0-9]?`)

// regexpReplace is REGEXP_REPLACE(text, expression, by).
func regexpReplace(s Statement, a []value) value {
	re, err := expression(AsText(a[1]))
	if err != nil {
		return err
	}
	text, by := AsText(a[0]), AsText(a[2])
	if at, err := re.find(text, s.Stopped); err != nil {
		return err
	} else if at == nil {
		return text
	}
	if len(by) > engine.MaxText/2 {
		return tooLong("regexp_replace")
	}
	references := 0
	by = group().ReplaceAllStringFunc(by, func(s string) string {
		switch s {
		case `\\`:
			return `\`
		case "$":
			return "$$"
		}
		references++
		return "${" + s[1:] + "}"
	})
	// The greatest length of the result is determined before it is made.
	longest := len(text)
	if err := re.matches(text, func(match string) error {
		if longest += len(by) + references*len(match); longest > engine.MaxText {
			return tooLong("regexp_replace")
		}
		return s.Interrupted()
	}); err != nil {
		return err
	}
	return re.ReplaceAllString(text, by)
}

// matches calls f for each match in a text until it returns an error.
func (m *matcher) matches(text string, f func(string) error) (err error) {
	type enough struct{ error }
	defer func() {
		if p := recover(); p != nil {
			e, ok := p.(enough)
			if !ok {
				panic(p)
			}
			err = e.error
		}
	}()
	m.ReplaceAllStringFunc(text, func(s string) string {
		if err := f(s); err != nil {
			panic(enough{err})
		}
		return ""
	})
	return nil
}

// joined returns texts one after another, or an error if that is too long.
func joined(function string, texts ...string) value {
	n := 0
	for _, text := range texts {
		n += len(text)
	}
	if n > engine.MaxText {
		return tooLong(function)
	}
	return strings.Join(texts, "")
}

// repeated is REPEAT(text, n).
func repeated(function string, text string, n float64) value {
	n = math.Round(max(n, 0))
	if n*float64(len(text)) > engine.MaxText {
		return tooLong(function)
	}
	return strings.Repeat(text, int(min(n, engine.MaxText)))
}

// replaced is REPLACE(text, from, to).
func replaced(a []value) value {
	text, from, to := AsText(a[0]), AsText(a[1]), AsText(a[2])
	if from == "" {
		return text
	}
	if grows := len(to) - len(from); grows > 0 && len(text)+strings.Count(text, from)*grows > engine.MaxText {
		return tooLong("replace")
	}
	return strings.ReplaceAll(text, from, to)
}

// pad is LPAD(text, n, with) and RPAD.
func pad(a []value, left bool) value {
	text, with := AsText(a[0]), AsText(a[2])
	n, length := AsNumber(a[1]), utf8.RuneCountInString(text)
	switch {
	case !(n >= 0) || with == "" && n > float64(length):
		return nil
	case n <= float64(length):
		return text[:Characters(text, int(n))]
	case n > engine.MaxText:
		return tooLong("lpad")
	}
	missing, each := int(n)-length, utf8.RuneCountInString(with)
	rest := with[:Characters(with, missing%each)]
	if len(text)+missing/each*len(with)+len(rest) > engine.MaxText {
		return tooLong("lpad")
	}
	fill := strings.Repeat(with, missing/each) + rest
	if left {
		return fill + text
	}
	return text + fill
}

// Characters returns how many bytes the first n characters of a text have: all of it if there are
// fewer.
func Characters(text string, n int) int {
	if n <= 0 {
		return 0
	}
	for i := range text {
		if n == 0 {
			return i
		}
		n--
	}
	return len(text)
}

// reversed is REVERSE(text).
func reversed(text string) string {
	b := make([]byte, 0, len(text))
	for len(text) > 0 {
		_, n := utf8.DecodeLastRuneInString(text)
		b = append(b, text[len(text)-n:]...)
		text = text[:len(text)-n]
	}
	return string(b)
}

// substringIndex is SUBSTRING_INDEX(text, by, n): what comes before the nth by, or, if n is
// negative, after the nth counted from the end.
func substringIndex(a []value) value {
	text, by, n := AsText(a[0]), AsText(a[1]), int(AsNumber(a[2]))
	if by == "" || n == 0 {
		return ""
	}
	if n < 0 {
		// Counted from the front: their number, less one for each that stays.
		if n += strings.Count(text, by) + 1; n <= 0 {
			return text
		}
		for ; n > 0; n-- {
			_, text, _ = strings.Cut(text, by)
		}
		return text
	}
	at := 0
	for ; n > 0; n-- {
		next := strings.Index(text[at:], by)
		if next < 0 {
			return text
		}
		at += next + len(by)
	}
	return text[:at-len(by)]
}

// findInSet is FIND_IN_SET(part, list).
func findInSet(a []value, fold func(string) string) value {
	part, rest := AsText(a[0]), AsText(a[1])
	for n, more := int64(1), rest != ""; more; n++ {
		var element string
		if element, rest, more = strings.Cut(rest, ","); fold(element) == fold(part) {
			return n
		}
	}
	return int64(0)
}

// substring is SUBSTRING(text, from[, length]), from the end if from is negative.
func substring(a []value) value {
	text := AsText(a[0])
	length := utf8.RuneCountInString(text)
	from, n := math.Round(AsNumber(a[1])), float64(length)
	if len(a) == 3 {
		n = math.Round(min(AsNumber(a[2]), n))
	}
	if from < 0 {
		from += float64(length) + 1
	}
	if !(from >= 1 && from <= float64(length) && n >= 1) {
		return ""
	}
	text = text[Characters(text, int(from)-1):]
	return text[:Characters(text, int(n))]
}

// locate is LOCATE(part, text[, from]).
func locate(a []value, fold func(string) string) value {
	part, text, from := fold(AsText(a[0])), fold(AsText(a[1])), 1.0
	if len(a) == 3 {
		from = AsNumber(a[2])
	}
	if !(from >= 1 && from <= float64(utf8.RuneCountInString(text)+1)) {
		return int64(0)
	}
	before, _, found := strings.Cut(text[Characters(text, int(from)-1):], part)
	if !found {
		return int64(0)
	}
	return int64(from) + int64(utf8.RuneCountInString(before))
}

// ends is LEFT(text, n), and RIGHT.
func ends(a []value, left bool) value {
	text, n := AsText(a[0]), AsNumber(a[1])
	length := utf8.RuneCountInString(text)
	at := int(min(max(n, 0), float64(length)))
	if left {
		return text[:Characters(text, at)]
	}
	return text[Characters(text, length-at):]
}
