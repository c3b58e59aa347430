package source

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
)

// copied returns a copy of one of testdata's recordings, as a source.
func copied(t *testing.T, name string) *recorded {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(testenv.Root(t), "testdata", "recordings", name))); err != nil {
		t.Fatal(err)
	}
	s, err := OpenRecording(dir, RecordingOptions{Keep: true})
	if err != nil {
		t.Fatal(err)
	}
	return s.(*recorded)
}

// told returns all that a snapshot tells, that of its functions included.
func told(t *testing.T, s *Snapshot) map[string]string {
	objects := map[uint64]bool{}
	for _, w := range s.LongWaits {
		objects[w.Object] = true
	}
	for _, sum := range s.ByInstance() {
		objects[sum.Object] = true
	}
	var show func(b *strings.Builder, v reflect.Value)
	show = func(b *strings.Builder, v reflect.Value) {
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				if f := v.Type().Field(i); f.IsExported() && f.Type != reflect.TypeFor[time.Time]() {
					b.WriteString(f.Name + ":")
					show(b, v.Field(i))
				}
			}
		case reflect.Slice, reflect.Array:
			for i := range v.Len() {
				b.WriteString("\n")
				show(b, v.Index(i))
			}
		case reflect.Pointer:
			if !v.IsNil() {
				show(b, v.Elem())
			}
		case reflect.Func:
			switch {
			case v.IsNil():
				b.WriteString("nil")
			case v.Type().NumIn() == 0:
				for _, of := range v.Call(nil) {
					show(b, of)
				}
			default:
				for _, object := range slices.Sorted(maps.Keys(objects)) {
					show(b, v.Call([]reflect.Value{reflect.ValueOf(object)})[0])
				}
			}
		default:
			fmt.Fprintf(b, "%v ", v)
		}
	}
	all := map[string]string{}
	for i, v := 0, reflect.ValueOf(s).Elem(); i < v.NumField(); i++ {
		if f := v.Type().Field(i); f.IsExported() {
			var b strings.Builder
			show(&b, v.Field(i))
			all[f.Name] = b.String()
		}
	}
	return all
}

// TestKeptPass: what is kept of a recording is all that was found out, whatever table it is for.
func TestKeptPass(t *testing.T) {
	for _, name := range []string{"books", "convoy", "parser", "workers"} {
		s := copied(t, name)
		key, size, err := s.key()
		if err != nil {
			t.Fatal(err)
		}
		p, err := passThrough(s.r, s.options)
		if err != nil {
			t.Fatal(err)
		}
		s.snap = p.snapshot()
		s.once.Do(func() {})
		file := filepath.Join(s.r.Dir, keptFile)
		if err := p.keep(s.snap, file, key, 1); err != errLarge {
			t.Errorf("of 1 byte: %v", err)
		}
		if err := p.keep(s.snap, file, key, 100*size); err != nil {
			t.Fatal(err)
		}
		if again, _, err := s.key(); err != nil || again != key {
			t.Errorf("the file is a part of the key: %v", err)
		}
		kept := copied(t, name)
		kept.r.Dir = s.r.Dir
		if kept.snap, err = kept.restore(file, key, 100*size); err != nil {
			t.Fatal(err)
		}
		kept.once.Do(func() {})
		want, got := told(t, s.snap), told(t, kept.snap)
		for part := range want {
			if want[part] != got[part] {
				t.Errorf("%s, %s:\n%s\nkept:\n%s", name, part, want[part], got[part])
			}
		}
		if len(want) < 25 || want["Long"] == "" || want["Functions"] == "" || want["ByCaller"] == "" {
			t.Errorf("%s: %d parts", name, len(want))
		}

		// What is not as it should be is not used.
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for what, b := range map[string][]byte{"cut": whole[:len(whole)-1], "empty": nil, "longer": append(slices.Clone(whole), 0), "other": append(slices.Clone(whole[:len(whole)-1]), whole[len(whole)-1]^1)} {
			if err := os.WriteFile(file, b, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := kept.restore(file, key, 100*size); err == nil {
				t.Errorf("%s: it is used", what)
			}
		}
		if err := os.WriteFile(file, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := kept.restore(file, key, int64(len(whole))/2); err == nil {
			t.Error("it is used though it is too large")
		}
		other := &recorded{r: s.r, options: s.options}
		other.options.History = 3
		if again, _, err := other.key(); err != nil || again == key {
			t.Errorf("other options have the same key: %v", err)
		}
	}
}

// TestKeptPassFields: package gob leaves out what is not exported, and functions.
func TestKeptPassFields(t *testing.T) {
	functions := map[string]bool{}
	seen := map[reflect.Type]bool{}
	var look func(reflect.Type)
	look = func(of reflect.Type) {
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array:
			look(of.Elem())
		case reflect.Map:
			look(of.Key())
			look(of.Elem())
		case reflect.Interface, reflect.Chan:
			t.Errorf("%v can't be kept", of)
		case reflect.Struct:
			if seen[of] || of.PkgPath() == "time" {
				return
			}
			seen[of] = true
			for i := range of.NumField() {
				f := of.Field(i)
				switch {
				case f.Type.Kind() == reflect.Func:
					functions[of.Name()+"."+f.Name] = true
				case !f.IsExported() && of != reflect.TypeFor[Snapshot]():
					t.Errorf("%v.%s would be lost", of, f.Name)
				case f.IsExported():
					look(f.Type)
				}
			}
		}
	}
	look(reflect.TypeFor[keptPass]())
	want := []string{"Call.Values", "Snapshot.ByCaller", "Snapshot.ByInstance", "Snapshot.ByThread", "Snapshot.File", "Snapshot.FileName", "Snapshot.Held", "Snapshot.Locks", "Snapshot.Memory", "Snapshot.Name", "Snapshot.Statements", "Snapshot.States", "Span.Args"}
	if got := slices.Sorted(maps.Keys(functions)); !slices.Equal(got, want) {
		t.Errorf("functions %q, want %q: snapshot gives what they return", got, want)
	}
}
