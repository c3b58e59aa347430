package export

import (
	"math"
	"os"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// parquetFormat is https://parquet.apache.org/docs/file-format.
var parquetFormat = tableFormat{".parquet", beginParquet}

// parquetKinds say how the values of a kind are stored. JSON is text, not of the type JSON:
// ClickHouse reads objects alone as that, and fails at an array.
var parquetKinds = map[kind]parquet.Node{
	number:   parquet.Encoded(parquet.Int(64), &parquet.DeltaBinaryPacked),
	moment:   parquet.Encoded(parquet.Timestamp(parquet.Microsecond), &parquet.DeltaBinaryPacked),
	unsigned: parquet.Uint(64),
	floating: parquet.Leaf(parquet.DoubleType),
	flag:     parquet.Leaf(parquet.BooleanType),
	name:     parquet.Encoded(parquet.String(), &parquet.RLEDictionary),
	sentence: parquet.String(),
	octets:   parquet.Leaf(parquet.ByteArrayType),
}

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
		var node parquet.Node
		switch k := c.kind &^ maybe; k {
		case structure:
			node = rowOf(c.fields)
		case list:
			node = parquet.List(rowOf(c.fields).fields[0])
		default:
			node = parquetKinds[k]
		}
		if c.kind&maybe != 0 {
			node = parquet.Optional(node)
		}
		group[c.name] = node
	}
	place := func(name string) int {
		return slices.IndexFunc(columns, func(c column) bool { return c.name == name })
	}
	fields := group.Fields()
	slices.SortFunc(fields, func(a, b parquet.Field) int { return place(a.Name()) - place(b.Name()) })
	return row{group, fields}
}

type parquetFile struct{ *parquet.GenericWriter[any] }

func beginParquet(f *os.File, columns []column, said map[string]string) (tableFile, error) {
	w := parquet.NewGenericWriter[any](f, parquet.NewSchema("row", rowOf(columns)),
		parquet.Compression(&zstd.Codec{Level: zstd.SpeedFastest}), parquet.CreatedBy("ftrace", "", ""))
	for key, value := range said {
		w.SetKeyValueMetadata(key, value)
	}
	return parquetFile{w}, nil
}

func (f parquetFile) group() groupEncoder { return parquetGroup{f.BeginRowGroup()} }

func (f parquetFile) close() error { return f.Close() }

type parquetGroup struct {
	*parquet.ConcurrentRowGroupWriter
}

// encode encodes all columns of a few rows at once, while these are in the processor's cache.
func (to parquetGroup) encode(g *group) error {
	const fewRows = 1024
	var few [fewRows]parquet.Value
	width := g.width()
	writers, taker, from := to.ColumnWriters(), g.taker(), 0
	for rows := range slices.Chunk(g.cells, fewRows*width) {
		nested := taker.take(from, len(rows)/width)
		from += len(rows) / width
		leaf := 0
		for i := range g.columns {
			c := &g.columns[i]
			if c.kind.nested() {
				leaves := parquetLeaves{first: leaf, values: make([][]parquet.Value, c.leaves())}
				for row := range nested[i-width] {
					leaves.at = 0
					leaves.add(c, &nested[i-width][row], 0, 0, 0)
				}
				for _, values := range leaves.values {
					if _, err := writers[leaf].WriteRowValues(values); err != nil {
						return err
					}
					leaf++
				}
				continue
			}
			kind := c.kind
			values := few[:0]
			for at := i; at < len(rows); at += width {
				var v parquet.Value
				cell := rows[at]
				if kind&maybe != 0 && cell == none {
					values = append(values, v)
					continue
				}
				switch kind &^ maybe {
				case flag:
					v = parquet.BooleanValue(cell != 0)
				case number, moment:
					v = parquet.Int64Value(cell)
				default:
					v = parquet.ByteArrayValue(g.text(cell))
				}
				if kind&maybe != 0 {
					v = v.Level(0, 1, leaf) // there is one
				}
				values = append(values, v)
			}
			if _, err := writers[leaf].WriteRowValues(values); err != nil {
				return err
			}
			leaf++
		}
	}
	return to.Flush()
}

// parquetNumber returns a value that is no text.
func parquetNumber(k kind, cell int64) parquet.Value {
	switch k {
	case flag:
		return parquet.BooleanValue(cell != 0)
	case floating:
		return parquet.DoubleValue(math.Float64frombits(uint64(cell)))
	}
	return parquet.Int64Value(cell)
}

// parquetLeaves are the values of the columns that a nested column consists of.
type parquetLeaves struct {
	first  int // number of the first among the leaves of the table
	at     int // the next one
	values [][]parquet.Value
}

// add adds a value of the nested column c. repeated says at which list a new element begins, lists
// how many lists are around it, and defined how many of the lists and of what may be none are
// there. https://parquet.apache.org/docs/file-format/nestedencoding
func (to *parquetLeaves) add(c *column, v *nestedValue, repeated, lists, defined int) {
	switch k := c.kind &^ maybe; {
	case k == structure:
		if v.there {
			defined++
		}
		for i := range c.fields {
			to.add(&c.fields[i], v.part(i), repeated, lists, defined)
		}
	case k == list && len(v.parts) > 0:
		begin := to.at
		for i := range v.parts {
			to.at = begin
			to.add(&c.fields[0], &v.parts[i], repeated, lists+1, defined+2)
			repeated = lists + 1
		}
	case k == list:
		if v.there {
			defined++
		}
		to.add(&c.fields[0], &nestedValue{}, repeated, lists+1, defined)
	default:
		var leaf parquet.Value
		switch {
		case !v.there:
		case k >= name && k <= octets:
			leaf = parquet.ByteArrayValue(v.text)
		default:
			leaf = parquetNumber(k, v.number)
		}
		if v.there {
			defined++
		}
		to.values[to.at] = append(to.values[to.at], leaf.Level(repeated, defined, to.first+to.at))
		to.at++
	}
}

// leaves returns how many columns without fields a column consists of.
func (c *column) leaves() int {
	if !c.kind.nested() {
		return 1
	}
	n := 0
	for i := range c.fields {
		n += c.fields[i].leaves()
	}
	return n
}

func (to parquetGroup) write() error {
	_, err := to.Commit()
	return err
}
