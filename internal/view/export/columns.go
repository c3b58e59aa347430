package export

import (
	"bytes"
	"math"
	"os"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// A column is one of a table, of values of a kind.
type column struct {
	name string
	kind parquet.Node
}

// The kinds of columns.
var (
	number   = parquet.Encoded(parquet.Int(64), &parquet.DeltaBinaryPacked)
	moment   = parquet.Encoded(parquet.Timestamp(parquet.Microsecond), &parquet.DeltaBinaryPacked)
	flag     = parquet.Leaf(parquet.BooleanType)
	name     = parquet.Encoded(parquet.String(), &parquet.RLEDictionary) // there are few, each of them often
	sentence = parquet.String()
	document = parquet.JSON()

	maybeNumber   = parquet.Optional(number)
	maybeName     = parquet.Optional(name)
	maybeSentence = parquet.Optional(sentence)
	maybeDocument = parquet.Optional(document)
)

// row is a group of columns that stay in their order.
type row struct {
	parquet.Group
	fields []parquet.Field
}

func (r row) Fields() []parquet.Field { return r.fields }

// rowOf returns what a row with such columns is.
func rowOf(columns []column) row {
	group := parquet.Group{}
	for _, c := range columns {
		group[c.name] = c.kind
	}
	place := func(name string) int {
		return slices.IndexFunc(columns, func(c column) bool { return c.name == name })
	}
	fields := group.Fields()
	slices.SortFunc(fields, func(a, b parquet.Field) int { return place(a.Name()) - place(b.Name()) })
	return row{group, fields}
}

// A table is a Parquet file that is being written (https://parquet.apache.org/docs/file-format). A
// row is added cell by cell, in the order of the columns, by one goroutine. Others encode groups of
// rows.
type table struct {
	file    *os.File
	writer  *parquet.GenericWriter[any]
	columns []column
	names   *names
	filling *group
	made    int         // groups
	idle    chan *group // that can be filled again
	written chan error  // gets what became of the group before the one that is filled
	failed  atomic.Bool
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
	to    *parquet.ConcurrentRowGroupWriter
	cells []int64
	texts [][]byte
}

const (
	none      = math.MinInt64 // no value
	groupRows = 120_000       // are encoded at once, and read at once
	fewRows   = 1024          // are passed to the encoder at once
)

// newTable makes a file. said are facts about the table, which readers can ask for.
func newTable(file string, columns []column, names *names, said map[string]string) (*table, error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	t := &table{file: f, columns: columns, names: names, idle: make(chan *group, runtime.GOMAXPROCS(0)+1), written: make(chan error, 1)}
	t.writer = parquet.NewGenericWriter[any](f, parquet.NewSchema("row", rowOf(columns)),
		parquet.Compression(&zstd.Codec{Level: zstd.SpeedFastest}), parquet.CreatedBy("ftrace", "", ""))
	for key, value := range said {
		t.writer.SetKeyValueMetadata(key, value)
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
		return &group{to: t.writer.BeginRowGroup()}
	}
	return <-t.idle
}

// encode has a goroutine encode the rows that were added, and write them after those before.
func (t *table) encode() {
	g, names, before := t.filling, t.names.list, t.written
	written := make(chan error, 1)
	t.filling, t.written = nil, written
	go func() {
		err := g.encode(t.columns, names)
		if failed := <-before; failed != nil {
			err = failed
		}
		if err == nil {
			_, err = g.to.Commit()
		}
		if err != nil {
			t.failed.Store(true)
		}
		clear(g.texts)
		g.cells, g.texts = g.cells[:0], g.texts[:0]
		t.idle <- g
		written <- err
	}()
}

// encode encodes the rows.
func (g *group) encode(columns []column, names [][]byte) error {
	var few [fewRows]parquet.Value
	for i, to := range g.to.ColumnWriters() {
		kind, optional := columns[i].kind.Type().Kind(), columns[i].kind.Optional()
		for rows := range slices.Chunk(g.cells, fewRows*len(columns)) {
			values := few[:0]
			for at := i; at < len(rows); at += len(columns) {
				var v parquet.Value
				switch cell := rows[at]; {
				case cell == none && optional:
					values = append(values, v)
					continue
				case kind == parquet.Boolean:
					v = parquet.BooleanValue(cell != 0)
				case kind == parquet.Int64:
					v = parquet.Int64Value(cell)
				case cell == none: // of a damaged recording
					v = parquet.ByteArrayValue(nil)
				case cell < 0:
					v = parquet.ByteArrayValue(names[-cell-1])
				default:
					v = parquet.ByteArrayValue(g.texts[cell-1])
				}
				if optional {
					v = v.Level(0, 1, i) // there is one
				}
				values = append(values, v)
			}
			if _, err := to.WriteRowValues(values); err != nil {
				return err
			}
		}
	}
	return g.to.Flush()
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
	if err := t.writer.Close(); err != nil {
		return err
	}
	return t.file.Close()
}

// validBytes returns text with what is no UTF-8 replaced.
func validBytes(text []byte) []byte { return bytes.ToValidUTF8(text, []byte("\uFFFD")) }
