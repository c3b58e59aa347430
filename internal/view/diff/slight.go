package diff

import (
	"bytes"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// Where the tests of the bad run passed as well, two kinds of differences come to nothing. A list
// that was made from a map has its elements in any order. And a loop over a map asks its questions
// in any order, and maybe ends when it knows the answer: other questions are asked, or fewer. Such
// differences are slight, unless the same question has another answer. If a test failed, they may
// be why.

// heavy returns how many differences are not slight.
func heavy(list []difference) (n int) {
	for _, x := range list {
		if !x.slight {
			n++
		}
	}
	return n
}

// slight says that the differences which were found from an index on come to nothing, if the tests
// passed.
func (c *comparer) slight(from int) {
	for i := from; i < len(c.found) && c.passed; i++ {
		c.found[i].slight = true
	}
}

// asks reports whether all calls only ask a question, or put elements into the order that such
// calls asked for.
func (c *comparer) asks(calls ...node) bool {
	return !slices.ContainsFunc(calls, func(n node) bool { return !n.compares() && !c.swaps(n) })
}

// swaps reports whether a call is of method Swap of a sort.Interface.
func (c *comparer) swaps(n node) bool {
	of, ok := strings.CutSuffix(c.forest.names[n.function], ".Swap")
	return ok && slices.Contains(c.forest.names, of+".Less")
}

// asking says that what differs in two calls comes to nothing, if they ask questions and do not
// answer the same one in different ways. What is at an index may be something else.
func (c *comparer) asking(from int, a, b node) {
	if len(c.found) > from && c.asks(a, b) && (c.forest.indexed[a.function] || a.asked() != b.asked() || slices.Equal(a.exit, b.exit)) {
		c.slight(from)
	}
}

// onlyIn adds a call that was made in one recording alone, and where it would be in the other one.
func (c *comparer) onlyIn(k kind, n node, path uint64, other place) {
	before := len(c.found)
	c.add(k, n.function, 0, path, n.begins(), other)
	if c.asks(n) {
		c.slight(before)
	}
}

// withoutAsking leaves out the calls that only ask, if the tests passed.
func (c *comparer) withoutAsking(turns []turn) []turn {
	if !c.passed {
		return turns
	}
	return slices.DeleteFunc(turns, func(t turn) bool { return c.asks(t.node) })
}

// passed reports whether a line of the program's is the last one of tests that passed. With -json,
// package testing marks it.
func passed(line *recording.Event) bool {
	return string(bytes.TrimSpace(bytes.TrimPrefix(line.Data, []byte("\x16")))) == "PASS"
}

// sameElements reports whether two values, by their hashes, have lists in them which are the same
// but for the order of their elements.
func (f *forest) sameElements(a, b uint64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	x, ok := f.unordered[a]
	return ok && x == f.unordered[b]
}

// list notes that a value has lists in it.
func (f *forest) list(hash uint64, text []byte) {
	if bytes.IndexByte(text, '[') < 0 || bytes.IndexByte(text, ' ') < 0 {
		return
	}
	unordered, _ := hashElements(text, 0)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unordered[hash] = unordered
}

// hashElements returns the hash of a text of values, up to the bracket that ends a list, without
// the order of the elements of lists, and the text after that.
func hashElements(text []byte, nest int) (hash uint64, rest []byte) {
	var sum uint64 // of the elements before this one
	element, braces := uint64(0), 0
	for len(text) > 0 {
		c, n := text[0], 1
		switch {
		case c == '"':
			for n < len(text) && text[n] != '"' {
				if text[n] == '\\' {
					n++
				}
				n++
			}
			n = min(n+1, len(text))
			element = hashPair(element, hashText(text[:n]))
		case c == '[' && nest < nestMax:
			var list uint64
			list, text = hashElements(text[1:], nest+1)
			element, n = hashPair(element, list), 0
		case c == ']' && braces == 0 && nest > 0:
			return sum + hashPair(element, 1), text[1:]
		case c == ' ' && braces == 0 && nest > 0:
			sum += hashPair(element, 1)
			element = 0
		default:
			switch c {
			case '{':
				braces++
			case '}':
				braces--
			}
			element = hashPair(element, uint64(c))
		}
		text = text[n:]
	}
	return sum + hashPair(element, 1), nil
}

// nestMax is how deep lists in lists are looked into.
const nestMax = 100
