package export

import (
	"bytes"
	"cmp"
	"math"
	"os"
	"runtime"
	"sync/atomic"
)

// A column is one of a table, of values of a kind.
type column struct {
	name   string
	kind   kind
	fields []column // of a structure; of a list the elements
}

// A kind is that of a column's values. With maybe there may be none in a row.
type kind uint8

const (
	number    kind = 1 + iota // 64 bits, with a sign
	unsigned                  // 64 bits
	floating                  // a floating-point number: the bits of a float64
	moment                    // µs since 1970, a time of day in UTC
	flag                      // true or false
	name                      // text: there are few, each of them often
	sentence                  // text
	octets                    // bytes
	structure                 // fields
	list                      // of values of one type

	maybe         kind = 16
	maybeNumber        = maybe | number
	maybeName          = maybe | name
	maybeSentence      = maybe | sentence
)

// nested reports whether values consist of others. Their cells are made when they are encoded.
func (k kind) nested() bool { return k&^maybe >= structure }

// A tableFormat is a format of tables.
type tableFormat struct {
	suffix string // of the files' names
	// begin begins a file. said are facts about the table, which readers can ask for.
	begin func(f *os.File, columns []column, said map[string]string) (tableFile, error)
}

// A tableFile writes groups of rows to a file.
type tableFile interface {
	// group returns what encodes groups, one after the other. Others encode at the same time.
	group() groupEncoder
	// close writes what follows the rows.
	close() error
}

// A groupEncoder encodes groups of rows.
type groupEncoder interface {
	// encode encodes the rows of a group. Any goroutine may call it.
	encode(g *group) error
	// write writes what was encoded last to the file, as one goroutine at a time may.
	write() error
}

// A table is a file that is being written. One goroutine adds rows, cell by cell, in the order of
// the columns. Others encode groups of rows.
type table struct {
	file    *os.File
	to      tableFile
	columns []column
	names   *names
	filling *group
	made    int          // groups
	idle    chan *group  // that can be filled again
	written chan error   // gets what became of the group before the one that is filled
	failed  *atomic.Bool // set if any table could not be written
}

// names are texts that many rows have. A cell says which.
type names struct{ list [][]byte }

// add returns what a cell is that has the text.
func (n *names) add(text string) int64 {
	n.list = append(n.list, validBytes([]byte(text)))
	return -int64(len(n.list))
}

// A group has rows of a table, one after the other. A cell that may have none has none. One of text
// is the place of the text, from 1 on, or, if it is negative, that of a name.
type group struct {
	to      groupEncoder
	columns []column
	cells   []int64
	texts   [][]byte
	names   [][]byte   // set when all rows are there
	values  *rawValues // of nested columns, which follow the others; nil: there are none
}

const (
	none      = math.MinInt64 // no value
	groupRows = 120_000       // are encoded at once, and read at once
)

// newTable makes a file, whose name gets the format's suffix. said are facts about the table.
// failed is set if it cannot be written.
func newTable(format tableFormat, file string, columns []column, names *names, said map[string]string, failed *atomic.Bool) (*table, error) {
	f, err := os.OpenFile(file+format.suffix, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	t := &table{file: f, columns: columns, names: names, idle: make(chan *group, runtime.GOMAXPROCS(0)+1), written: make(chan error, 1), failed: failed}
	if t.to, err = format.begin(f, columns, said); err != nil {
		return nil, cmp.Or(err, f.Close())
	}
	t.written <- nil
	return t, nil
}

// add adds cells to the row: numbers, names, none.
func (t *table) add(cells ...int64) {
	if t.filling == nil {
		t.filling = t.group()
	}
	t.filling.cells = append(t.filling.cells, cells...)
}

// text adds a cell of text, which stays as it is. nil is none.
func (t *table) text(v []byte) {
	if v == nil {
		t.add(none)
		return
	}
	if t.filling == nil {
		t.filling = t.group()
	}
	t.filling.texts = append(t.filling.texts, validBytes(v))
	t.add(int64(len(t.filling.texts)))
}

// textOf adds a cell of text. "" is none.
func (t *table) textOf(v string) {
	if v == "" {
		t.add(none)
		return
	}
	t.text([]byte(v))
}

// numberIf adds a cell: a number, if it is known.
func (t *table) numberIf(known bool, v int64) {
	if !known {
		v = none
	}
	t.add(v)
}

// flag adds a cell of true or false.
func (t *table) flag(v bool) {
	if v {
		t.add(1)
	} else {
		t.add(0)
	}
}

// end ends the row.
func (t *table) end() {
	if len(t.filling.cells) == groupRows*len(t.columns) {
		t.encode()
	}
}

// group returns a group to be filled. It waits for one if all are being encoded.
func (t *table) group() *group {
	if t.made < cap(t.idle) {
		select {
		case g := <-t.idle:
			return g
		default:
		}
		t.made++
		return &group{to: t.to.group(), columns: t.columns}
	}
	return <-t.idle
}

// encode has a goroutine encode the rows that were added, and write them after those before. The
// group can be filled again then.
func (t *table) encode() {
	g := t.filling
	t.filling = nil
	t.write(g, func() {
		clear(g.texts)
		g.cells, g.texts = g.cells[:0], g.texts[:0]
		t.idle <- g
	})
}

// write has a goroutine encode a group of rows, write it after those before, and then call done.
func (t *table) write(g *group, done func()) {
	before := t.written
	written := make(chan error, 1)
	g.names = t.names.list
	t.written = written
	go func() {
		err := g.to.encode(g)
		if failed := <-before; failed != nil {
			err = failed
		}
		if err == nil {
			err = g.to.write()
		}
		if err != nil {
			t.failed.Store(true)
		}
		done()
		written <- err
	}()
}

// rows returns how many rows there are.
func (g *group) rows() int { return len(g.cells) / g.width() }

// width returns how many cells a row has: one of each column that is not nested.
func (g *group) width() int {
	width := len(g.columns)
	for width > 0 && g.columns[width-1].kind.nested() {
		width--
	}
	return width
}

// text returns the text of a cell.
func (g *group) text(cell int64) []byte {
	switch {
	case cell == none: // of a damaged recording, where there should be one
		return nil
	case cell < 0:
		return g.names[-cell-1]
	}
	return g.texts[cell-1]
}

// close writes what is left. The table is of no use then.
func (t *table) close() error {
	defer t.file.Close()
	if t.filling != nil {
		t.encode()
	}
	if err := <-t.written; err != nil {
		return err
	}
	if err := t.to.close(); err != nil {
		return err
	}
	return t.file.Close()
}

// validBytes returns text with what is no UTF-8 replaced.
func validBytes(text []byte) []byte { return bytes.ToValidUTF8(text, []byte("\uFFFD")) }
