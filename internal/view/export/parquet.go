package export

import (
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
	flag:     parquet.Leaf(parquet.BooleanType),
	name:     parquet.Encoded(parquet.String(), &parquet.RLEDictionary),
	sentence: parquet.String(),
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
		node := parquetKinds[c.kind&^maybe]
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
	width := len(g.columns)
	columns := to.ColumnWriters()
	for rows := range slices.Chunk(g.cells, fewRows*width) {
		for i, column := range columns {
			kind := g.columns[i].kind
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
					v = v.Level(0, 1, i) // there is one
				}
				values = append(values, v)
			}
			if _, err := column.WriteRowValues(values); err != nil {
				return err
			}
		}
	}
	return to.Flush()
}

func (to parquetGroup) write() error {
	_, err := to.Commit()
	return err
}
