package rewrite

import (
	"fmt"
	"sort"
)

// An editBuffer collects insertions and replacements in a source text, by offset, in the manner of
// cmd/internal/edit: the text itself changes only in bytes, and overlapping edits are a bug that
// panics.
type editBuffer struct {
	src   []byte
	edits []edit
}

type edit struct {
	start, end int
	text       string
}

// insert puts text before offset at. Several insertions at one place keep the order in which they
// were made.
func (b *editBuffer) insert(at int, text string) { b.replace(at, at, text) }

// replace puts text in place of src[start:end].
func (b *editBuffer) replace(start, end int, text string) {
	if start < 0 || end < start || end > len(b.src) {
		panic(fmt.Sprintf("rewrite: edit %d:%d outside of a text of %d bytes", start, end, len(b.src)))
	}
	b.edits = append(b.edits, edit{start, end, text})
}

// bytes returns the text with all edits made.
func (b *editBuffer) bytes() []byte {
	sort.SliceStable(b.edits, func(i, j int) bool { return b.edits[i].start < b.edits[j].start })
	size := len(b.src)
	for _, e := range b.edits {
		size += len(e.text)
	}
	out := make([]byte, 0, size)
	at := 0
	for _, e := range b.edits {
		if e.start < at {
			panic(fmt.Sprintf("rewrite: edits overlap at offset %d", e.start))
		}
		out = append(out, b.src[at:e.start]...)
		out = append(out, e.text...)
		at = e.end
	}
	return append(out, b.src[at:]...)
}
