package live

import (
	"encoding/binary"
	"errors"
	"strings"
)

// formatRules returns rules in the form of requests: an exclamation mark, and for each rule Y or N
// twice, and its patterns, each followed by a zero byte. If none are set it is "".
func formatRules(rules []Rule) string {
	if rules == nil {
		return ""
	}
	var b strings.Builder
	b.WriteByte('!')
	letter := map[bool]byte{true: 'Y', false: 'N'}
	for _, r := range rules {
		b.WriteByte(letter[r.On])
		b.WriteByte(letter[r.Timed])
		for _, p := range r.Patterns {
			b.WriteString(strings.ReplaceAll(p, "\x00", ""))
			b.WriteByte(0)
		}
	}
	return b.String()
}

var errSetup = errors.New("its settings can't be read")

// parseSetup reads the answer to a look: the size of the actors' rules, these rules, and the
// objects'.
func parseSetup(text string) (s Setup, err error) {
	if len(text) < 4 {
		return s, errSetup
	}
	n := uint64(binary.LittleEndian.Uint32([]byte(text[:4])))
	if text = text[4:]; n > uint64(len(text)) {
		return s, errSetup
	}
	if s.Actors, err = parseRules(text[:n]); err == nil {
		s.Objects, err = parseRules(text[n:])
	}
	return s, err
}

func parseRules(text string) ([]Rule, error) {
	if text == "" {
		return nil, nil
	}
	rest, ok := strings.CutPrefix(text, "!")
	rules := []Rule{}
	for ok && rest != "" {
		if len(rest) < 2 {
			return nil, errSetup
		}
		r := Rule{On: rest[0] == 'Y', Timed: rest[1] == 'Y'}
		rest = rest[2:]
		for i := range r.Patterns {
			if r.Patterns[i], rest, ok = strings.Cut(rest, "\x00"); !ok {
				return nil, errSetup
			}
		}
		rules = append(rules, r)
	}
	if !ok {
		return nil, errSetup
	}
	return rules, nil
}
