package doubles

import (
	"errors"
	"fmt"
	"go/types"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/kept"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

type statement = kept.Statement[*recording.Datum]

// statementsMax is how many statements become doubles.
const statementsMax = 5000

// statementsName returns the name of the function that returns statements. Files of one package
// have different ones.
func (r *Run) statementsName() string {
	name := strings.TrimPrefix(r.use(), "use")
	if name == "Doubles" {
		return "sqlStatements"
	}
	return strings.ToLower(name[:1]) + name[1:] + "Statements"
}

// A said is a statement of the file.
type said struct {
	of     *statement
	key    string // what was asked
	answer string
	drop   bool
	test   bool // Test is written
	hidden bool
}

// statements returns the function that returns what was said to databases, "" if there is nothing
// to say, and how many statements that has.
func (w *writer) statements(list []*statement) (text string, n int, err error) {
	left := map[string]int{}
	var reasons []string
	leave := func(why string) {
		if left[why]++; left[why] == 1 {
			reasons = append(reasons, why)
		}
	}
	broken := map[string]bool{}
	groups := map[string][]*said{} // by what was asked
	var all []*said
	for _, s := range list {
		w.hidden = false
		key, why := w.asked(s)
		answer := ""
		if why == "" {
			answer, why = w.answered(s)
		}
		if why != "" {
			broken[key] = true
			leave(fmt.Sprintf("%s: %s", shortened(s), why))
			continue
		}
		one := &said{of: s, key: key, answer: answer, hidden: w.hidden}
		all = append(all, one)
		groups[key] = append(groups[key], one)
	}
	for key, group := range groups {
		if broken[key] {
			for _, s := range group {
				s.drop = true
				leave(fmt.Sprintf("%s: another one with the same arguments is left out", shortened(s.of)))
			}
			continue
		}
		if group[0].of.Op != "" {
			distributeOps(group, leave)
		} else {
			distribute(group)
		}
	}
	all = slices.DeleteFunc(all, func(s *said) bool { return s.drop })
	if len(all) > statementsMax {
		leave(fmt.Sprintf("all: %d of them differ, and at most %d are kept", len(all), statementsMax))
		all = nil
	}
	slices.Sort(reasons)
	for _, why := range reasons {
		fmt.Fprintf(w.out, "left out: %s: %s\n", words.Count(left[why], "statement"), why)
	}
	if len(all) == 0 {
		return "", 0, nil
	}
	before := w.b.String()
	w.b.Reset()
	defer func() {
		w.b.Reset()
		w.b.WriteString(before)
	}()
	double := w.Need(sqlDoublePackage, "sqldouble")
	w.p("// %s returns what was said to databases, in the order in which it was.", w.r.statementsName())
	for _, why := range reasons {
		w.p("// Left out: %s: %s.", words.Count(left[why], "statement"), strings.ReplaceAll(why, "\n", " "))
	}
	if slices.ContainsFunc(all, func(s *said) bool { return s.hidden }) {
		w.p("// Secrets are redacted: they are %q, or zero, and as arguments they are not compared.", recording.Hidden)
	}
	w.p("func %s() []%s.Statement {\n\treturn []%s.Statement{", w.r.statementsName(), double, double)
	for _, s := range all {
		test := ""
		if s.test {
			test = fmt.Sprintf("Test: %q,\n", s.of.Test)
		}
		w.p("\t\t{\n%s%s%s\t\t},", test, s.key, s.answer)
	}
	w.p("\t}\n}\n")
	return w.b.String(), len(all), nil
}

// shortened returns a statement for a message.
func shortened(s *statement) string {
	text := strings.Join(strings.Fields(s.Query), " ")
	if s.Op != "" {
		text = strings.TrimSpace(s.Op + " " + text)
	}
	if runes := []rune(text); len(runes) > 60 {
		text = string(runes[:57]) + "..."
	}
	return text
}

// distribute decides which statements of those with the same text and arguments are in the file,
// and for which the test counts: none if all have the same answer, or one test sent all of them.
func distribute(group []*said) {
	differ, tests := false, false
	for _, s := range group {
		differ = differ || s.answer != group[0].answer
		tests = tests || s.of.Test != group[0].of.Test
	}
	for i, s := range group {
		s.drop = !differ && i > 0
		s.test = differ && tests
	}
	for _, own := range byTest(group) {
		dropRepeated(own)
	}
}

// distributeOps is distribute for what is done beside statements. Of that, only what failed is in
// the file, for the test in which it did, with what was done before in that test.
func distributeOps(group []*said, leave func(why string)) {
	for _, own := range byTest(group) {
		failed := 0
		for _, s := range own {
			s.test = s.of.Test != ""
			if s.of.Err != nil {
				failed++
			}
		}
		mixed := own[0].of.Op == "connect" && failed > 0 && failed < len(own)
		if mixed {
			leave("connect: in " + own[0].of.Test + " one connection failed, another did not, and which is which is not known")
		}
		for _, s := range own {
			s.drop = failed == 0 || mixed
		}
		dropRepeated(own)
	}
}

// byTest returns statements by the tests that sent them, subtests with the test in which they are.
func byTest(group []*said) map[string][]*said {
	tests := map[string][]*said{}
	for _, s := range group {
		top, _, _ := strings.Cut(s.of.Test, "/")
		tests[top] = append(tests[top], s)
	}
	return tests
}

// dropRepeated drops answers that are as the last one before: it is given again.
func dropRepeated(list []*said) {
	for i := len(list) - 1; i > 0 && list[i].answer == list[i-1].answer; i-- {
		list[i].drop = true
	}
}

// asked returns the fields that say what was asked.
func (w *writer) asked(s *statement) (fields, why string) {
	var b strings.Builder
	if s.Op != "" {
		fmt.Fprintf(&b, "Op: %s.%s,\n", w.Need(sqlDoublePackage, "sqldouble"), strings.ToUpper(s.Op[:1])+s.Op[1:])
	}
	if s.Query != "" {
		fmt.Fprintf(&b, "Query: %s,\n", readable(s.Query, true))
	}
	if len(s.Args) == 0 {
		return b.String(), ""
	}
	var args []string
	comment := ""
	for i, a := range s.Args {
		text := w.Need(mockPackage, "mock") + ".Any{}"
		if a.Secret {
			w.hidden, comment = true, " // a secret is not compared"
		} else {
			var err error
			if text, err = w.cell(a.Value); err != nil {
				text = "?"
				why = fmt.Sprintf("its argument %d: %v", i+1, err)
			}
		}
		if a.Name != "" {
			text = fmt.Sprintf("%s.Named(%q, %s)", w.Need(sqlPackage, "sql"), a.Name, text)
		}
		args = append(args, text)
	}
	fmt.Fprintf(&b, "Args: []any{%s},%s\n", strings.Join(args, ", "), comment)
	return b.String(), why
}

// answered returns the fields that say what was answered, or why they can't be written.
func (w *writer) answered(s *statement) (fields, why string) {
	if s.Lack != "" {
		return "", s.Lack
	}
	var b strings.Builder
	switch {
	case s.Err != nil:
		w.err(&b, "Err", s.Err)
	case s.Op != "":
	case s.Exec:
		for _, f := range []struct {
			name string
			n    int64
			err  *kept.Error[*recording.Datum]
		}{{"LastInsertID", s.LastInsertID, nil}, {"RowsAffected", s.RowsAffected, nil}, {"NoInsertID", 0, s.NoInsertID}, {"NoAffected", 0, s.NoAffected}} {
			if f.n != 0 {
				fmt.Fprintf(&b, "%s: %d,\n", f.name, f.n)
			}
			w.err(&b, f.name, f.err)
		}
	default:
		for i, set := range s.Sets {
			if i == 1 {
				fmt.Fprintf(&b, "Then: []%s.Set{\n", w.Need(sqlDoublePackage, "sqldouble"))
			}
			if i > 0 {
				b.WriteString("{\n")
			}
			if err := w.set(&b, &set); err != nil {
				return "", err.Error()
			}
			if i > 0 {
				b.WriteString("},\n")
			}
		}
		if len(s.Sets) > 1 {
			b.WriteString("},\n")
		}
	}
	return b.String(), ""
}

// set writes the fields of a result set.
func (w *writer) set(b *strings.Builder, set *kept.Set[*recording.Datum]) error {
	if set.Columns == nil && set.Err != nil {
		w.err(b, "Err", set.Err)
		return nil
	}
	var columns []string
	for _, c := range set.Columns {
		columns = append(columns, strconv.Quote(c))
	}
	fmt.Fprintf(b, "Columns: []string{%s},\n", strings.Join(columns, ", "))
	if len(set.Types) > 0 {
		fmt.Fprintf(b, "Types: []%s.ColumnType{\n", w.Need(sqlDoublePackage, "sqldouble"))
		for _, t := range set.Types {
			fmt.Fprintf(b, "{%s},\n", strings.Join(w.columnFields(&t), ", "))
		}
		b.WriteString("},\n")
	}
	if set.Secret {
		w.hidden = true
	}
	if len(set.Rows) > 0 {
		var rows []string
		for i, row := range set.Rows {
			var cells []string
			for j, d := range row {
				text, err := w.cell(d)
				if err != nil {
					return fmt.Errorf("row %d, column %q: %v", i+1, set.Columns[j], err)
				}
				cells = append(cells, text)
			}
			rows = append(rows, "{"+strings.Join(cells, ", ")+"}")
		}
		if len(rows) == 1 && len(rows[0]) <= lineMax && !strings.Contains(rows[0], "\n") {
			fmt.Fprintf(b, "Rows: [][]any{%s},\n", rows[0])
		} else {
			fmt.Fprintf(b, "Rows: [][]any{\n%s,\n},\n", strings.Join(rows, ",\n"))
		}
	}
	if set.More {
		b.WriteString("More: true,\n")
	}
	w.err(b, "RowsErr", set.Err)
	return nil
}

// columnFields returns the fields of a column's type.
func (w *writer) columnFields(t *kept.ColumnType) (fields []string) {
	if t.Type != "" {
		fields = append(fields, fmt.Sprintf("Type: %q", t.Type))
	}
	if scan, err := w.Type(t.Scan); err == nil {
		fields = append(fields, fmt.Sprintf("Scan: %s.TypeFor[%s]()", w.Need("reflect", "reflect"), scan))
	}
	for _, f := range []struct {
		name string
		n    int64
	}{{"Length", t.Length}, {"Precision", t.Precision}, {"Scale", t.Scale}} {
		if f.n != 0 {
			fields = append(fields, fmt.Sprintf("%s: %d", f.name, f.n))
		}
	}
	for _, f := range []struct {
		name string
		is   bool
	}{{"Nullable", t.Nullable}, {"HasLength", t.HasLength}, {"HasDecimal", t.HasDecimal}, {"HasNullable", t.HasNullable}} {
		if f.is {
			fields = append(fields, f.name+": true")
		}
	}
	return fields
}

// cell returns a value as an expression. Where package mock/sqldouble knows the type, it has none.
func (w *writer) cell(d *recording.Datum) (string, error) {
	if d.Type == nil {
		return "nil", nil
	}
	if d.Type.Secret {
		w.hidden = true
		d = &recording.Datum{Type: d.Type, Text: recording.Hidden}
		if d.Type.Name == "time.Time" {
			d.Text = "0"
		}
	} else if d.Lack != "" {
		return "", errors.New(d.Lack)
	}
	switch d.Type.Name {
	case "int64":
		return strconv.FormatInt(int64(d.Number), 10), nil
	case "float64":
		v := real(d.Float)
		if math.IsNaN(v) || math.IsInf(v, 0) || v == 0 && math.Signbit(v) {
			return "", fmt.Errorf("%v has no literal", v)
		}
		text := strconv.FormatFloat(v, 'g', -1, 64)
		if !strings.ContainsAny(text, ".e") {
			text += ".0"
		}
		return text, nil
	case "string":
		return readable(d.Text, false), nil
	case "[]uint8":
		if d.Nil {
			return "[]byte(nil)", nil
		}
		return "[]byte(" + readable(d.Text, false) + ")", nil
	}
	plain := *d.Type
	plain.Secret = false
	named := *d
	named.Type = &plain
	if d.Type.Secret && plain.Kind == reflect.Interface {
		return "", errors.New("it is hidden, and its type can't be written")
	}
	text, _, err := w.Literal(types.NewInterfaceType(nil, nil), &named, false)
	return text, err
}

// readable returns a text as a literal that shows quotes, and lines if these matter, as they are.
func readable(s string, lines bool) string {
	shown := s
	if lines {
		shown = strings.ReplaceAll(s, "\n", "")
	}
	if strings.ContainsAny(s, "\"\n") && strconv.CanBackquote(shown) {
		return "`" + s + "`"
	}
	return strconv.Quote(s)
}

// err writes a field with an error, if there is one. Of an error that can't be built the text is
// kept.
func (w *writer) err(b *strings.Builder, field string, e *kept.Error[*recording.Datum]) {
	if e == nil {
		return
	}
	text, _, err := w.Literal(types.Universe.Lookup("error").Type(), e.Value, true)
	comment := ""
	if err != nil || text == "nil" {
		text = fmt.Sprintf("%s.New(%s)", w.Need("errors", "errors"), readable(e.Text, false))
		comment = fmt.Sprintf(" // of a %s the text is kept", e.Type)
	}
	fmt.Fprintf(b, "%s: %s,%s\n", field, text, comment)
}
