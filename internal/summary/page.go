package summary

import (
	"bytes"
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/escape"
)

// page is a text in Markdown that does not grow above a limit.
type page struct {
	text  []byte
	limit int
}

// add adds text if there is room for it.
func (p *page) add(text string) bool {
	if len(p.text)+len(text) > p.limit {
		return false
	}
	p.text = append(p.text, text...)
	return true
}

// must adds a line for which there is always room: the page's limit leaves some.
func (p *page) must(text string) { p.text = append(p.text, text...) }

// table adds a table of packages. It is one of HTML, in which names are no Markdown.
func (p *page) table(bad []*pkg) {
	const first = "\n<table>\n<tr><th>Package</th><th>Result</th><th>Time</th></tr>\n"
	const last = "</table>\n"
	if len(bad) == 0 || len(p.text)+len(first)+len(last) > p.limit {
		return
	}
	p.must(first)
	half := page{limit: (p.limit - len(p.text)) / 2} // the rest is for the failures
	left := 0
	for _, b := range bad {
		if !half.add(fmt.Sprintf("<tr><td>%s</td><td>%s</td><td>%s</td></tr>\n", code(b.name), b.verdict(), name(b.time))) {
			left++
		}
	}
	p.must(string(half.text))
	p.must(last)
	if left > 0 {
		p.must("\n" + number(left, "more package") + " failed.\n")
	}
}

// details adds failures, and says of how many there was no room.
func (p *page) details(all []failure) {
	left := 0
	for _, f := range all {
		if !p.add(f.markdown(len(all) <= few)) {
			left++
		}
	}
	if left > 0 {
		p.must(fmt.Sprintf("\n%d of %s are left out here, since a summary has at most 1 MiB. What go test printed has them.\n", left, number(len(all), "failure")))
	}
}

// markdown returns the failure with its details, open or not.
func (f *failure) markdown(open bool) string {
	var b strings.Builder
	b.WriteString("\n<details")
	if open && !f.aside {
		b.WriteString(" open")
	}
	b.WriteString("><summary>" + f.title + "</summary>\n")
	for _, t := range f.parts {
		if t.title != "" {
			b.WriteString("\n" + t.title + "\n")
		}
		b.WriteString("\n" + fenced(t.text.String()))
	}
	b.WriteString("\n</details>\n")
	return b.String()
}

// String returns the text, and says how much of it is left out. It is indented as little as can be.
func (c *clip) String() string {
	rows := slices.Collect(strings.Lines(string(c.head) + string(c.tail)))
	indent := func(row string) int { return len(row) - len(strings.TrimLeft(row, " ")) }
	least := maxLine
	for _, row := range rows {
		if row != "\n" {
			least = min(least, indent(row))
		}
	}
	for i, row := range rows {
		rows[i] = row[min(least, indent(row)):]
	}
	if c.left > 0 {
		rows = slices.Insert(rows, bytes.Count(c.head, []byte("\n")), fmt.Sprintf("... %s left out\n", number(c.left, "line")))
	}
	return strings.Join(rows, "")
}

// fenced returns a block of code. Its fence is longer than any run of backticks in it, so nothing
// in it ends it.
func fenced(text string) string {
	fence := strings.Repeat("`", max(3, longest(text, '`')+1))
	return fence + "text\n" + text + fence + "\n"
}

// longest returns the length of the longest run of a character.
func longest(text string, c byte) (most int) {
	n := 0
	for i := range len(text) {
		if text[i] != c {
			n = 0
			continue
		}
		n++
		most = max(most, n)
	}
	return most
}

// name returns a name as HTML. It has no markup, whatever characters it has, and no line ends.
func name(s string) string {
	const most = 300
	if len(s) > most {
		s = s[:escape.Cut(s, most)] + "..."
	}
	return html.EscapeString(escape.String(s))
}

// code returns a name as code in HTML, where GitHub looks for neither links nor people's names.
func code(s string) string { return "<code>" + name(s) + "</code>" }
