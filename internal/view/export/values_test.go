package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/parquet-go/parquet-go"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/viewtest"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// kinds returns the recording of testdata/kinds.
func kinds(t testing.TB) *recording.Recording {
	t.Helper()
	r, err := recording.Open("../../../testdata/recordings/kinds")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// tablesOf exports a recording.
func tablesOf(t testing.TB, format string, r *recording.Recording) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "tables")
	if err := Named(format).WriteDir(walk.Source{Recording: r}, dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestValues compares the columns of values with the JSON that calls.arrow has of them: each call
// with values has a row in its function's file, and each value is there, or said to be incomplete.
func TestValues(t *testing.T) {
	sources := map[string]*recording.Recording{"made up": viewtest.MadeUp(t)}
	for _, name := range []string{"kinds", "workers", "parser", "books", "shop", "stock"} {
		r, err := recording.Open("../../../testdata/recordings/" + name)
		if err != nil {
			t.Fatal(err)
		}
		sources[name] = r
	}
	for name, r := range sources {
		t.Run(name, func(t *testing.T) {
			dir := tablesOf(t, "arrow", r)
			calls := map[string]map[string]any{} // by function, number and set of values
			for _, row := range arrowRows(t, filepath.Join(dir, "calls.arrow")) {
				if row["params"] != nil || row["after"] != nil || row["results"] != nil {
					calls[fmt.Sprint(row["function"], " ", row["call"])] = row
				}
			}
			if len(calls) == 0 {
				t.Error("no call has values")
			}
			compared := 0
			for _, f := range arrowRows(t, filepath.Join(dir, "functions.arrow")) {
				file, ok := f["values_file"].(string)
				if !ok {
					continue
				}
				for _, row := range arrowRows(t, filepath.Join(dir, filepath.FromSlash(file))) {
					id := fmt.Sprint(f["function"], " ", row["call"])
					call := calls[id]
					delete(calls, id)
					for _, column := range valueColumns[:len(valueColumns)-1] {
						if !reflect.DeepEqual(row[column.name], call[column.name]) {
							t.Errorf("%s: %s is %v, want %v", id, column.name, row[column.name], call[column.name])
						}
					}
					incomplete := map[string]any{}
					unmarshal(t, row["incomplete"], &incomplete)
					for _, set := range valueSets {
						var want any
						unmarshal(t, call[set], &want)
						if in := incomplete[set]; in != nil && !reflect.DeepEqual(in, want) {
							t.Errorf("%s: incomplete are %s %v, want %v", id, set, in, want)
						}
						compared += sameValue(t, id+" "+set, row[set], want, incomplete[set] != nil)
					}
				}
			}
			for id := range calls {
				t.Errorf("%s has no row", id)
			}
			if compared == 0 {
				t.Error("no value was compared")
			}
		})
	}
}

func unmarshal(t *testing.T, text any, to any) {
	t.Helper()
	if text == nil {
		return
	}
	d := json.NewDecoder(strings.NewReader(text.(string)))
	d.UseNumber()
	if err := d.Decode(to); err != nil {
		t.Errorf("%s: %v", text, err)
	}
}

// arrowRows reads a table.
func arrowRows(t *testing.T, name string) (rows []map[string]any) {
	t.Helper()
	for batch := range arrowBatches(t, name) {
		for row := range int(batch.NumRows()) {
			cells := map[string]any{}
			for i, column := range batch.Columns() {
				cells[batch.ColumnName(i)] = nestedArrowCell(t, column, row)
			}
			rows = append(rows, cells)
		}
	}
	return rows
}

// nestedArrowCell returns a cell of a column, nil if there is no value.
func nestedArrowCell(t *testing.T, column arrow.Array, row int) any {
	t.Helper()
	if column.IsNull(row) {
		return nil
	}
	switch column := column.(type) {
	case *array.Struct:
		fields := map[string]any{}
		for i, field := range column.DataType().(*arrow.StructType).Fields() {
			fields[field.Name] = nestedArrowCell(t, column.Field(i), row)
		}
		return fields
	case *array.List:
		begin, end := column.ValueOffsets(row)
		list := []any{}
		for i := begin; i < end; i++ {
			list = append(list, nestedArrowCell(t, column.ListValues(), int(i)))
		}
		return list
	case *array.Uint64:
		return column.Value(row)
	case *array.Float64:
		return column.Value(row)
	case *array.LargeBinary:
		return bytes.Clone(column.Value(row))
	case *array.Timestamp:
		return time.UnixMicro(int64(column.Value(row))).UTC()
	}
	return arrowCell(t, column, row)
}

// sameValue compares a value with the JSON that traces have of it. It returns how many values
// without parts are the same.
func sameValue(t *testing.T, at string, got, want any, incomplete bool) (compared int) {
	t.Helper()
	switch got := got.(type) {
	case nil:
		if want != nil && want != "nil" && !incomplete {
			t.Errorf("%s is not there, want %v", at, want)
		}
		return 0
	case map[string]any:
		if typ, ok := got["type"]; ok && len(got) == 2 { // of any type
			if typ == nil || got["value"] == nil && !incomplete {
				t.Errorf("%s is %v, want %v", at, got, want)
			}
			if got["value"] != nil && !json.Valid([]byte(got["value"].(string))) {
				t.Errorf("%s: %s is no JSON", at, got["value"])
			}
			return 1
		}
		if re, ok := got["real"].(float64); ok {
			return same(t, at, strings.ReplaceAll(fmt.Sprint(complex(re, got["imag"].(float64))), "+-", "-"), want)
		}
		if list, ok := want.([]any); ok {
			named := map[string]any{}
			for i, v := range list {
				named[strconv.Itoa(i)] = v
			}
			want = named
		}
		fields, ok := want.(map[string]any)
		if text, _ := want.(string); strings.HasPrefix(text, "0x") {
			return 0 // of an error the columns have what the pointer leads to
		}
		if !ok {
			t.Errorf("%s is %v, want %v", at, got, want)
			return 0
		}
		for name, v := range fields { // as capture= names them
			delete(fields, name)
			fields[strings.ReplaceAll(name, ".", "_")] = v
		}
		for name, v := range got {
			if _, ok := fields[name]; !ok { // another field is called so but for the case of letters, see named
				name = strings.TrimRight(name, "0123456789")
			}
			compared += sameValue(t, at+"."+name, v, fields[name], incomplete)
		}
		return compared
	case []any:
		if text, _ := want.(string); strings.HasPrefix(text, "[{...}") {
			return 0
		}
	case uint64:
		if n, err := strconv.ParseUint(fmt.Sprint(want), 0, 64); err == nil {
			want = n // it may be an uintptr
		}
	}
	return same(t, at, traceText(got), want)
}

// same compares texts.
func same(t *testing.T, at, got string, want any) int {
	t.Helper()
	text := strings.TrimPrefix(fmt.Sprint(want), "&")
	if d, err := time.ParseDuration(text); err == nil && text != "0" {
		text = strconv.FormatInt(int64(d), 10)
	}
	text = strings.TrimSuffix(strings.TrimPrefix(text, "map[len="), "]")
	if strings.HasPrefix(text, "chan(") {
		text = text[len("chan(len="):strings.IndexByte(text, ' ')]
	}
	if text != got && strings.TrimSuffix(got, "]") != text && !strings.HasSuffix(got, "/"+text) {
		t.Errorf("%s is %s, want %s", at, got, text)
	}
	return 1
}

// traceText returns a value as the JSON of traces has it, and within lists as a line has it.
func traceText(v any) string {
	switch v := v.(type) {
	case []any:
		var list []string
		for _, part := range v {
			if text, ok := part.(string); ok {
				part = strconv.Quote(text)
			}
			list = append(list, traceText(part))
		}
		return "[" + strings.Join(list, " ") + "]"
	case []byte:
		return "b" + strconv.Quote(string(v))
	case time.Time:
		return v.Format(time.RFC3339Nano)
	}
	return fmt.Sprint(v)
}

// TestNestedParquet reads nested columns by the library's own reader.
func TestNestedParquet(t *testing.T) {
	type anything struct {
		Type  *string `parquet:"type"`
		Value *string `parquet:"value"`
	}
	type order struct {
		ID       *uint64 `parquet:"ID"`
		Customer *struct {
			Region *string  `parquet:"Region"`
			Score  *float64 `parquet:"Score"`
		} `parquet:"Customer"`
		Tags []string `parquet:"Tags,list"`
		Raw  *[]byte  `parquet:"Raw"`
	}
	type row struct {
		Call   int64 `parquet:"call"`
		Params *struct {
			O *order `parquet:"o"`
			N *int64 `parquet:"n"`
		} `parquet:"params"`
		Results *struct {
			ID  *string   `parquet:"id"`
			Err *anything `parquet:"err"`
		} `parquet:"results"`
	}
	list, err := parquet.ReadFile[row](filepath.Join(tablesOf(t, "parquet", kinds(t)), "values", "main.place.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range list {
		line := fmt.Sprint(r.Call, " n ", *r.Params.N)
		if o := r.Params.O; o != nil {
			line += fmt.Sprint(" order ", *o.ID, " ", *o.Customer.Region, " ", *o.Customer.Score, " ", o.Tags)
		}
		if r.Results != nil {
			line += " id " + *r.Results.ID
			if e := r.Results.Err; e != nil {
				line += " " + *e.Type + " " + *e.Value
			}
		}
		got = append(got, line)
	}
	want := []string{
		"1 n 0 order 0 eu 0 [] id id0",
		"2 n 1 id id1",
		`3 n 2 order 2 eu 1 [a b] id  *errors.errorString "no such eu"`,
		"4 n 3 order 3 us 1.5 [] id id3",
		"5 n 4 order 4 eu 2 [a]",
		`6 n 5 order 5 us 2.5 [a b] id  *errors.errorString "no such us"`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("rows are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestValuesFiles: names of files are safe.
func TestValuesFiles(t *testing.T) {
	v := &values{files: map[uint32]string{}, used: map[string]struct{}{}}
	long := strings.Repeat("l", 300)
	for key, c := range []struct{ pkg, name, want string }{
		{"main", "worker", "main.worker"},
		{"main", "(*group).start.func1", "main.group.start.func1"},
		{"main", "Worker", "main.Worker-2"},
		{"main", "group.start.func1", "main.group.start.func1-2"},
		{"example.com/a/b-c", "Map[...]", "example.com.a.b-c.Map"},
		{"example.com/a", "(*List[...]).Len", "example.com.a.List.Len"},
		{"aux", "f", "_aux.f"},
		{"..", "/../x", "........x"},
		{"main", "größe", "main.gr__e"},
		{"main", "grüße", "main.gr__e-2"},
		{long, "f", long[:198] + ".f"},
	} {
		f := &recording.Function{Key: uint32(key), Package: c.pkg, Name: c.name}
		for range 2 {
			if got := v.file(f); got != c.want && !(c.pkg == ".." && !strings.ContainsAny(got, `/\`)) {
				t.Errorf("the file of %s is %q, want %q", f.FullName(), got, c.want)
			}
		}
	}
}

// TestValuesLimits: rows are written before they are too many, those of functions that have most of
// them first, and a call whose values have other types than the columns is said to be incomplete.
func TestValuesLimits(t *testing.T) {
	r := kinds(t)
	x := &columnar{r: r, format: arrowFormat, dir: t.TempDir()}
	v := newValues(x)
	layouts := map[string]*rawEvents{}
	s := r.Events(recording.Window{})
	defer s.Close()
	var e recording.Event
	keys := map[string]uint32{}
	for s.Next(&e) {
		name := r.Function(e.Function).Name
		if e.Kind == recording.EntryArgs && layouts[name] == nil {
			layouts[name], keys[name] = layouts[name].with(0, &e), e.Function
		}
	}
	const rows = 2*groupRows + 3
	for i := range int64(rows) {
		set := layouts["Place"]
		if i == groupRows+1 {
			set = layouts["shallow"]
		}
		v.add(keys["Place"], [8]int64{i, 1, i, none, none, none, none, none}, nil, set)
	}
	v.add(keys["walk"], [8]int64{0, 1, 1, none, none, none, none, none}, []byte("failure"), layouts["walk"])
	if v.tables[keys["walk"]].table != nil {
		t.Error("a file was begun before it had to be")
	}
	v.size = valuesMost
	v.add(keys["Place"], [8]int64{0, 1, rows, none, none, none, none, none}, nil, layouts["Place"])
	if v.tables[keys["Place"]].rows != nil {
		t.Error("the rows of the function that has most are kept")
	}
	if err := v.close(); err != nil {
		t.Fatal(err)
	}
	got := arrowRows(t, filepath.Join(x.dir, "values", v.tables[keys["Place"]].file+".arrow"))
	if len(got) != rows+1 {
		t.Fatalf("%d rows, want %d", len(got), rows+1)
	}
	for i, row := range got {
		whole := map[string]any{"b": true}
		if other := i == groupRows+1; row["call"] != int64(i) || (row["incomplete"] != nil) != other || !other && !reflect.DeepEqual(row["params"], whole) {
			t.Fatalf("row %d is %v", i, row)
		}
	}
}

// TestAnyValue: values of any type are JSON.
func TestAnyValue(t *testing.T) {
	typ := func(k reflect.Kind, name string) *recording.Type {
		return &recording.Type{Kind: k, Name: name, Size: 8, Fields: []recording.Field{{Name: "A"}, {Name: "b\""}}}
	}
	one := &recording.Datum{Type: typ(reflect.Int, "int"), Number: math.MaxUint64}
	missing := &recording.Datum{Type: typ(reflect.Int, "int"), Lack: recording.LackRoom}
	for _, c := range []struct {
		d    *recording.Datum
		want string
	}{
		{one, "-1"},
		{&recording.Datum{Type: typ(reflect.Uint, "uint"), Number: math.MaxUint64}, "18446744073709551615"},
		{&recording.Datum{Type: typ(reflect.Float64, "float64"), Float: complex(math.NaN(), 0)}, `"NaN"`},
		{&recording.Datum{Type: typ(reflect.Complex128, "complex128"), Float: 1 - 2i}, `[1,-2]`},
		{&recording.Datum{Type: typ(reflect.String, "string"), Text: "<\"\xff"}, `"<\"\ufffd"`},
		{&recording.Datum{Type: typ(reflect.Bool, "bool"), Number: 1}, "true"},
		{&recording.Datum{Type: typ(reflect.Struct, "s"), Parts: []*recording.Datum{one, one}}, `{"A":-1,"b\"":-1}`},
		{&recording.Datum{Type: typ(reflect.Slice, "[]int"), Parts: []*recording.Datum{one, one}}, `[-1,-1]`},
		{&recording.Datum{Type: typ(reflect.Slice, "[]int"), Parts: []*recording.Datum{one, missing}}, ""},
		{&recording.Datum{Type: typ(reflect.Map, "map[int]int"), Number: 3, Lack: "of a map only the length is recorded"}, "3"},
		{&recording.Datum{Type: typ(reflect.Pointer, "*int"), Number: 16, Lack: "it was not recorded"}, `"0x10"`},
		{&recording.Datum{Type: typ(reflect.Pointer, "*int"), Nil: true}, "null"},
		{&recording.Datum{Type: typ(reflect.Interface, "any"), Parts: []*recording.Datum{one}}, "-1"},
		{missing, ""},
	} {
		var v nestedValue
		whole := anyValue(c.d, &v)
		got := ""
		if v.part(1).there {
			got = string(v.part(1).text)
		}
		if got != c.want || whole != (c.want != "") {
			t.Errorf("%s is %s, whole: %v, want %s", c.d.Type.Name, got, whole, c.want)
		}
	}
}
