package recording

import (
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// TestFind finds each value of each event by its number and by its name, and compares it with what
// is printed.
func TestFind(t *testing.T) {
	compared := map[FoundKind]int{}
	for _, name := range []string{"parser", "workers"} {
		r := open(t, "../../testdata/recordings/"+name)
		s := r.Events(Window{})
		defer s.Close()
		finder, printer := r.Printer(DefaultFormat), r.Printer(DefaultFormat)
		var e Event
		for s.Next(&e) {
			if e.Layout == 0 || e.Kind != EntryArgs && e.Kind != ExitResults {
				continue
			}
			f := r.Function(e.Function)
			names := f.Params
			if e.Kind == ExitResults {
				names = f.Results
			}
			for i, v := range printer.Values(&e, names) {
				path := Path{Value: i, Results: e.Kind == ExitResults}
				found := finder.Find(&e, f, &path)
				compareFound(t, f, &path, found, v.Text)
				compared[found.Kind]++
				if n, ok := path.Int(&e); ok && (found.Kind == Int || found.Kind == Uint) && uint64(n) != found.Number {
					t.Errorf("%s: %v: %d, and %d easily", f.FullName(), &path, found.Number, n)
				}
				if i < len(names) && names[i].Name != "" && names[i].Name != "_" {
					byName := Path{Name: names[i].Name, Results: path.Results}
					if again := finder.Find(&e, f, &byName); again.Kind != found.Kind || again.Number != found.Number {
						t.Errorf("%s: %v is %v, by name %v", f.FullName(), &path, found, again)
					}
				}
			}
			if missing := finder.Find(&e, f, &Path{Name: "no such name"}); missing.Kind != Missing || !strings.Contains(missing.Why, "has no parameter") {
				t.Errorf("%s: %v", f.FullName(), missing)
			}
		}
	}
	for _, kind := range []FoundKind{Int, Text, Nil, Other, Address} {
		if compared[kind] == 0 {
			t.Errorf("no value of kind %d in the recordings", kind)
		}
	}
}

// compareFound compares a value with its text.
func compareFound(t *testing.T, f *Function, path *Path, found Found, text string) {
	t.Helper()
	want := text
	switch found.Kind {
	case Int:
		if _, err := strconv.Atoi(text); err != nil {
			return // such as a time.Duration
		}
		want = strconv.FormatInt(int64(found.Number), 10)
	case Uint:
		want = strconv.FormatUint(found.Number, 10)
	case Bool:
		want = strconv.FormatBool(found.Number != 0)
	case Text:
		if found.Len == int64(len(found.Text)) && !strings.HasPrefix(text, "b") {
			want = strconv.Quote(string(found.Text))
		}
	case Nil:
		want = "nil"
	case Address:
		want = "0x" + strconv.FormatUint(found.Number, 16)
		text = text[strings.LastIndexByte(text, '(')+1:]
		text = strings.TrimSuffix(text, ")")
	case Missing:
		t.Errorf("%s: %v is %s, and was not found: %s", f.FullName(), path, text, found.Why)
	}
	if want != text && !strings.Contains(text, "(") {
		t.Errorf("%s: %v is %s, and was found to be %s", f.FullName(), path, text, want)
	}
}

// findAll looks for values of e that are there, and for some that are not.
func findAll(r *Recording, e *Event) {
	l := r.layout(e.Layout)
	if l == nil {
		return
	}
	p, f := r.Printer(DefaultFormat), r.Function(e.Function)
	for i, n := range l.Types {
		paths := []*Path{{Value: i}, {Value: -1 - i, Results: true}, {Value: i, Fields: []string{"x", "y"}}}
		if t := r.typ(n); t != nil && t.Kind == reflect.Pointer {
			t = r.typ(t.Elem)
			for j := 0; t != nil && j < len(t.Fields); j++ {
				paths = append(paths, &Path{Value: i, Fields: []string{t.Fields[j].Name}})
			}
		}
		for _, path := range paths {
			p.Find(e, f, path)
			p.Find(e, f, path)
			path.Int(e)
		}
	}
}
