package export

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

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
