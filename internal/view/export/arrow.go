package export

import (
	"os"
	"runtime"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// arrowFormat is https://arrow.apache.org/docs/format/Columnar.html#ipc-file-format.
var arrowFormat = tableFormat{".arrow", beginArrow}

// arrowKinds say how the values of a kind are stored. Texts other than names may be more than 2 GB
// in a group of rows.
var arrowKinds = map[kind]arrow.DataType{
	number:   arrow.PrimitiveTypes.Int64,
	moment:   arrow.FixedWidthTypes.Timestamp_us,
	flag:     arrow.FixedWidthTypes.Boolean,
	name:     arrow.BinaryTypes.String,
	sentence: arrow.BinaryTypes.LargeString,
}

type arrowFile struct {
	schema *arrow.Schema
	*ipc.FileWriter
}

func beginArrow(f *os.File, columns []column, said map[string]string) (tableFile, error) {
	var fields []arrow.Field
	for _, c := range columns {
		fields = append(fields, arrow.Field{Name: c.name, Type: arrowKinds[c.kind&^maybe], Nullable: c.kind&maybe != 0})
	}
	facts := arrow.MetadataFrom(said)
	schema := arrow.NewSchema(fields, &facts)
	w, err := ipc.NewFileWriter(f, ipc.WithSchema(schema), ipc.WithZstd(), ipc.WithCompressConcurrency(runtime.GOMAXPROCS(0)))
	return arrowFile{schema, w}, err
}

func (f arrowFile) group() groupEncoder {
	return &arrowGroup{to: f, builder: array.NewRecordBuilder(memory.DefaultAllocator, f.schema)}
}

func (f arrowFile) close() error { return f.Close() }

type arrowGroup struct {
	to      arrowFile
	builder *array.RecordBuilder
	encoded arrow.RecordBatch
}

func (to *arrowGroup) encode(g *group) error {
	for i, c := range g.columns {
		column := to.builder.Field(i)
		column.Reserve(g.rows())
		for at := i; at < len(g.cells); at += len(g.columns) {
			cell := g.cells[at]
			if c.kind&maybe != 0 && cell == none {
				column.AppendNull()
				continue
			}
			switch column := column.(type) {
			case *array.Int64Builder:
				column.Append(cell)
			case *array.TimestampBuilder:
				column.Append(arrow.Timestamp(cell))
			case *array.BooleanBuilder:
				column.Append(cell != 0)
			case *array.StringBuilder:
				column.BinaryBuilder.Append(g.text(cell))
			case *array.LargeStringBuilder:
				column.BinaryBuilder.Append(g.text(cell))
			}
		}
	}
	to.encoded = to.builder.NewRecordBatch()
	return nil
}

func (to *arrowGroup) write() error {
	defer to.encoded.Release()
	return to.to.Write(to.encoded)
}
