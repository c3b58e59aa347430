package export

import (
	"math"
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
	unsigned: arrow.PrimitiveTypes.Uint64,
	floating: arrow.PrimitiveTypes.Float64,
	moment:   arrow.FixedWidthTypes.Timestamp_us,
	flag:     arrow.FixedWidthTypes.Boolean,
	name:     arrow.BinaryTypes.String,
	sentence: arrow.BinaryTypes.LargeString,
	octets:   arrow.BinaryTypes.LargeBinary,
}

// arrowFields returns what columns are.
func arrowFields(columns []column) (fields []arrow.Field) {
	for _, c := range columns {
		var t arrow.DataType
		switch k := c.kind &^ maybe; k {
		case structure:
			t = arrow.StructOf(arrowFields(c.fields)...)
		case list:
			t = arrow.ListOfField(arrowFields(c.fields)[0])
		default:
			t = arrowKinds[k]
		}
		fields = append(fields, arrow.Field{Name: c.name, Type: t, Nullable: c.kind&maybe != 0})
	}
	return fields
}

type arrowFile struct {
	schema *arrow.Schema
	*ipc.FileWriter
}

func beginArrow(f *os.File, columns []column, said map[string]string) (tableFile, error) {
	facts := arrow.MetadataFrom(said)
	schema := arrow.NewSchema(arrowFields(columns), &facts)
	compressors := runtime.GOMAXPROCS(0)
	if columns[len(columns)-1].kind.nested() { // there are many such files, and each keeps its compressors
		compressors = 1
	}
	w, err := ipc.NewFileWriter(f, ipc.WithSchema(schema), ipc.WithZstd(), ipc.WithCompressConcurrency(compressors))
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
	width := g.width()
	nested := g.taker().take(0, g.rows())
	for i := range g.columns {
		c, column := &g.columns[i], to.builder.Field(i)
		column.Reserve(g.rows())
		if c.kind.nested() {
			for row := range nested[i-width] {
				appendNested(column, c, &nested[i-width][row])
			}
			continue
		}
		for at := i; at < len(g.cells); at += width {
			switch cell := g.cells[at]; c.kind &^ maybe {
			case name, sentence:
				appendArrow(column, nestedValue{there: c.kind&maybe == 0 || cell != none, text: g.text(cell)})
			default:
				appendArrow(column, nestedValue{there: c.kind&maybe == 0 || cell != none, number: cell})
			}
		}
	}
	to.encoded = to.builder.NewRecordBatch()
	return nil
}

// appendNested appends a value of the column c.
func appendNested(to array.Builder, c *column, v *nestedValue) {
	switch to := to.(type) {
	case *array.StructBuilder:
		to.Append(v.there)
		if !v.there {
			return // and none of the fields is, Append has seen to that
		}
		for i := range c.fields {
			appendNested(to.FieldBuilder(i), &c.fields[i], v.part(i))
		}
	case *array.ListBuilder:
		to.Append(v.there)
		for i := range v.parts {
			appendNested(to.ValueBuilder(), &c.fields[0], &v.parts[i])
		}
	default:
		appendArrow(to, *v)
	}
}

// appendArrow appends a value that has no parts.
func appendArrow(to array.Builder, v nestedValue) {
	if !v.there {
		to.AppendNull()
		return
	}
	switch to := to.(type) {
	case *array.Int64Builder:
		to.Append(v.number)
	case *array.Uint64Builder:
		to.Append(uint64(v.number))
	case *array.Float64Builder:
		to.Append(math.Float64frombits(uint64(v.number)))
	case *array.TimestampBuilder:
		to.Append(arrow.Timestamp(v.number))
	case *array.BooleanBuilder:
		to.Append(v.number != 0)
	case *array.StringBuilder:
		to.BinaryBuilder.Append(v.text)
	case *array.LargeStringBuilder:
		to.BinaryBuilder.Append(v.text)
	case *array.BinaryBuilder:
		to.Append(v.text)
	}
}

func (to *arrowGroup) write() error {
	defer to.encoded.Release()
	return to.to.Write(to.encoded)
}
