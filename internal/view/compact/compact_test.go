package compact

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/viewtest"
)

func open(t *testing.T, dir string) *recording.Recording {
	t.Helper()
	r, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// family is a recording with one within it, and with files that are no part of either. Its name has
// all that a pattern of files could mean something else by.
func family(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), `a[b]*\?`)
	viewtest.Copy(t, "workers", dir)
	viewtest.Copy(t, "parser", filepath.Join(dir, "77"))
	for _, name := range []string{"notes.txt", "77/notes.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestMake: what is compact says the same, and takes the place of what was there, or leaves that as
// it is.
func TestMake(t *testing.T) {
	for _, c := range []struct {
		name    string
		inPlace bool
	}{{"in place", true}, {"to another directory", false}} {
		t.Run(c.name, func(t *testing.T) {
			dir := family(t)
			files, outer, inner := viewtest.Files(t, dir), viewtest.Events(t, dir), viewtest.Events(t, filepath.Join(dir, "77"))
			size := int64(0)
			for _, data := range files {
				size += int64(len(data))
			}
			var warned strings.Builder
			read, o, to := int64(0), Options{Warn: &warned}, dir
			o.Progress = func(all int64, done func() int64) func() {
				if all != size {
					t.Errorf("%d bytes are to be read, not %d", all, size)
				}
				return func() { read = done() }
			}
			if !c.inPlace {
				to = filepath.Join(t.TempDir(), "made")
				o.To = to
			}
			before, after, err := Make(open(t, dir), o)
			if err != nil || warned.Len() > 0 {
				t.Fatalf("%v, warned of %q", err, warned.String())
			}
			made := viewtest.Files(t, to)
			made["notes.txt"], made["77/notes.txt"] = "notes.txt", "77/notes.txt" // which only stay in place
			compact := int64(0)
			for name, data := range made {
				if strings.Contains(name, "calls_") {
					t.Errorf("%s is still there", name)
				}
				if c.inPlace || !strings.Contains(name, "notes") {
					compact += int64(len(data))
				}
			}
			if before != size || after != compact || read == 0 {
				t.Errorf("%d bytes before, %d after, %d read; the files have %d and %d", before, after, read, size, compact)
			}
			for at, want := range map[string]string{to: outer, filepath.Join(to, "77"): inner} {
				if !open(t, at).IsCompact() {
					t.Errorf("%s is not compact", at)
				}
				if got := viewtest.Events(t, at); got != want {
					t.Errorf("%s says something else:\n%s", at, got)
				}
			}
			now := viewtest.Files(t, dir)
			if !c.inPlace && !maps.Equal(now, files) {
				t.Error("the recording has changed")
			}
			if now["notes.txt"] != "notes.txt" || now["77/notes.txt"] != "77/notes.txt" {
				t.Error("what is no part of the recordings is gone")
			}
			if _, _, err := Make(open(t, to), Options{}); err == nil || !strings.Contains(err.Error(), "is compact already") {
				t.Errorf("again: %v", err)
			}
		})
	}
}

// TestOuterIsCompact: a recording that was begun again within a compact one can be made compact.
func TestOuterIsCompact(t *testing.T) {
	dir := t.TempDir()
	plain, within := filepath.Join(dir, "plain"), filepath.Join(dir, "plain", "1")
	viewtest.Copy(t, "workers", plain)
	viewtest.Copy(t, "parser", filepath.Join(dir, "parser"))
	if _, _, err := Make(open(t, filepath.Join(dir, "parser")), Options{To: within}); err != nil {
		t.Fatal(err)
	}
	want := viewtest.Events(t, within)
	for _, to := range []string{filepath.Join(dir, "made"), ""} {
		if _, _, err := Make(open(t, plain), Options{To: to}); err != nil {
			t.Fatal(err)
		}
		if got := viewtest.Events(t, filepath.Join(plain, "1")); got != want {
			t.Errorf("to %q: what was compact says something else:\n%s", to, got)
		}
	}
	if got := viewtest.Events(t, filepath.Join(dir, "made", "1")); got != want {
		t.Errorf("the copy says something else:\n%s", got)
	}
}

// TestRefused: nothing changes that could be lost.
func TestRefused(t *testing.T) {
	damage := func(t *testing.T, dir string) {
		name := filepath.Join(dir, "calls_0")
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		copy(data, "no magic")
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write := func(t *testing.T, dir string) { // as if this process were writing it: the clocks were read once
		for name, change := range map[string]func(string) string{
			"metadata": func(s string) string {
				return regexp.MustCompile(`pid = \d+`).ReplaceAllString(s, "pid = "+strconv.Itoa(os.Getpid()))
			},
			"tables": func(s string) string {
				for n := len(s); n > 0; n-- {
					if err := os.WriteFile(filepath.Join(dir, "tables"), []byte(s[:n]), 0o600); err != nil {
						t.Fatal(err)
					}
					if first, last := open(t, dir).Clocks(); first == last {
						return s[:n]
					}
				}
				return ""
			},
		} {
			name = filepath.Join(dir, name)
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(change(string(data))), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	taken := func(name string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			if err := os.Mkdir(filepath.Join(filepath.Dir(dir), name), 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name    string
		prepare func(t *testing.T, dir string)
		to      string
		want    string // "": it is done
		warns   bool
	}{
		{"damaged", damage, "", "is damaged", true},
		{"damaged, elsewhere", damage, "new", "", true},
		{"being written", write, "", "may still be written by process", false},
		{"being written, elsewhere", write, "new", "", true}, // it ends within a packet
		{"what is left of an earlier run", taken("r.compact"), "", "is there already, and is where the compact recording is made", false},
		{"the new directory is there", taken("new"), "new", "is there already: -o names a new directory", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			parent := t.TempDir()
			dir := filepath.Join(parent, "r")
			viewtest.Copy(t, "workers", dir)
			c.prepare(t, dir)
			before := viewtest.Files(t, parent)
			var warned strings.Builder
			o := Options{Warn: &warned}
			if c.to != "" {
				o.To = filepath.Join(parent, c.to)
			}
			_, _, err := Make(open(t, dir), o)
			switch {
			case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Fatalf("error %v, want %q", err, c.want)
			case c.warns != (warned.Len() > 0):
				t.Errorf("warned of %q", warned.String())
			}
			if c.want == "" {
				if !open(t, o.To).IsCompact() {
					t.Error("what was made is not compact")
				}
				return
			}
			if !maps.Equal(viewtest.Files(t, parent), before) {
				t.Error("the files have changed")
			}
			if _, err := os.Stat(dir + ".compact"); err == nil && c.to == "" && !strings.Contains(c.want, "already") {
				t.Error("something is left")
			}
		})
	}
}
