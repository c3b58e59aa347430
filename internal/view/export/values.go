package export

import (
	"bytes"
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
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
	instances   = words.Regexp(`\[[^\]]*\]`)
	receivers   = words.Regexp(`\(\*?([^()]*)\)`)
	unsafeChars = words.Regexp(`[^A-Za-z0-9_.-]`)
	deviceNames = words.Regexp(`(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9])\.`)
)

// file returns the name of a function's file, without suffix: the function's, of characters that
// are safe in names of files, also where names in capital letters are the same, and in patterns.
func (v *values) file(f *recording.Function) string {
	if file, ok := v.files[f.Key]; ok {
		return file
	}
	name := receivers().ReplaceAllString(instances().ReplaceAllString(f.FullName(), ""), "$1")
	name = unsafeChars().ReplaceAllString(strings.ReplaceAll(name, "/", "."), "_")
	name = deviceNames().ReplaceAllString(name, "_$1.")
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
