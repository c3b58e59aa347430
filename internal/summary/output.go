package summary

import (
	"bytes"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/escape"
	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// A part of an output is shown apart from the others.
type part int

const (
	message part = iota // what was logged and printed
	calls               // the folded tree
	race                // reports of the race detector
	crash               // a panic or a fatal error, with the stacks of goroutines
	parts
)

// output is what a test printed, or a package outside its tests.
type output struct {
	parts  [parts]clip
	at     part   // where the next line goes
	bar    bool   // a line was a bar: with the next a race may begin
	cause  string // the first line of a crash
	stacks bool   // the crash has stacks: it is one, not only a line like that
	rest   string // the beginning of a line that came in parts
}

var (
	testCalls = words.Regexp(`^ *# ftrace: (\S+) (failed|had not ended in time) on G\d+$`)
	endCalls  = words.Regexp(`^# ftrace: (panic|os\.Exit\(-?\d+\)|deadlock) on G\d+`)
	crashLine = words.Regexp(`^(panic|fatal error|SIG[A-Z]+): `)
)

const (
	raceBar  = "=================="
	raceLine = "WARNING: DATA RACE"
	timedOut = "panic: test timed out after "
)

// write takes text of any length. The last line may go on with the next call.
func (o *output) write(text string) {
	o.rest += text
	for {
		line, after, ended := strings.Cut(o.rest, "\n")
		if !ended {
			o.rest = o.rest[:min(len(o.rest), maxLine)]
			return
		}
		o.rest = after
		o.line(strings.TrimSuffix(line, "\r"))
	}
}

// flush takes what waits for what comes next.
func (o *output) flush() {
	if o.rest != "" {
		o.write("\n")
	}
	if o.bar {
		o.bar = false
		o.parts[o.at].add(raceBar)
	}
}

// line takes a line, without its end.
func (o *output) line(s string) {
	switch { // a race stands between bars, and a bar alone is no race
	case o.bar:
		o.bar = false
		if s == raceLine {
			o.at = race
		}
		o.parts[o.at].add(raceBar)
	case o.at == race:
		o.parts[race].add(s)
		if s == raceBar {
			o.at = message
		}
		return
	case s == raceBar:
		o.bar = true
		return
	}
	switch { // after a crash nothing else comes
	case o.at == crash:
		o.stacks = o.stacks || strings.HasPrefix(s, "goroutine ")
	case o.at == race:
	case crashLine().MatchString(s):
		o.at, o.cause = crash, s
	case testCalls().MatchString(s) || endCalls().MatchString(s):
		o.at = calls
	}
	o.parts[o.at].add(s)
}

// crashed reports whether this ended the program.
func (o *output) crashed() bool { return o.stacks }

// raced reports whether there was a data race.
func (o *output) raced() bool { return !o.parts[race].empty() }

// empty reports whether there is nothing to show.
func (o *output) empty() bool {
	for i := range o.parts {
		if !o.parts[i].empty() {
			return false
		}
	}
	return true
}

// clip is a text with characters that may be shown, of which the middle is left out if it is long.
type clip struct {
	head, tail []byte
	left       int // lines between them
}

const (
	maxHead = 32 << 10
	maxTail = 32 << 10
)

// add adds a line.
func (c *clip) add(s string) {
	line := append(visible(s), '\n')
	if len(c.tail) == 0 && c.left == 0 && len(c.head)+len(line) <= maxHead {
		c.head = append(c.head, line...)
		return
	}
	c.tail = append(c.tail, line...)
	for len(c.tail) > maxTail {
		c.tail = c.tail[bytes.IndexByte(c.tail, '\n')+1:]
		c.left++
	}
}

func (c *clip) empty() bool { return len(c.head) == 0 && len(c.tail) == 0 && c.left == 0 }

// visible returns a line with what a terminal obeys made visible. Colours are dropped, tabs stay.
func visible(s string) []byte {
	const most = 4 << 10 // of a line
	end := ""
	if len(s) > most {
		s, end = s[:escape.Cut(s, most)], " ..."
	}
	return []byte(escape.Lines(colourless(s)) + end)
}

// colourless returns s without what changes colours.
func colourless(s string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, 0x1B)
		if i < 0 {
			return b.String() + s
		}
		b.WriteString(s[:i])
		n := escape.Colour(s[i:])
		if n == 0 {
			b.WriteByte(0x1B)
			n = 1
		}
		s = s[i+n:]
	}
}
