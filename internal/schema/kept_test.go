package schema

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

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

// tablesOf returns the rows of all tables of a source.
func tablesOf(t *testing.T, source Source) map[string]string {
	s := open(t, source)
	all := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(performanceTables)) {
		if name == "global_status" || name == "session_status" { // of this server
			continue
		}
		all[name] = ask(t, s, "SELECT * FROM "+name)
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
		p := newPass(s.r, s.options)
		if s.snap, err = p.run(); err != nil {
			t.Fatal(err)
		}
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
		want, got := tablesOf(t, s), tablesOf(t, kept)
		for table := range want {
			if want[table] != got[table] {
				t.Errorf("%s, %s:\n%s\nkept:\n%s", name, table, want[table], got[table])
			}
		}
		if len(want) < 50 || want["events_calls_history_long"] == "" || want["setup_instruments"] == "" {
			t.Errorf("%s: %d tables", name, len(want))
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
