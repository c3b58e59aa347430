package export

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/parquet-go/parquet-go"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/viewtest"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// What of the tables is read here.
type (
	callCells struct {
		Time      int64   `parquet:"time"`
		Function  string  `parquet:"function"`
		Package   string  `parquet:"package"`
		Goroutine uint64  `parquet:"goroutine"`
		Call      uint64  `parquet:"call"`
		Depth     int     `parquet:"depth"`
		Begin     *int64  `parquet:"begin"`
		End       *int64  `parquet:"end"`
		Duration  *int64  `parquet:"duration"`
		Self      *int64  `parquet:"self"`
		Ended     *string `parquet:"ended"`
		Params    *string `parquet:"params"`
		Results   *string `parquet:"results"`
		Error     *string `parquet:"error"`
		Panic     *string `parquet:"panic"`
		Mock      bool    `parquet:"mock"`
		Note      *string `parquet:"note"`
	}
	waitCells struct {
		Wait        string  `parquet:"wait"`
		Goroutine   uint64  `parquet:"goroutine"`
		End         *int64  `parquet:"end"`
		Duration    int64   `parquet:"duration"`
		Runnable    *int64  `parquet:"runnable"`
		Object      *string `parquet:"object"`
		ByGoroutine *uint64 `parquet:"by_goroutine"`
	}
	lineCells struct {
		At        int64  `parquet:"at"`
		Goroutine uint64 `parquet:"goroutine"`
		Text      string `parquet:"text"`
	}
	goroutineCells struct {
		Goroutine uint64  `parquet:"goroutine"`
		Parent    *uint64 `parquet:"parent"`
		Calls     uint64  `parquet:"calls"`
	}
	functionCells struct {
		Function string `parquet:"function"`
		File     string `parquet:"file"`
		Line     int    `parquet:"line"`
		Calls    uint64 `parquet:"calls"`
	}
)

// rows reads a table of either format. The tags of R's fields name the columns.
func rows[R any](t *testing.T, dir, table string) (list []R) {
	t.Helper()
	file := filepath.Join(dir, table)
	if _, err := os.Stat(file + ".arrow"); errors.Is(err, fs.ErrNotExist) {
		if list, err = parquet.ReadFile[R](file + ".parquet"); err != nil {
			t.Fatal(err)
		}
		return list
	}
	for batch := range arrowBatches(t, file+".arrow") {
		n := len(list)
		list = append(list, make([]R, batch.NumRows())...)
		for _, field := range reflect.VisibleFields(reflect.TypeFor[R]()) {
			columns := batch.Schema().FieldIndices(field.Tag.Get("parquet"))
			if len(columns) != 1 {
				t.Fatalf("%s has %d columns %q", table, len(columns), field.Tag.Get("parquet"))
			}
			column := batch.Column(columns[0])
			for row := range column.Len() {
				cell := reflect.ValueOf(&list[n+row]).Elem().FieldByIndex(field.Index)
				if column.IsNull(row) {
					if cell.Kind() != reflect.Pointer {
						t.Fatalf("row %d of %s has no %s", n+row, table, field.Name)
					}
					continue
				}
				if cell.Kind() == reflect.Pointer {
					cell.Set(reflect.New(cell.Type().Elem()))
					cell = cell.Elem()
				}
				cell.Set(reflect.ValueOf(arrowCell(t, column, row)).Convert(cell.Type()))
			}
		}
	}
	return list
}

// arrowBatches reads a table in Arrow's format.
func arrowBatches(t *testing.T, name string) iter.Seq[arrow.RecordBatch] {
	return func(yield func(arrow.RecordBatch) bool) {
		t.Helper()
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		r, err := ipc.NewFileReader(f)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for i := range r.NumRecords() {
			batch, err := r.RecordBatchAt(i)
			if err != nil {
				t.Fatal(err)
			}
			if !yield(batch) {
				return
			}
			batch.Release()
		}
	}
}

// arrowCell returns a cell of a column.
func arrowCell(t *testing.T, column arrow.Array, row int) any {
	switch column := column.(type) {
	case *array.Int64:
		return column.Value(row)
	case *array.Timestamp:
		return int64(column.Value(row))
	case *array.Boolean:
		return column.Value(row)
	case *array.String:
		return column.Value(row)
	case *array.LargeString:
		return column.Value(row)
	}
	t.Fatalf("a column has the type %s", column.DataType())
	return nil
}

// show returns what a pointer leads to, as text.
func show[V any](p *V) string {
	if p == nil {
		return "-"
	}
	return fmt.Sprint(*p)
}

// An event is what the format json says of one.
type event struct {
	Time            int64
	Goroutine, Call uint64
	Parent          uint64
	Event, Function string
	Depth           int
	Duration        *int64
	Values          []struct{ Name string }
	Mock            bool
	Note, Text      string
	Wait            *struct {
		Runnable int64
		By       uint64
	}
}

// TestTables compares the tables with what is exported as JSON.
func TestTables(t *testing.T) {
	sources := map[string]*recording.Recording{"made up": viewtest.MadeUp(t)}
	for _, name := range []string{"workers", "parser", "convoy"} {
		r, err := recording.Open("../../../testdata/recordings/" + name)
		if err != nil {
			t.Fatal(err)
		}
		sources[name] = r
	}
	for _, format := range []string{"parquet", "arrow"} {
		for name, r := range sources {
			t.Run(format+"/"+name, func(t *testing.T) { testTables(t, format, name, r) })
		}
	}
}

func testTables(t *testing.T, format, name string, r *recording.Recording) {
	ending := map[string]string{"exit": "return", "panic": "panic", "goexit": "goexit"}
	dir := filepath.Join(t.TempDir(), "tables")
	if err := Named(format).WriteDir(walk.Source{Recording: r}, dir); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Named("json").Write(walk.Source{Recording: r}, &out, 0); err != nil {
		t.Fatal(err)
	}
	var wantCalls, wantWaits, wantLines []string
	entries, parents := map[string]uint64{}, map[uint64]uint64{}
	perGoroutine := map[uint64]uint64{}
	for lines := json.NewDecoder(&out); lines.More(); {
		var e event
		if err := lines.Decode(&e); err != nil {
			t.Fatal(err)
		}
		switch e.Event {
		case "entry":
			entries[e.Function]++
			perGoroutine[e.Goroutine]++
		case "exit", "panic", "goexit":
			wantCalls = append(wantCalls, fmt.Sprint(e.Function, " G", e.Goroutine, " #", e.Call, " depth ", e.Depth, " at ", e.Time, " for ", show(e.Duration), " mock ", e.Mock, " note ", e.Note, " ", ending[e.Event], " values ", e.Event == "exit" && len(e.Values) > 0))
		case "wait":
			runnable := "-"
			if e.Wait.Runnable > 0 {
				runnable = fmt.Sprint(e.Wait.Runnable)
			}
			wantWaits = append(wantWaits, fmt.Sprint(e.Function, " G", e.Goroutine, " for ", show(e.Duration), " runnable ", runnable, " by ", e.Wait.By))
		case "line":
			wantLines = append(wantLines, fmt.Sprint(e.Time, e.Goroutine, e.Text))
		case "goroutine_start":
			parents[e.Goroutine] = e.Parent
		}
	}

	var calls, waits, lines []string
	last, unended := int64(0), 0
	for _, c := range rows[callCells](t, dir, "calls") {
		if c.End == nil {
			unended++
			continue
		}
		if *c.End < last {
			t.Fatalf("a call that ends at %d is after one that ends at %d", *c.End, last)
		}
		last = *c.End
		if c.Duration != nil && (*c.Begin+*c.Duration-*c.End > 1 || *c.Begin+*c.Duration-*c.End < -1 || *c.Self > *c.Duration) { // each is rounded
			t.Errorf("%s: begin %d, duration %d, self %d, end %d", c.Function, *c.Begin, *c.Duration, *c.Self, *c.End)
		}
		for _, values := range []*string{c.Params, c.Results} {
			if values != nil && !json.Valid([]byte(*values)) {
				t.Errorf("%s is no JSON", *values)
			}
		}
		if (c.Panic != nil) != (show(c.Ended) == "panic") {
			t.Errorf("%s ends by %s, and its panic is %s", c.Function, show(c.Ended), show(c.Panic))
		}
		note := ""
		if c.Note != nil {
			note = *c.Note
		}
		calls = append(calls, fmt.Sprint(c.Function, " G", c.Goroutine, " #", c.Call, " depth ", c.Depth, " at ", *c.End, " for ", show(c.Duration), " mock ", c.Mock, " note ", note, " ", show(c.Ended), " values ", c.Results != nil))
	}
	for _, w := range rows[waitCells](t, dir, "waits") {
		by := uint64(0)
		if w.ByGoroutine != nil {
			by = *w.ByGoroutine
		}
		runnable := show(w.Runnable)
		if runnable == "0" {
			runnable = "-"
		}
		waits = append(waits, fmt.Sprint(w.Wait, " G", w.Goroutine, " for ", w.Duration, " runnable ", runnable, " by ", by))
	}
	for _, l := range rows[lineCells](t, dir, "lines") {
		lines = append(lines, fmt.Sprint(l.At, l.Goroutine, l.Text))
	}
	compare(t, "calls", calls, wantCalls)
	compare(t, "waits", waits, wantWaits)
	compare(t, "lines", lines, wantLines)

	begun := uint64(0)
	for _, f := range rows[functionCells](t, dir, "functions") {
		if f.Calls != entries[f.Function] || f.File == "" {
			t.Errorf("%s (%s:%d) was called %d times, want %d", f.Function, f.File, f.Line, f.Calls, entries[f.Function])
		}
		begun += f.Calls
	}
	for _, g := range rows[goroutineCells](t, dir, "goroutines") {
		if g.Calls != perGoroutine[g.Goroutine] || cmp.Or(parents[g.Goroutine], 0) != value(g.Parent) {
			t.Errorf("G%d has %d calls and the parent %s, want %d and %d", g.Goroutine, g.Calls, show(g.Parent), perGoroutine[g.Goroutine], parents[g.Goroutine])
		}
		begun -= g.Calls
	}
	if begun != 0 {
		t.Errorf("functions and goroutines do not have as many calls: %d", int64(begun))
	}
	if name == "made up" && (unended == 0 || len(waits) == 0 || len(lines) == 0) {
		t.Errorf("%d calls have no end, there are %d waits and %d lines", unended, len(waits), len(lines))
	}
}

func value(p *uint64) uint64 {
	if p == nil {
		return 0
	}
	return *p
}

// compare compares rows, whose order is that of the times at which they end.
func compare(t *testing.T, what string, got, want []string) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if slices.Equal(got, want) {
		return
	}
	t.Errorf("%d %s, want %d", len(got), what, len(want))
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("%s: %s\nwant %s", what, got[i], want[i])
		}
	}
}

// TestGroups: rows of several groups are read as they were added, and what failed is said.
func TestGroups(t *testing.T) {
	t.Run("parquet", func(t *testing.T) { testGroups(t, parquetFormat) })
	t.Run("arrow", func(t *testing.T) { testGroups(t, arrowFormat) })
}

func testGroups(t *testing.T, format tableFormat) {
	file := filepath.Join(t.TempDir(), "t")
	columns := []column{{name: "z", kind: number}, {name: "name", kind: name}, {name: "a", kind: maybeNumber}, {name: "text", kind: maybeSentence}, {name: "flag", kind: flag}}
	var known names
	var failed atomic.Bool
	zero, one := known.add("zero"), known.add("one\xff")
	table, err := newTable(format, file, columns, &known, map[string]string{"key": "value"}, &failed)
	if err != nil {
		t.Fatal(err)
	}
	type cells struct {
		Z    int64   `parquet:"z"`
		Name string  `parquet:"name"`
		A    *int64  `parquet:"a"`
		Text *string `parquet:"text"`
		Flag bool    `parquet:"flag"`
	}
	var want []cells
	for i := range int64(3*groupRows + 7) {
		c := cells{Z: i * i, Name: "zero", Flag: i%3 == 0}
		if i%1000 == 1 {
			c.Z = math.MinInt64
		}
		table.add(c.Z)
		switch i % 3 {
		case 0:
			c.Name = "one\uFFFD"
			table.add(one)
		case 1:
			c.Name = "" // there is none where there has to be one
			table.add(none)
		default:
			table.add(zero)
		}
		if i%5 == 0 {
			c.A = &i
		}
		table.numberIf(c.A != nil, i)
		text := fmt.Sprint("text ", i)
		if i%7 == 0 {
			text = ""
		} else {
			c.Text = &text
		}
		table.textOf(text)
		table.flag(c.Flag)
		table.end()
		want = append(want, c)
	}
	if err := table.close(); err != nil {
		t.Fatal(err)
	}
	got := rows[cells](t, filepath.Dir(file), "t")
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for i := range got {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Fatalf("row %d is %+v, want %+v", i, got[i], want[i])
		}
	}

	if _, err := newTable(format, file, columns, &known, nil, &failed); err == nil {
		t.Error("a table takes the place of another")
	}
}

// BenchmarkTables writes a recording's tables.
func BenchmarkTables(b *testing.B) {
	for _, format := range []string{"parquet", "arrow"} {
		b.Run(format, func(b *testing.B) {
			r, events := viewtest.BenchRecording(b)
			dir := b.TempDir()
			i := 0
			for b.Loop() {
				i++
				if err := Named(format).dir(walk.Source{Recording: r}, filepath.Join(dir, fmt.Sprint(i))); err != nil {
					b.Fatal(err)
				}
			}
			viewtest.PerSecond(b, events)
		})
	}
}
