// Package testtree folds the calls of a test that failed to so many lines.
//
// In come the lines of the calls that a goroutine made last, and the failure's message. Out comes
// the text to print. The path to the failure is kept, of the other calls those that matter most.
// Package testing of instrumented programs calls it.
//
// The file testtree.go is also compiled into package testing, where its top-level names have a
// prefix. It imports nothing but what that imports.
package testtree

import (
	"slices"
	"strconv"
	"strings"
)

// A Line is a line of the trace.
type Line struct {
	Kind  byte // one of the constants
	Depth int  // how many of the calls that are shown are around it
	Text  string
}

const (
	Begins = '+' // a call begins
	Ends   = '}' // it ends
	Panics = '!' // it ends by a panic
	Other  = '-' // a wait, a probe
	Switch = 'G' // it is no line: what follows is of another goroutine, the failure's at last
)

// A node is a call, or a line of another kind.
type node struct {
	entry, exit string
	depth       int
	parent      *node
	children    []*node
	panics      bool
	path        bool // it leads to the failure
	shown       bool
	within      int // calls within it
	cost        int // how far it is from the failure
	rank        int
}

// Fold returns the calls on at most limit lines. If the path to the failure alone is longer, its
// middle is left out. Lines of JSON are not folded: the last are returned.
func Fold(lines []Line, message string, limit int) string {
	if len(lines) > 0 && strings.HasPrefix(lines[0].Text, "{") {
		var text strings.Builder
		for _, l := range lines[max(len(lines)-limit, 0):] {
			text.WriteString(l.Text)
		}
		return text.String()
	}
	root, all := tree(lines)
	path(root)
	for _, n := range all {
		n.shown = n.path
	}
	others := slices.DeleteFunc(all, func(n *node) bool { return n.path })
	rank(root, values(message))
	slices.SortStableFunc(others, func(a, b *node) int { return a.rank - b.rank })
	show := func(k int) []string {
		for i, n := range others {
			n.shown = i < k
		}
		for _, n := range others[:k] {
			for p := n.parent; p != nil && !p.shown; p = p.parent {
				p.shown = true
			}
		}
		return root.render(nil)
	}
	low, high := 0, len(others)
	for low < high {
		if middle := (low + high + 1) / 2; len(show(middle)) <= limit {
			low = middle
		} else {
			high = middle - 1
		}
	}
	text := show(low)
	if left := len(text) - limit; left > 0 {
		prefix, _ := cutMark(text[limit/2])
		text = slices.Replace(text, limit/2, limit/2+left+1, prefix+"... "+strconv.Itoa(left+1)+" lines\n")
	}
	return strings.Join(text, "")
}

// tree puts the lines together to calls. all has them in order.
func tree(lines []Line) (root *node, all []*node) {
	root = &node{depth: -1, path: true}
	at := root
	for _, l := range lines {
		if l.Kind == Switch {
			at = root
			continue
		}
		for at.depth > l.Depth || at.depth == l.Depth && (l.Kind == Begins || l.Kind == Other) {
			at = at.parent
		}
		switch {
		case l.Kind == Begins || l.Kind == Other:
			n := &node{entry: l.Text, depth: l.Depth, parent: at}
			at.children = append(at.children, n)
			all = append(all, n)
			if l.Kind == Begins {
				at = n
			}
		case at.depth == l.Depth:
			at.exit, at.panics = l.Text, l.Kind == Panics
			at = at.parent
		}
	}
	for ; at != root; at = at.parent {
		at.path = true
	}
	for _, n := range all {
		for p := n.parent; p != nil; p = p.parent {
			p.within++
		}
	}
	return root, all
}

// path goes on from the calls under way to those that the panic ended.
func path(at *node) {
	for n := len(at.children); n > 0; n = len(at.children) {
		if at = at.children[n-1]; !at.path && !at.panics {
			return
		}
		at.path = true
	}
}

// The steps that values of the message make up for.
const (
	mentioned = 20 // the first
	further   = 3  // each further one: long messages mention much
)

// rank says which calls matter most: those that have a value that the failure's message has, too,
// and then those near the failure.
func rank(n *node, values []string) {
	for i, c := range n.children {
		if !c.path {
			c.cost = n.cost + 1
			for age := len(n.children) - 1 - i; age > 0; age /= 2 {
				c.cost++
			}
		}
		c.rank = c.cost
		for _, v := range values {
			if !mentions(c.entry, v) && !mentions(c.exit, v) {
				continue
			}
			if c.rank >= c.cost {
				c.rank -= mentioned
			}
			c.rank -= further
		}
		rank(c, values)
	}
}

// maxValues limits how many values of a message are looked for.
const maxValues = 20

// values returns what a message may have of a call's values: numbers, longer words, and what is in
// quotes.
func values(message string) (found []string) {
	add := func(v string) {
		if len(found) < maxValues && !slices.Contains(found, v) {
			found = append(found, v)
		}
	}
	for i, part := range strings.Split(message, `"`) {
		if i%2 == 1 && len(part) > 1 {
			add(part)
			continue
		}
		for _, word := range strings.FieldsFunc(part, func(r rune) bool { return !inWord(r) }) {
			if word = strings.Trim(word, ".-"); strings.ContainsAny(word, "0123456789") || len(word) > 4 {
				add(word)
			}
		}
	}
	return found
}

func inWord(r rune) bool {
	return r == '_' || r == '.' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r > 127
}

// mentions reports whether a value stands in a line, not as a part of another.
func mentions(line, value string) bool {
	if i := strings.LastIndex(line, " // "); i >= 0 {
		line = line[:i]
	}
	line = line[max(strings.IndexAny(line, "(}"), 0):]
	for from := 0; ; {
		i := strings.Index(line[from:], value)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(value)
		if (i == 0 || !inWord(rune(line[i-1]))) && (end == len(line) || !inWord(rune(line[end]))) {
			return true
		}
		from = i + 1
	}
}

// render appends the lines of what is within a call.
func (n *node) render(to []string) []string {
	var hidden []*node
	for _, c := range n.children {
		if !c.shown {
			hidden = append(hidden, c)
			continue
		}
		to, hidden = folded(to, hidden), nil
		if !c.path && !slices.ContainsFunc(c.children, func(c *node) bool { return c.shown }) {
			to = append(to, c.line())
			continue
		}
		to = c.render(append(to, c.entry))
		if c.exit != "" {
			to = append(to, c.exit)
		}
	}
	return folded(to, hidden)
}

// line returns a call on one line, as the format fold has it.
func (n *node) line() string {
	head, number, ok := strings.Cut(n.entry, " { // ")
	_, end, ends := strings.Cut(n.exit, "}")
	if !ok || !ends {
		return n.entry
	}
	if i := strings.LastIndex(end, " // "); i >= 0 {
		end = end[:i]
	}
	number = strings.TrimSuffix(number, "\n")
	if n.within == 0 {
		return head + " {}" + end + " // " + number + "\n"
	}
	return head + " {...}" + end + " // " + number + ", " + count(n.within) + " within\n"
}

// folded appends the line that stands for calls which are not shown.
func folded(to []string, hidden []*node) []string {
	if len(hidden) == 0 {
		return to
	}
	if len(hidden) == 1 && hidden[0].within == 0 {
		return append(to, hidden[0].line()) // it is as short
	}
	var names []string
	calls := map[string]int{}
	n := 0
	for _, h := range hidden {
		name := h.name()
		if calls[name] == 0 {
			names = append(names, name)
		}
		calls[name]++
		n += 1 + h.within
	}
	slices.SortStableFunc(names, func(a, b string) int { return calls[b] - calls[a] })
	prefix, _ := cutMark(hidden[0].entry)
	text := prefix + "... " + count(n) + ":"
	for i, name := range names {
		if i == 4 {
			text += " and of " + strconv.Itoa(len(names)-i) + " other functions,"
			break
		}
		text += " " + name
		if calls[name] > 1 {
			text += " " + strconv.Itoa(calls[name]) + " times"
		}
		text += ","
	}
	return append(to, strings.TrimSuffix(text, ",")+"\n")
}

// count returns how many calls that are.
func count(n int) string {
	if n == 1 {
		return "1 call"
	}
	return strconv.Itoa(n) + " calls"
}

// cutMark splits a line before what it says of a call.
func cutMark(entry string) (prefix, rest string) {
	for _, mark := range []string{"+ ", "- "} {
		if i := strings.Index(entry, mark); i >= 0 {
			return entry[:i], entry[i+len(mark):]
		}
	}
	return "", entry
}

// name returns the name of the function.
func (n *node) name() string {
	_, rest := cutMark(n.entry)
	name := rest
	// Receivers stand in parentheses: the parameters begin at the first one after a letter or ].
	for i := 1; i < len(rest); i++ {
		if rest[i] == '(' && rest[i-1] != '.' {
			return rest[:i]
		}
	}
	return strings.TrimSuffix(name, "\n")
}
