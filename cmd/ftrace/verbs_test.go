package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/ftrace-wrap/ftrace-wrap/internal/escape"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/screen"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/viewtest"
)

// verbs are all that show a recording: DIR is the recording, OTHER another one, NEW what there is
// not yet.
var verbs = []string{
	"replay DIR", "replay -json DIR", "replay -repeats DIR", "replay -fold -group DIR", "replay -color always -format pos,path,seq,wall,elapsed,duration DIR",
	"replay -children DIR", "replay -children -json DIR", "replay -f *=args,min=1us;main.*=tree -from 1us DIR",
	"report DIR", "report -json DIR", "report -by goroutine -children DIR", "report -by package -f main.*=depth=2 DIR", "report -diff DIR OTHER", "report -waits DIR", "report -waits -by goroutine -json -f main.*=depth=1;wait/* -children DIR",
	"graph * DIR", "graph -json * DIR", "graph wait/* DIR", "show -n 0 * DIR", "show -json -changes * DIR", "waits DIR", "waits -json -n 0 DIR", "waits -call *.* -f main.*=args,min=1us;wait/* -g 1 DIR", "info DIR", "info -json -children DIR", "diff DIR OTHER", "diff OTHER DIR", "diff -json DIR OTHER", "compact -o NEW DIR",
	"export -format json DIR", "export -format chrome DIR", "export -format folded DIR", "export -format speedscope DIR", "export -format mermaid DIR", "export -format otlp DIR", "export -format otlp -min 0s -f main.*;wait/* -g 1 DIR",
	"export -format pprof -o NEW DIR", "export -format perfetto -o NEW DIR", "export -format parquet -o NEW DIR", "export -format arrow -o NEW DIR", "export -format uftrace -o NEW DIR", "export -format ctf -o NEW DIR",
	"-l DIR", "-n call:::entry{@[probefunc,caller,ustack()]=count();} DIR", "-n call:::return{printf(\"%s_%d_%s\",probefunc,depth,execname);@[elapsed]=quantize(elapsed);} DIR",
	"-n wait:::{@[probefunc,ustack()]=sum(elapsed);} DIR", "-n call:::return/err!=nil/{trace(err);trace(arg0);print(args[0]);} DIR",
	"sql DIR SELECT * FROM performance_schema.events_calls_history_long", "sql -json DIR SELECT * FROM performance_schema.setup_instruments, performance_schema.threads",
	"sql -batch DIR SELECT * FROM performance_schema.events_calls_current", "sql DIR SELECT * FROM performance_schema.events_calls_summary_global_by_event_name",
	"exporter -once 1ns DIR",
}

var errEnough = errors.New("that is enough output")

// sink takes so much output.
type sink struct {
	mu sync.Mutex
	bytes.Buffer
}

func (s *sink) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Len() > 4<<20 {
		return 0, errEnough
	}
	return s.Buffer.Write(b)
}

// runVerb runs a verb in this process and returns what it printed. One that hangs ends the tests.
func runVerb(t testing.TB, verb, dir, other string) (printed string, made string) {
	t.Helper()
	temp := t.TempDir()
	made = filepath.Join(temp, "new")
	var args []string
	words := strings.Fields(verb)
	for i, word := range words {
		switch word {
		case "DIR":
			word = dir
		case "OTHER":
			word = other
		case "NEW":
			word = made
		case "SELECT":
			word = strings.Join(words[i:], " ")
		}
		if args = append(args, word); strings.HasPrefix(word, "SELECT ") {
			break
		}
	}
	wasOut, wasErr := stdout, stderr
	defer func() { stdout, stderr = wasOut, wasErr }()
	var out sink
	stdout, stderr = screen.New(&out, screen.Text), screen.New(&out, screen.Text)
	hangs := time.AfterFunc(3*time.Minute, func() {
		all := make([]byte, 1<<20)
		panic(fmt.Sprintf("%s hangs\n%s", verb, all[:runtime.Stack(all, true)]))
	})
	defer hangs.Stop()
	run(args)
	return out.String(), made
}

// copyRecording copies a recording, and changes the bytes of its files.
func copyRecording(t testing.TB, from, to string, change func(name string, data []byte) []byte) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(from, path)
		if entry.IsDir() {
			return os.MkdirAll(filepath.Join(to, name), 0o700)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if change != nil {
			if data = change(name, data); data == nil {
				return nil
			}
		}
		return os.WriteFile(filepath.Join(to, name), data, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// hostileLine is what a program may print.
const hostileLine = "line\x1b[2J\x9b31m\u202e\u2066\u009b\a\b\r\nG1   + main.forged() { // #1"

// recordings makes recordings of all kinds: of one process and of several, compact, with lines,
// notes and lost records, and with calls that are deeper than a record can say.
func recordings(t testing.TB) []string {
	t.Helper()
	temp := t.TempDir()
	var list []string
	add := func(name string) string {
		dir := filepath.Join(temp, name)
		list = append(list, dir)
		return dir
	}
	const testdata = "../../testdata/recordings/"
	for _, name := range []string{"parser", "workers", "convoy"} {
		copyRecording(t, testdata+name, add(name), nil)
		r, err := recording.Open(testdata + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Compact(add(name+"-compact"), nil); err != nil {
			t.Fatal(err)
		}
	}
	family := add("family")
	copyRecording(t, testdata+"workers", family, nil)
	copyRecording(t, testdata+"parser", filepath.Join(family, "123"), nil)
	r, err := recording.Open(testdata + "workers")
	if err != nil {
		t.Fatal(err)
	}
	w, err := r.NewWriter(add("lossy"))
	if err != nil {
		t.Fatal(err)
	}
	s := r.Events(recording.Window{})
	var e recording.Event
	for n := 0; s.Next(&e); n++ {
		processor := e.Processor
		write := func(e *recording.Event) {
			e.Processor = processor
			if err := w.Write(e); err != nil {
				t.Fatal(err)
			}
		}
		write(&e)
		more := recording.Event{Ticks: e.Ticks, Goroutine: e.Goroutine, Depth: e.Depth, Function: e.Function}
		switch {
		case n%7 == 0:
			more.Kind, more.Call = recording.Lost, 3
			write(&more)
		case n%5 == 0:
			more.Kind, more.Function, more.Data = recording.Line, 0, []byte(hostileLine)
			write(&more)
		case e.Enters() && n%3 == 0:
			more.Kind, more.Data = recording.Note, []byte("note "+hostileLine)
			write(&more)
		}
	}
	s.Close()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	viewtest.Deep(t, add("deep"), 66_000, 2)
	return list
}

// safe fails if something was printed that may not reach a terminal. Colours may if they were asked
// for.
func safe(t testing.TB, verb, printed string) {
	t.Helper()
	for rest := printed; rest != ""; {
		n, ok := escape.Next(rest)
		if c := escape.Colour(rest); c > 0 && strings.Contains(verb, "-color always") {
			n, ok = c, true
		}
		if !ok && rest[0] != '\n' && rest[0] != '\t' {
			t.Errorf("%s prints %q in %q", verb, rest[:n], rest[:min(len(rest), 80)])
			return
		}
		rest = rest[n:]
	}
}

// TestVerbsHostile: whatever names, values and lines a recording has, no verb prints what may not
// reach a terminal, nor lines that are the names' own, and what is to be JSON is.
func TestVerbsHostile(t *testing.T) {
	names := map[string]string{ // of the same length
		"evaluate": "\x1b[2J\n\x9b\x07;", "workers": "w\u202e\n \"", "worker": "\u2066\r\x1b<", ".go": "\n\x9b;", "text": "\x1b]0;", "parse": "\u202e\n\x7f", "main.main": "main.ma\x1bn",
	}
	for _, dir := range recordings(t) {
		if filepath.Base(dir) == "deep" {
			continue
		}
		hostile := filepath.Join(t.TempDir(), "hostile")
		changed := 0
		copyRecording(t, dir, hostile, func(name string, data []byte) []byte {
			if filepath.Base(name) != "tables" {
				return data
			}
			for from, to := range names {
				if len(from) != len(to) {
					t.Fatalf("%q is not as long as %q", to, from)
				}
				changed += bytes.Count(data, []byte(from))
				data = bytes.ReplaceAll(data, []byte(from), []byte(to))
			}
			return data
		})
		if changed < 10 {
			t.Errorf("%s: %d names were changed", dir, changed)
		}
		for _, verb := range verbs {
			printed, made := runVerb(t, verb, hostile, dir)
			safe(t, verb, printed)
			switch {
			case strings.Contains(verb, "json") || strings.Contains(verb, "chrome") || strings.Contains(verb, "otlp") || strings.Contains(verb, "speedscope"):
				var text strings.Builder
				for line := range strings.Lines(printed) {
					if !strings.HasPrefix(line, "ftrace: ") {
						text.WriteString(line)
					}
				}
				d := json.NewDecoder(strings.NewReader(text.String()))
				for d.More() {
					var v any
					if err := d.Decode(&v); err != nil {
						t.Errorf("%s: %v", verb, err)
						break
					}
				}
			case strings.Contains(verb, "folded"):
				for line := range strings.Lines(printed) {
					var ns int64
					if at := strings.LastIndexByte(line, ' '); !strings.HasPrefix(line, "ftrace: ") {
						if _, err := fmt.Sscanf(line[at+1:], "%d\n", &ns); err != nil {
							t.Errorf("%s: %q", verb, line)
						}
					}
				}
			case strings.Contains(verb, "pprof"):
				data, err := os.ReadFile(made)
				if err == nil {
					_, err = profile.ParseData(data)
				}
				if err != nil {
					t.Errorf("%s: %v", verb, err)
				}
			case strings.HasPrefix(verb, "replay DIR"):
				for line := range strings.Lines(printed) {
					if strings.HasPrefix(line, "G1   + main.forged") {
						t.Errorf("%s prints a line of the program's as one of its own: %s", verb, line)
					}
				}
			}
		}
	}
}

// TestVerbsWithoutTables: a recording whose tables are missing, or cut off, is read as far as it
// goes, and that is said.
func TestVerbsWithoutTables(t *testing.T) {
	for _, dir := range recordings(t)[:2] {
		for _, left := range []int{-1, 0, 1000} {
			cut := filepath.Join(t.TempDir(), "cut")
			copyRecording(t, dir, cut, func(name string, data []byte) []byte {
				switch {
				case name != "tables":
					return data
				case left < 0:
					return nil
				}
				return append([]byte{}, data[:left]...)
			})
			for _, verb := range verbs {
				printed, _ := runVerb(t, verb, cut, dir)
				switch {
				case strings.HasPrefix(verb, "replay DIR"):
					if !strings.Contains(printed, "+ ?.#2(") {
						t.Errorf("%s, tables of %d bytes: %s", verb, left, printed)
					}
				case strings.HasPrefix(verb, "report DIR"), strings.HasPrefix(verb, "info DIR"):
				default:
					continue
				}
				if !strings.Contains(printed, "tables: ") && !strings.Contains(printed, "damage      tables") {
					t.Errorf("%s, tables of %d bytes: it is not said that they are missing: %s", verb, left, printed)
				}
			}
		}
	}
}

// TestVerbsLost: what shows a recording says that records of it were lost, of each once.
func TestVerbsLost(t *testing.T) {
	list := recordings(t)
	lossy, whole := list[slices.IndexFunc(list, func(dir string) bool { return filepath.Base(dir) == "lossy" })], list[0]
	const said = " records were lost when it was made"
	for _, verb := range []string{"replay DIR", "report DIR", "report -diff DIR OTHER", "graph * DIR", "diff DIR OTHER", "diff OTHER DIR", "export -format folded DIR"} {
		if printed, _ := runVerb(t, verb, lossy, whole); strings.Count(printed, lossy+": 27"+said) != 1 || strings.Count(printed, said) != 1 {
			t.Errorf("%s: %s", verb, printed)
		}
		if printed, _ := runVerb(t, verb, whole, whole); strings.Contains(printed, said) {
			t.Errorf("%s: %s", verb, printed)
		}
	}
}

// TestVerbsDeep: calls that are deeper than a record can say are all there.
func TestVerbsDeep(t *testing.T) {
	list := recordings(t)
	dir := list[len(list)-1]
	printed, _ := runVerb(t, "report -json DIR", dir, dir)
	var row struct{ Calls, Unfinished uint64 }
	if err := json.Unmarshal([]byte(printed), &row); err != nil || row.Calls != 66_000 {
		t.Errorf("report: %v: %s", err, printed)
	}
	// Of what would take time or memory by the square of the depth.
	for _, verb := range []string{"graph main.* DIR", "export -format folded DIR", "export -format pprof -o NEW DIR", "replay -repeats DIR",
		"sql -batch DIR SELECT COUNT(*) FROM performance_schema.events_calls_current"} {
		runVerb(t, verb, dir, list[0])
	}
}

// FuzzVerbs runs every verb over recordings in which bytes were changed. verb chooses one; edits
// are six bytes each: the file, the place, what is done there, and by which byte.
func FuzzVerbs(f *testing.F) {
	list := recordings(f)
	list = list[:len(list)-1] // the last one is large
	random := rand.New(rand.NewPCG(1, 2))
	for i := range list {
		for verb := range verbs {
			edits := make([]byte, 6*(1+random.IntN(4)))
			for j := range edits {
				edits[j] = byte(random.Uint32())
			}
			f.Add(byte(i), byte(verb), edits)
		}
	}
	debug.SetMemoryLimit(1 << 30)
	f.Fuzz(func(t *testing.T, which, verb byte, edits []byte) {
		if len(edits) > 600 {
			return
		}
		dir := list[int(which)%len(list)]
		changed := filepath.Join(t.TempDir(), "changed")
		n := byte(0)
		copyRecording(t, dir, changed, func(name string, data []byte) []byte {
			n++
			for at := 0; at+6 <= len(edits) && data != nil; at += 6 {
				e := edits[at : at+6]
				if e[0]%5 != n%5 {
					continue
				}
				place := int(e[1])<<16 | int(e[2])<<8 | int(e[3])
				if place %= len(data) + 1; e[4]%2 == 0 {
					place &^= 7 // fields are words
				}
				switch e[4] % 11 {
				case 0, 1, 2, 3:
					if place < len(data) {
						data[place] = e[5]
					}
				case 4:
					data = data[:place]
				case 5:
					data = append(data[:place:place], append(bytes.Repeat([]byte{e[5]}, 8), data[place:]...)...)
				case 6:
					data = append(data[:place:place], data[min(len(data), place+int(e[5])):]...)
				case 7:
					data = append(data, data[:place]...)
				case 8:
					copy(data[place:], bytes.Repeat([]byte{0xFF}, 8))
				case 9:
					copy(data[place:], hostileLine)
				case 10:
					if e[5] < 8 && name != "metadata" {
						data = nil
					}
				}
			}
			return data
		})
		of := verbs[int(verb)%len(verbs)]
		printed, _ := runVerb(t, of, changed, dir)
		safe(t, of, printed)
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		if m.HeapInuse > 1500<<20 {
			t.Errorf("%s: %d MB are in use", of, m.HeapInuse>>20)
		}
	})
}
