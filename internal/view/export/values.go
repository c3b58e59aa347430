package export

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// The directory values has a table for each function of which there are values, with a row for each
// call that has some. Parameters and results are nested columns there. Which types they have is
// known from the layouts of the records. So rows are kept as they were recorded until there are
// many, and are taken apart as they are encoded, by another goroutine than that which reads calls.

// valuesDir is the name of the directory.
const valuesDir = "values"

const (
	valuesMost  = 128 << 20 // bytes of rows that are kept, of all functions
	valuesParts = 500       // that a value has at most as columns
)

// valueColumns are those of all these tables. Nested ones follow.
var valueColumns = []column{
	{name: "time", kind: moment}, {name: "goroutine", kind: number}, {name: "call", kind: number},
	{name: "begin", kind: maybeNumber}, {name: "end", kind: maybeNumber}, {name: "duration", kind: maybeNumber}, {name: "self", kind: maybeNumber},
	{name: "ended", kind: maybeName}, {name: "error", kind: maybeSentence}, {name: "incomplete", kind: maybeSentence},
}

// valueSets are the nested columns: the sets of values that a call may have.
var valueSets = [...]string{"params", "after", "results"}

// values are the tables of values.
type values struct {
	x       *columnar
	tables  map[uint32]*valuesTable
	files   map[uint32]string   // names by function, without suffix
	used    map[string]struct{} // these names, in lower case
	size    int                 // bytes of the rows that are kept
	running chan struct{}       // one for each group that is being encoded
}

// A valuesTable is that of a function.
type valuesTable struct {
	function *recording.Function
	file     string // its name, without suffix
	rows     *group // that are kept
	layouts  [len(valueSets)][]uint32
	sets     [len(valueSets)][]recording.Shape // set once the table is open
	columns  []column
	table    *table // nil: nothing is written yet
}

// rawValues are values of rows, as they were recorded.
type rawValues struct {
	of   *valuesTable
	r    *recording.Recording
	data []byte
	sets [][len(valueSets)]rawSet // by row
}

// A rawSet is a set of values: its layout, 0 if there is none, and where in the data it ends.
type rawSet struct{ layout, end uint32 }

// A nestedValue is one of a nested column, or a part of one.
type nestedValue struct {
	there  bool
	number int64
	text   []byte
	parts  []nestedValue
}

// part returns a field's value.
func (v *nestedValue) part(i int) *nestedValue {
	if !v.there || i >= len(v.parts) {
		return &nestedValue{}
	}
	return &v.parts[i]
}

// newValues returns no tables yet. Their names are those that they have with any recording of the
// program.
func newValues(x *columnar) *values {
	v := &values{x: x, tables: map[uint32]*valuesTable{}, files: map[uint32]string{}, used: map[string]struct{}{}, running: make(chan struct{}, runtime.GOMAXPROCS(0)+1)}
	for _, f := range x.r.Functions() {
		if !f.Probe && !f.Wait {
			v.file(f)
		}
	}
	return v
}

var (
	instances   = regexp.MustCompile(`\[[^\]]*\]`)
	receivers   = regexp.MustCompile(`\(\*?([^()]*)\)`)
	unsafeChars = regexp.MustCompile(`[^A-Za-z0-9_.-]`)
	deviceNames = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9])\.`)
)

// file returns the name of a function's file, without suffix: the function's, of characters that
// are safe in names of files, also where names in capital letters are the same, and in patterns.
func (v *values) file(f *recording.Function) string {
	if file, ok := v.files[f.Key]; ok {
		return file
	}
	name := receivers.ReplaceAllString(instances.ReplaceAllString(f.FullName(), ""), "$1")
	name = unsafeChars.ReplaceAllString(strings.ReplaceAll(name, "/", "."), "_")
	name = deviceNames.ReplaceAllString(name, "_$1.")
	const longest = 200
	name = name[max(0, len(name)-longest):]
	file := name
	for n := 2; ; n++ {
		if _, taken := v.used[strings.ToLower(file)]; !taken {
			break
		}
		file = name + "-" + strconv.Itoa(n)
	}
	v.used[strings.ToLower(file)], v.files[f.Key] = struct{}{}, file
	return file
}

// fileOf returns the name of a function's file in the export, "" if there is none.
func (v *values) fileOf(function uint32) string {
	t := v.tables[function]
	if t == nil {
		return ""
	}
	return valuesDir + "/" + t.file + v.x.format.suffix
}

// add adds a row: cells of the first valueColumns, the error, and the values as recorded.
func (v *values) add(function uint32, cells [8]int64, failure []byte, sets *rawEvents) {
	t := v.tables[function]
	if t == nil {
		t = &valuesTable{function: v.x.r.Function(function)}
		v.tables[function], t.file = t, v.file(t.function)
	}
	if t.rows == nil {
		t.rows = &group{values: &rawValues{of: t, r: v.x.r}}
	}
	g, raw := t.rows, t.rows.values
	before, made := g.size(), [len(valueSets)]rawSet{}
	for i := range sets {
		s := &sets[i]
		if s.layout != 0 && !slices.Contains(t.layouts[i], s.layout) {
			t.layouts[i] = append(t.layouts[i], s.layout)
		}
		raw.data = append(raw.data, s.data...)
		made[i] = rawSet{s.layout, uint32(len(raw.data))}
	}
	raw.sets = append(raw.sets, made)
	failed := int64(none)
	if failure != nil {
		g.texts = append(g.texts, validBytes(failure))
		failed = int64(len(g.texts))
	}
	g.cells = append(append(g.cells, cells[:]...), failed, none)
	if v.size += g.size() - before; len(raw.sets) == groupRows {
		v.write(t)
	}
	if v.size > valuesMost {
		v.relieve()
	}
}

// rawEvents are the values of a call, as recorded.
type rawEvents [len(valueSets)]struct {
	layout uint32 // 0: there are none
	data   []byte
}

// with returns the values of a call with a set that an event has.
func (all *rawEvents) with(set int, e *recording.Event) *rawEvents {
	if e.Layout == 0 {
		return all
	}
	if all == nil {
		all = &rawEvents{}
	}
	all[set].layout, all[set].data = e.Layout, bytes.Clone(e.Data)
	return all
}

// size returns about how many bytes a group that is kept has.
func (g *group) size() int {
	return 8*len(g.cells) + len(g.values.data) + 24*len(g.values.sets) + 100*len(g.texts)
}

// relieve writes the rows of the functions that have most of them, until half of the bytes are
// left.
func (v *values) relieve() {
	var full []*valuesTable
	for _, t := range v.tables {
		if t.rows != nil {
			full = append(full, t)
		}
	}
	slices.SortFunc(full, func(a, b *valuesTable) int { return cmp.Compare(b.rows.size(), a.rows.size()) })
	for _, t := range full {
		if v.size <= valuesMost/2 {
			return
		}
		v.write(t)
	}
}

// write begins to write the rows that are kept of a function.
func (v *values) write(t *valuesTable) {
	v.size -= t.rows.size()
	if err := v.encode(t); err != nil {
		v.x.failure = cmp.Or(v.x.failure, err)
		v.x.failed.Store(true)
	}
}

// encode begins to write the rows that are kept of a function, once not too many are on their way.
func (v *values) encode(t *valuesTable) error {
	g := t.rows
	t.rows = nil
	if t.table == nil {
		if err := v.open(t); err != nil {
			return err
		}
	}
	g.columns, g.to = t.columns, t.table.to.group()
	v.running <- struct{}{}
	t.table.write(g, func() { <-v.running })
	return nil
}

// open opens the table of a function, with columns for the layouts that there are so far.
func (v *values) open(t *valuesTable) (err error) {
	t.columns = slices.Clone(valueColumns)
	for i, name := range valueSets {
		for _, layout := range t.layouts[i] {
			t.sets[i] = merge(t.sets[i], named(v.x.r.Shape(layout, t.names(i), valuesParts)))
		}
		t.sets[i] = slices.DeleteFunc(t.sets[i], func(s recording.Shape) bool { return s.Kind == recording.ShapeNone })
		if len(t.sets[i]) > 0 {
			t.columns = append(t.columns, column{name: name, kind: maybe | structure, fields: columnsOf(t.sets[i])})
		}
	}
	dir := filepath.Join(v.x.dir, valuesDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	t.table, err = newTable(v.x.format, filepath.Join(dir, t.file), t.columns, &v.x.names, v.x.said, &v.x.failed)
	return err
}

// close writes what is left. Tables of which nothing is written yet are open one at a time on each
// processor.
func (v *values) close() error {
	var (
		all    = slices.SortedFunc(maps.Values(v.tables), func(a, b *valuesTable) int { return cmp.Compare(a.function.Key, b.function.Key) })
		failed = make([]error, len(all))
		next   atomic.Int64
		done   sync.WaitGroup
	)
	for range cap(v.running) {
		done.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(all); i = int(next.Add(1)) - 1 {
				t := all[i]
				if t.rows != nil && !v.x.failed.Load() {
					failed[i] = v.encode(t)
				}
				if t.table != nil {
					failed[i] = cmp.Or(t.table.close(), failed[i])
				}
				if failed[i] != nil {
					v.x.failed.Store(true)
				}
			}
		})
	}
	done.Wait()
	return cmp.Or(failed...)
}

// named gives names to values: their own, or their places if they have none or share it with an
// earlier one. Names that differ only in case are one to DuckDB, and ClickHouse takes what is
// before a dot, as paths of capture= have it, for the name of another column.
func named(shapes []recording.Shape) []recording.Shape {
	for i := range shapes {
		s := &shapes[i]
		s.Name = strings.ReplaceAll(s.Name, ".", "_")
		if s.Name == "" || slices.ContainsFunc(shapes[:i], func(other recording.Shape) bool { return strings.EqualFold(other.Name, s.Name) }) {
			s.Name += strconv.Itoa(i)
		}
		if s.Kind != recording.ShapeList {
			named(s.Parts)
		}
	}
	return shapes
}

// merge returns the shapes of values, by name, that records of other layouts have as well. A value
// of several types is of any.
func merge(all, others []recording.Shape) []recording.Shape {
	for _, s := range others {
		i := slices.IndexFunc(all, func(other recording.Shape) bool { return other.Name == s.Name })
		switch {
		case i < 0:
			all = append(all, s)
		case all[i].Kind == recording.ShapeNone:
			all[i] = s
		case !fits(&s, &all[i]):
			all[i] = recording.Shape{Kind: recording.ShapeAny, Name: s.Name}
		}
	}
	return all
}

// fits reports whether values of a shape can be in a column for others.
func fits(s, column *recording.Shape) bool {
	at := *s
	at.Place = column.Place
	return s.Kind == recording.ShapeNone || column.Kind == recording.ShapeAny || reflect.DeepEqual(at, *column)
}

// columnsOf returns the columns for values.
func columnsOf(shapes []recording.Shape) (columns []column) {
	for _, s := range shapes {
		c := column{name: s.Name, kind: maybe | shapeKinds[s.Kind]}
		switch s.Kind {
		case recording.ShapeAny:
			c.fields = []column{{name: "type", kind: maybeName}, {name: "value", kind: maybeSentence}}
		case recording.ShapeComplex:
			c.fields = []column{{name: "real", kind: maybe | floating}, {name: "imag", kind: maybe | floating}}
		case recording.ShapeList:
			c.fields = columnsOf([]recording.Shape{s.Parts[0]})
			c.fields[0].name = "element"
		case recording.ShapeStruct:
			c.fields = columnsOf(s.Parts)
		}
		columns = append(columns, c)
	}
	return columns
}

// shapeKinds are the kinds of columns for values.
var shapeKinds = [...]kind{
	recording.ShapeAny: structure, recording.ShapeBool: flag, recording.ShapeInt: number, recording.ShapeUint: unsigned,
	recording.ShapeNamed: name, recording.ShapeLength: number, recording.ShapeAddress: sentence, recording.ShapeFunc: name,
	recording.ShapeFloat: floating, recording.ShapeComplex: structure, recording.ShapeString: sentence, recording.ShapeBytes: octets,
	recording.ShapeText: sentence, recording.ShapeTime: moment, recording.ShapeStruct: structure, recording.ShapeList: list,
}

// A rowTaker takes the values of rows apart. It is for one goroutine.
type rowTaker struct {
	g       *group
	printer *recording.Printer // of what is incomplete
	plans   map[plannedSet]*setPlan
}

type plannedSet struct {
	set    int
	layout uint32
}

// A setPlan says which of the values of a layout belong into which fields of a nested column.
type setPlan struct {
	places []int // by field; -1: none
	whole  bool  // all values have a field
}

// taker returns what takes the rows of a group apart.
func (g *group) taker() *rowTaker {
	t := &rowTaker{g: g, plans: map[plannedSet]*setPlan{}}
	if g.values != nil {
		t.printer = g.values.r.Printer(recording.DefaultFormat)
	}
	return t
}

// take returns the values of n rows, from one on, for each nested column of the table. It adds a
// cell of what is incomplete.
func (t *rowTaker) take(from, n int) (columns [][]nestedValue) {
	raw := t.g.values
	if raw == nil {
		return nil
	}
	at := [len(valueSets)]int{}
	for i, fields := range raw.of.sets {
		if at[i] = -1; len(fields) > 0 {
			at[i] = len(columns)
			columns = append(columns, make([]nestedValue, n))
		}
	}
	for row := range n {
		begin, incomplete := uint32(0), []byte(nil)
		if from+row > 0 {
			begin = raw.sets[from+row-1][len(valueSets)-1].end
		}
		for i, set := range raw.sets[from+row] {
			e := recording.Event{Layout: set.layout, Data: raw.data[begin:set.end]}
			begin = set.end
			if set.layout == 0 {
				continue
			}
			plan, v := t.plan(i, set.layout), nestedValue{}
			whole := plan.whole
			if at[i] >= 0 {
				whole = fieldsOf(raw.of.sets[i], plan.places, t.printer.AllData(&e), &v) && whole
				columns[at[i]][row] = v
			}
			if !whole {
				incomplete = append(incomplete, fmt.Sprintf(`%c"%s":`, "{,"[min(len(incomplete), 1)], valueSets[i])...)
				incomplete = recording.AppendJSON(incomplete, t.printer.Structured(&e, raw.of.names(i)))
			}
		}
		if incomplete != nil {
			t.g.texts = append(t.g.texts, validBytes(append(incomplete, '}')))
			t.g.cells[(from+row+1)*len(valueColumns)-1] = int64(len(t.g.texts))
		}
	}
	return columns
}

// names returns the names of a set of values of the function.
func (t *valuesTable) names(set int) []recording.Param {
	if valueSets[set] == "results" {
		return t.function.Results
	}
	return t.function.Params
}

// plan returns how values of a layout are put into a nested column.
func (t *rowTaker) plan(set int, layout uint32) *setPlan {
	plan := t.plans[plannedSet{set, layout}]
	if plan != nil {
		return plan
	}
	of := t.g.values.of
	plan = &setPlan{whole: true}
	for range of.sets[set] {
		plan.places = append(plan.places, -1)
	}
	for _, s := range named(t.g.values.r.Shape(layout, of.names(set), valuesParts)) {
		i := slices.IndexFunc(of.sets[set], func(field recording.Shape) bool { return field.Name == s.Name })
		switch {
		case s.Kind == recording.ShapeNone:
		case i < 0 || !fits(&s, &of.sets[set][i]):
			plan.whole = false
		default:
			plan.places[i] = s.Place
		}
	}
	t.plans[plannedSet{set, layout}] = plan
	return plan
}

// fieldsOf sets a value to fields, whose data are at these places. It reports whether all that was
// recorded of them is there.
func fieldsOf(fields []recording.Shape, places []int, data []*recording.Datum, v *nestedValue) (whole bool) {
	v.there, v.parts, whole = true, make([]nestedValue, len(fields)), true
	for i := range fields {
		if places[i] >= 0 && places[i] < len(data) {
			whole = valueOf(&fields[i], data[places[i]], &v.parts[i]) && whole
		}
	}
	return whole
}

// valueOf sets a value to what was recorded of it. It reports whether that is all. What is not
// whole is not there, or some of its parts are not.
func valueOf(s *recording.Shape, d *recording.Datum, v *nestedValue) (whole bool) {
	if s.Kind == recording.ShapeAny {
		return anyValue(d, v)
	}
	if s.Pointer && !d.Nil {
		if len(d.Parts) == 0 {
			return false
		}
		d = d.Parts[0]
	}
	switch s.Kind {
	case recording.ShapeAddress, recording.ShapeFunc, recording.ShapeLength, recording.ShapeText, recording.ShapeTime:
		whole = d.Lack != recording.LackRoom // else there is never more
	default:
		whole = d.Lack == ""
	}
	if v.there = whole && !d.Nil; !v.there {
		return whole
	}
	v.number, v.text = int64(d.Number), []byte(d.Text)
	switch s.Kind {
	case recording.ShapeNamed:
		v.text = []byte(cmp.Or(d.Type.Names[v.number], integer(d)))
	case recording.ShapeAddress:
		v.text = []byte(address(d))
	case recording.ShapeFunc:
		v.text = []byte(cmp.Or(d.Text, address(d)))
	case recording.ShapeFloat:
		v.number = int64(math.Float64bits(float(d)))
	case recording.ShapeComplex:
		v.parts = []nestedValue{
			{there: true, number: int64(math.Float64bits(real(d.Float)))}, {there: true, number: int64(math.Float64bits(imag(d.Float)))},
		}
	case recording.ShapeString, recording.ShapeText:
		v.text = validBytes(v.text)
	case recording.ShapeTime:
		t, err := time.Parse(time.RFC3339Nano, d.Text)
		if v.there = err == nil; !v.there {
			return false
		}
		v.number = t.UnixMicro()
	case recording.ShapeStruct:
		v.parts = make([]nestedValue, len(s.Parts))
		for i := range s.Parts {
			whole = s.Parts[i].Place < len(d.Parts) && valueOf(&s.Parts[i], d.Parts[s.Parts[i].Place], &v.parts[i]) && whole
		}
	case recording.ShapeList:
		v.parts = make([]nestedValue, len(d.Parts))
		for i := range d.Parts {
			whole = valueOf(&s.Parts[0], d.Parts[i], &v.parts[i]) && whole
		}
	}
	return whole
}

// float returns a floating-point number: of 32 bits the one that has the same decimal digits.
func float(d *recording.Datum) float64 {
	f := real(d.Float)
	if d.Type.Kind == reflect.Float32 {
		f, _ = strconv.ParseFloat(strconv.FormatFloat(f, 'g', -1, 32), 64)
	}
	return f
}

// anyValue sets a value of any type: its type, and itself as JSON.
func anyValue(d *recording.Datum, v *nestedValue) (whole bool) {
	d = within(d)
	if v.there = d.Type != nil && (d.Type.Kind != reflect.Interface || !d.Nil); !v.there {
		return d.Nil
	}
	v.parts = make([]nestedValue, 2)
	v.parts[0] = nestedValue{there: true, text: []byte(d.Type.Name)}
	text, whole := appendDatum(nil, d)
	if whole {
		v.parts[1] = nestedValue{there: true, text: text}
	}
	return whole
}

// appendDatum appends a value as JSON. It reports whether that is all that recordings have of such
// values.
func appendDatum(b []byte, d *recording.Datum) (_ []byte, whole bool) {
	d = within(d)
	if d.Nil || d.Type == nil {
		return append(b, "null"...), d.Nil && d.Lack == ""
	}
	t, whole := d.Type, true
	switch k := t.Kind; {
	case t.Secret:
		return appendString(b, recording.Hidden), true
	case d.Lack == recording.LackLevel:
		return append(b, "null"...), true
	case d.HasMessage:
		return appendString(b, d.Message), true
	case d.Lack == recording.LackRoom:
		return append(b, "null"...), false
	case t.Text && len(d.Parts) == 0:
		return appendString(b, d.Text), true
	case k == reflect.Pointer && len(d.Parts) == 1:
		return appendDatum(b, d.Parts[0])
	case k == reflect.Pointer || k == reflect.UnsafePointer:
		return appendString(b, address(d)), true
	case k == reflect.Func:
		return appendString(b, cmp.Or(d.Text, address(d))), true
	case k == reflect.Map || k == reflect.Chan:
		return strconv.AppendUint(b, d.Number, 10), true
	case d.Lack != "":
		return append(b, "null"...), false
	case k == reflect.Bool:
		return strconv.AppendBool(b, d.Number != 0), true
	case k >= reflect.Int && k <= reflect.Uintptr:
		if name := t.Names[int64(d.Number)]; name != "" {
			return appendString(b, name), true
		}
		return append(b, integer(d)...), true
	case k == reflect.Float32 || k == reflect.Float64:
		return appendFloat(b, real(d.Float), int(8*t.Size)), true
	case k == reflect.Complex64 || k == reflect.Complex128:
		b = appendFloat(append(b, '['), real(d.Float), int(4*t.Size))
		return append(appendFloat(append(b, ','), imag(d.Float), int(4*t.Size)), ']'), true
	case k == reflect.Struct:
		b = append(b, '{')
		for i, part := range d.Parts {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, t.Fields[i].Name), ':')
			var all bool
			b, all = appendDatum(b, part)
			whole = whole && all
		}
		return append(b, '}'), whole
	case k == reflect.Slice && d.Parts == nil, k == reflect.String:
		return appendString(b, d.Text), true
	}
	b = append(b, '[')
	for i, part := range d.Parts {
		if i > 0 {
			b = append(b, ',')
		}
		var all bool
		b, all = appendDatum(b, part)
		whole = whole && all
	}
	return append(b, ']'), whole
}

// address returns an address as traces have it.
func address(d *recording.Datum) string { return "0x" + strconv.FormatUint(d.Number, 16) }

// integer returns an integer.
func integer(d *recording.Datum) string {
	if d.Type.Kind <= reflect.Int64 {
		return strconv.FormatInt(int64(d.Number), 10)
	}
	return strconv.FormatUint(d.Number, 10)
}

// appendFloat appends a number of so many bits as JSON, or text if JSON has no such number.
func appendFloat(b []byte, f float64, bits int) []byte {
	text := strconv.FormatFloat(f, 'g', -1, bits)
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return strconv.AppendQuote(b, text)
	}
	return append(b, text...)
}

// appendString appends text as JSON.
func appendString(b []byte, text string) []byte {
	to := bytes.NewBuffer(b)
	enc := json.NewEncoder(to)
	enc.SetEscapeHTML(false)
	enc.Encode(text) // it can't fail
	return bytes.TrimSuffix(to.Bytes(), []byte("\n"))
}
