package words

import (
	"errors"
	"fmt"
	"strings"
)

// Shell splits a command line at blanks, with quotes and backslashes as in a POSIX shell. Nothing
// is expanded, and no other character is special: libraries for it stop at | and ; or drop what
// follows a #.
func Shell(s string) ([]string, error) {
	var words []string
	var word strings.Builder
	inWord, escaped := false, false
	quote := rune(0)
	for _, c := range s {
		switch {
		case escaped:
			if quote == '"' && !strings.ContainsRune(`"\$`, c) {
				word.WriteByte('\\')
			}
			word.WriteRune(c)
			escaped = false
		case c == '\\' && quote != '\'':
			escaped, inWord = true, true
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '\'' || c == '"':
			quote, inWord = c, true
		case c == ' ' || c == '\t' || c == '\n':
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteRune(c)
			inWord = true
		}
	}
	if quote != 0 || escaped {
		return nil, fmt.Errorf("%s: a quote that does not end", s)
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}

// GoFlags splits a value of GOFLAGS or -toolexec as the go command does: at white space, where a
// flag may be quoted as a whole, and there are no escapes.
func GoFlags(s string) []string {
	var flags []string
	for {
		s = strings.TrimLeft(s, " \t\r\n")
		if s == "" {
			return flags
		}
		var flag string
		if quote := s[0]; quote == '\'' || quote == '"' {
			flag, s, _ = strings.Cut(s[1:], string(quote))
		} else if end := strings.IndexAny(s, " \t\r\n"); end >= 0 {
			flag, s = s[:end], s[end:]
		} else {
			flag, s = s, ""
		}
		flags = append(flags, flag)
	}
}

// QuoteGoFlag quotes a text so that GoFlags returns it as it is.
func QuoteGoFlag(s string) (string, error) {
	switch {
	case s != "" && !strings.ContainsAny(s, " \t\r\n") && s[0] != '\'' && s[0] != '"':
		return s, nil
	case !strings.Contains(s, "'"):
		return "'" + s + "'", nil
	case !strings.Contains(s, `"`):
		return `"` + s + `"`, nil
	}
	return "", errors.New(s + " has spaces and both kinds of quotes, which the go command can't take")
}

// Toolexec returns the flag that has the go command call a program at each step of a build.
func Toolexec(program string) (flag string, err error) {
	quoted, err := QuoteGoFlag(program)
	return "-toolexec=" + quoted, err
}
