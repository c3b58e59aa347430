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
	picked      bool // not only for what is within it
	within      int  // calls within it
	worth       int  // by what it has of the failure's message
	around      int  // the most that it or a call around it is worth
	far         int  // how far it is from the failure
	rank        int
}

// tries limits how many of the calls for which there may be no room are tried.
const tries = 20

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
		n.shown, n.picked = n.path, n.path
	}
	rank(root, all, message)
	others := slices.DeleteFunc(all, func(n *node) bool { return n.path })
	show := func(picked []*node) []string {
		for _, n := range others {
			n.shown, n.picked = false, false
		}
		for _, n := range picked {
			n.shown, n.picked = true, true
			for p := n.parent; !p.shown; p = p.parent {
				p.shown = true
			}
		}
		return root.folded(nil)
	}
	text := root.whole(nil)
	if len(text) > limit {
		low, high := 0, len(others)
		for low < high {
			if middle := (low + high + 1) / 2; len(show(others[:middle])) <= limit {
				low = middle
			} else {
				high = middle - 1
			}
		}
		// The next may need more lines than are left, and one of those after it fewer.
		picked := slices.Clone(others[:low])
		for _, n := range others[low:min(low+tries, len(others))] {
			if more := append(picked, n); len(show(more)) <= limit {
				picked = more
			}
		}
		text = show(picked)
	}
	if left := len(text) - limit; left > 0 {
		prefix, _ := cutMark(text[limit/2])
		text = slices.Replace(text, limit/2, limit/2+left+1, prefix+"... "+strconv.Itoa(left+1)+" lines\n")
	}
	return strings.Join(text, "")
}

// tree puts the lines together to calls. all has them in order.
func tree(lines []Line) (root *node, all []*node) {
	root = &node{depth: -1, path: true, shown: true}
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

// What makes a call worth showing, in steps that it is nearer to the failure.
const (
	made    = 2 // times what a value of the message is worth, for the call that the trace first has it from
	fails   = 4 // a call that returns an error or panics
	last    = 4 // what the call that failed called last: most tests check what they just called
	special = 2 // for each time that the number of calls of the function halves, in a call worth something
	again   = 2 // less, for each call of the same function that comes before
)

// rank sorts calls by what they have to do with the failure, the most first. Those that it ended
// with are near. So are those that have a value of the message which few calls have, most of all
// those that made it, and what they called. One call of each function goes before a second one.
func rank(root *node, all []*node, message string) {
	measure(all, message)
	calls := map[string]int{}
	for _, n := range all { // the call around it comes first
		n.around = max(n.worth, n.parent.around)
		calls[n.name()]++
	}
	near(root)
	for _, n := range all {
		n.rank = n.far - n.around - n.worth/2
		if n.around > 0 {
			n.rank -= min(special*bits(len(all)/calls[n.name()]), n.around)
		}
	}
	byRank := func(a, b *node) int { return a.rank - b.rank }
	slices.SortStableFunc(all, byRank)
	clear(calls)
	for _, n := range all {
		n.rank += again * calls[n.name()]
		calls[n.name()]++
	}
	slices.SortStableFunc(all, byRank)
}

// measure finds out what calls are worth by themselves. A value that half of the calls have says
// little, one that a single call has says most. The best counts, others less and less: a long
// message mentions much.
func measure(all []*node, message string) {
	wanted := map[string]bool{}
	words(message, func(w string) { wanted[w] = true })
	found := map[*node][]string{}
	having := map[string]int{} // how many calls have it
	maker := map[string]*node{}
	look := func(n *node, text string, result bool) {
		words(uncommented(text), func(w string) {
			if !wanted[w] || slices.Contains(found[n], w) {
				return
			}
			if having[w] == 0 && result {
				maker[w] = n
			}
			found[n] = append(found[n], w)
			having[w]++
		})
	}
	// As the trace has the lines: a result follows what the call called.
	var walk func(n *node)
	walk = func(n *node) {
		_, rest := cutMark(n.entry)
		look(n, strings.TrimPrefix(rest, n.name()), false)
		for _, c := range n.children {
			walk(c)
		}
		_, rest, _ = strings.Cut(n.exit, "}")
		look(n, rest, true)
	}
	for _, n := range all {
		if n.parent.parent == nil {
			walk(n)
		}
	}
	for _, n := range all {
		var values []int
		for _, w := range found[n] {
			value := bits(len(all)/having[w]) - 1
			if maker[w] == n {
				value *= made
			}
			values = append(values, value)
		}
		slices.Sort(values)
		for _, value := range values {
			n.worth = value + n.worth/2
		}
		if n.panics || strings.Contains(uncommented(n.exit), "rror") {
			n.worth += fails
		}
		if siblings := n.parent.children; n.parent.path && !n.path && n == siblings[len(siblings)-1] {
			n.worth += last
		}
	}
}

// near says how far from the failure what a call called is. What it called later is nearer. In a
// call that is worth something the order says less: each call may have made the value.
func near(n *node) {
	for i, c := range n.children {
		c.far = n.far
		if later := bits(len(n.children) - 1 - i); n.around > 0 {
			c.far += later / 2
		} else if !c.path {
			c.far += later + 1
		}
		near(c)
	}
}

// bits returns how many binary digits a number has: about its logarithm.
func bits(n int) (digits int) {
	for ; n > 0; n /= 2 {
		digits++
	}
	return digits
}

// uncommented returns a line without the comment at its end.
func uncommented(line string) string {
	if i := strings.LastIndex(line, " // "); i >= 0 {
		line = line[:i]
	}
	return line
}

// words calls f with each number and word of a text, but not names of parameters and addresses.
// What follows a backslash is part of none: messages have quoted text as it is, or with escapes.
func words(text string, f func(string)) {
	begin := 0
	end := func(at int, next rune) {
		if begin < at && next != '=' {
			w := strings.Trim(text[begin:at], ".-")
			if w != "" && (len(w) < len("0x1234567") || w[:2] != "0x") {
				f(w)
			}
		}
	}
	for i, r := range text {
		if !inWord(r) && i >= begin {
			end(i, r)
			begin = i + 1
			if r == '\\' {
				begin++
			}
		}
	}
	end(len(text), 0)
}

func inWord(r rune) bool {
	return r == '_' || r == '.' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r > 127
}

// whole appends the lines of all that is within a call.
func (n *node) whole(to []string) []string {
	for _, c := range n.children {
		if !c.path && len(c.children) == 0 {
			to = append(to, c.line())
			continue
		}
		to = c.whole(append(to, c.entry))
		if c.exit != "" {
			to = append(to, c.exit)
		}
	}
	return to
}

// folded appends the lines of those calls within a call that are shown. On the path, a line counts
// those that are not. Other calls are on one line, which counts what is within, and calls that are
// only the way to one that is shown share a line.
func (n *node) folded(to []string) []string {
	var hidden []*node
	for _, c := range n.children {
		if !c.shown {
			hidden = append(hidden, c)
			continue
		}
		if n.path {
			to = counted(to, hidden)
		}
		hidden = nil
		switch {
		case c.path:
			to = c.folded(append(to, c.entry))
			if c.exit != "" {
				to = append(to, c.exit)
			}
		case c.picked:
			to = c.folded(append(to, c.line()))
		default:
			to = c.passed(to)
		}
	}
	if n.path {
		to = counted(to, hidden)
	}
	return to
}

// passed appends a line for a call, and those within it, that are only the way to one shown.
func (n *node) passed(to []string) []string {
	prefix, _ := cutMark(n.entry)
	text := prefix + "... in " + n.name()
	for {
		var next *node
		for _, c := range n.children {
			if c.shown && (next != nil || c.picked) {
				return n.folded(append(to, text+":\n"))
			}
			if c.shown {
				next = c
			}
		}
		n = next
		text += ", " + n.name()
	}
}

// line returns a call on one line, as the format fold has it.
func (n *node) line() string {
	head, number, ok := strings.Cut(n.entry, " { // ")
	_, end, ends := strings.Cut(n.exit, "}")
	if !ok || !ends {
		return n.entry
	}
	end = uncommented(end)
	number = strings.TrimSuffix(number, "\n")
	if n.within == 0 {
		return head + " {}" + end + " // " + number + "\n"
	}
	return head + " {...}" + end + " // " + number + ", " + count(n.within) + " within\n"
}

// counted appends the line that stands for calls which are not shown.
func counted(to []string, hidden []*node) []string {
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
