package loglevel

import (
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"strings"
)

// A Level is the severity of a log line: the higher, the more severe. The numbers are those of
// [slog.Level], with NOTICE and TRACE added, so a Level and a slog.Level convert into each other.
// The zero value is INFO.
type Level int

// The severities, in the order of syslog and tor.
const (
	Error  Level = 8
	Warn   Level = 4
	Notice Level = 2
	Info   Level = 0
	Debug  Level = -4
	Trace  Level = -8 // calls are traced; see [Bind]
)

// named are the severities, most severe first, with the words that Parse knows for them.
var named = [...]struct {
	level Level
	name  string // as printed
	words []string
}{
	{Error, "ERROR", []string{"err", "error", "e"}},
	{Warn, "WARN", []string{"warn", "warning", "w"}},
	{Notice, "NOTICE", []string{"notice", "n"}},
	{Info, "INFO", []string{"info", "i"}},
	{Debug, "DEBUG", []string{"debug", "d"}},
	{Trace, "TRACE", []string{"trace", "t"}},
}

// Parse reads a level: a name in upper or lower case (err, error or e; warn, warning or w; notice
// or n; info or i; debug or d; trace or t), a name with an offset (info+2, DEBUG-1), or a number
// (-8). The error says what is known.
func Parse(text string) (Level, error) {
	word := strings.TrimSpace(text)
	if n, err := strconv.Atoi(word); err == nil {
		if n > highest || n < -highest {
			return 0, unknownLevel(text)
		}
		return Level(n), nil
	}
	name, offset := word, 0
	if i := strings.IndexAny(word, "+-"); i > 0 {
		n, err := strconv.Atoi(word[i:])
		if err != nil || n > highest-int(Error) || n < -highest-int(Trace) {
			return 0, unknownLevel(text)
		}
		name, offset = word[:i], n
	}
	for _, s := range named {
		for _, w := range s.words {
			if strings.EqualFold(name, w) {
				return s.level + Level(offset), nil
			}
		}
	}
	return 0, unknownLevel(text)
}

// highest is the highest level that can be read, and its opposite the lowest, with a name and an
// offset or without.
const highest = math.MaxInt32

func unknownLevel(text string) error {
	return fmt.Errorf("loglevel: %s", unknown(text))
}

func unknown(text string) string {
	return strconv.Quote(text) + " is no level (one of err, warn, notice, info, debug, trace, one of these with an offset such as info+1, or a number)"
}

// String returns the level's name, ERROR, WARN, NOTICE, INFO, DEBUG or TRACE, or that of the next
// lower one with an offset, INFO+1. Below TRACE it is TRACE-1 and so on. [Parse] reads it.
func (l Level) String() string {
	nearest := named[l.nearest()]
	if l == nearest.level {
		return nearest.name
	}
	return fmt.Sprintf("%s%+d", nearest.name, int(l-nearest.level))
}

// nearest returns which severity l is named after: the next lower one, or TRACE.
func (l Level) nearest() int {
	for i, s := range named {
		if s.level <= l {
			return i
		}
	}
	return len(named) - 1
}

// lower is the level as a trace has it, and as it is written in Levels: err, info+1.
func (l Level) lower() string {
	nearest := named[l.nearest()]
	if l == nearest.level {
		return nearest.words[0]
	}
	return fmt.Sprintf("%s%+d", nearest.words[0], int(l-nearest.level))
}

// Level makes a Level a [slog.Leveler].
func (l Level) Level() slog.Level { return slog.Level(l) }

// Set makes *Level a flag.Value. What [Parse] refuses leaves the level as it is.
func (l *Level) Set(text string) error {
	parsed, err := Parse(text)
	if err == nil {
		*l = parsed
	}
	return err
}

// MarshalText returns the name, which is also what is in JSON. The error is nil.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText is [Level.Set].
func (l *Level) UnmarshalText(text []byte) error { return l.Set(string(text)) }

// ReplaceAttr is for [slog.HandlerOptions]: levels are printed with the names that they have here,
// NOTICE for INFO+2, TRACE for DEBUG-4. Of the record's attributes one is meant that is called
// "level", stands in no group and is a level.
func ReplaceAttr(groups []string, a slog.Attr) slog.Attr {
	if len(groups) > 0 || a.Key != slog.LevelKey || a.Value.Kind() != slog.KindAny {
		return a
	}
	if l, ok := a.Value.Any().(slog.Level); ok {
		a.Value = slog.StringValue(Level(l).String())
	}
	return a
}

// step returns the next level on the way to TRACE, or on the way to ERROR; at the end of the way
// the level itself.
func (l Level) step(more bool) Level {
	if more {
		for _, s := range named {
			if s.level < l {
				return s.level
			}
		}
		return l
	}
	for i := len(named) - 1; i >= 0; i-- {
		if named[i].level > l {
			return named[i].level
		}
	}
	return l
}
