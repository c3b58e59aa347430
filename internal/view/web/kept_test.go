package web

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/viewtest"
)

// reopened returns an index of nothing yet, of the same recording.
func reopened(t testing.TB, dir string) *index {
	t.Helper()
	r, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return newIndex(r)
}

// same fails unless two finished indexes have the same.
func same(t *testing.T, want, have *index) {
	t.Helper()
	numbers := func(x *index) string {
		return fmt.Sprintf("%d calls until %d, %d deep, %d beyond, %d stored from %d on, %d rows, %d runners, %d spans, %d beyond, finished %v, %q",
			x.calls, x.now, x.deep, x.beyond, x.stored, x.finest, x.rows, x.runners, x.spans.n, x.spans.beyond, x.finished, x.notes)
	}
	if numbers(have) != numbers(want) || !want.finished {
		t.Fatalf("%s, not %s", numbers(have), numbers(want))
	}
	var lanes []uint64
	for g, l := range want.lanes {
		lanes = append(lanes, g)
		if of := have.lanes[g]; of == nil || of.calls != l.calls || of.failed != l.failed || of.begin != l.begin || of.end != l.end || len(of.rows) != len(l.rows) {
			t.Fatalf("lane %d is %v, not %v", g, of, l)
		}
	}
	for level := want.finest; level < levels; level++ {
		a, _ := want.at(lanes, 0, 1<<60, level, 1<<30)
		b, _ := have.at(lanes, 0, 1<<60, level, 1<<30)
		if len(a) == 0 || !reflect.DeepEqual(a, b) {
			t.Fatalf("level %d has %d slices, not %d", level, len(b), len(a))
		}
	}
	if a, b := want.spans.in(0, 1<<60, 0), have.spans.in(0, 1<<60, 0); !reflect.DeepEqual(want.spans.answer(), have.spans.answer()) || !reflect.DeepEqual(a, b) {
		t.Fatalf("spans are %v, not %v", b, a)
	}
}

// TestGoOn: wherever a recording has been read until, what comes of reading on from there is what
// comes of reading all of it.
func TestGoOn(t *testing.T) {
	for dir, parts := range map[string]int{viewtest.MadeUp(t).Dir: 3, recorded(t, "convoy"): 50, recorded(t, "workers"): 50, recorded(t, "books"): 50, recorded(t, "parser"): 50} {
		of, _, err := recording.FootprintOf(dir)
		if err != nil {
			t.Fatal(err)
		}
		whole := reopened(t, dir)
		whole.build(nil, func() bool { return true }, nil, nil)
		x := reopened(t, dir)
		x.keepEvery = 1 + 2*int(whole.calls)/parts
		name, resumed := filepath.Join(t.TempDir(), indexFile), 0
		x.build(nil, func() bool { return true }, nil, func(s *halt) {
			if err := x.keep(name, of, 1<<30, s); err != nil {
				t.Fatal(err)
			}
			again := reopened(t, dir)
			from, err := again.restore(name, of)
			if err != nil || (from == nil) != (s == nil) || again.finished != (s == nil) {
				t.Fatalf("halt %v, finished %v: %v", from, again.finished, err)
			}
			if s != nil {
				resumed++
				again.build(nil, func() bool { return true }, from, nil)
			}
			same(t, whole, again)
		})
		if resumed < 2 {
			t.Errorf("%s was read on %d times", dir, resumed)
		}
	}
}

// TestHalt: when reading is ended, what has been read is kept, and is not read again.
func TestHalt(t *testing.T) {
	r := viewtest.MadeUp(t)
	of, _, err := recording.FootprintOf(r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), indexFile)
	x, asked := reopened(t, r.Dir), 0
	x.build(nil, func() bool { asked++; return asked < 5 }, nil, func(s *halt) {
		if err := x.keep(name, of, 1<<30, s); s == nil || err != nil {
			t.Fatal(s, err)
		}
	})
	if x.finished {
		t.Fatal("it was not ended")
	}
	again := reopened(t, r.Dir)
	from, err := again.restore(name, of)
	if err != nil || from == nil || again.calls != x.calls || again.now != x.now {
		t.Fatalf("%d calls until %d, not %d until %d: %v", again.calls, again.now, x.calls, x.now, err)
	}
	left, all := 0, 0
	again.build(nil, func() bool { left++; return true }, from, nil)
	whole := reopened(t, r.Dir)
	whole.build(nil, func() bool { all++; return true }, nil, nil)
	if left == 0 || left+4 > all {
		t.Errorf("it is asked %d times whether to go on, %d if all is read", left, all)
	}
	same(t, whole, again)
}

// TestKept: an index from its file is the one that was made, unless anything has changed.
func TestKept(t *testing.T) {
	r := viewtest.MadeUp(t)
	x := built(r)
	x.giveUp()
	x.notes = "3 records were lost\n"
	of, size, err := recording.FootprintOf(r.Dir)
	if err != nil || size < 1<<20 {
		t.Fatal(size, err)
	}
	name := filepath.Join(r.Dir, indexFile)
	if err := x.keep(name, of, 1000, nil); !errors.Is(err, errLarge) {
		t.Errorf("1000 bytes are enough: %v", err)
	}
	if _, err := os.Stat(name); err == nil {
		t.Error("a part of it is kept")
	}
	if err := x.keep(name, of, size, nil); err != nil {
		t.Fatal(err)
	}
	if again, _, err := recording.FootprintOf(r.Dir); err != nil || again != of {
		t.Errorf("the index is a part of the footprint: %v", err)
	}
	have := reopened(t, r.Dir)
	if from, err := have.restore(name, of); err != nil || from != nil {
		t.Fatal(from, err)
	}
	same(t, x, have)

	// Whatever byte is another one, and wherever it ends, it is not taken.
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	fresh := reopened(t, r.Dir)
	for i := 0; i < len(whole); i += 1 + len(whole)/100 {
		damaged := bytes.Clone(whole)
		damaged[i] ^= 0x10
		_, wrong := fresh.decode(bytes.NewReader(damaged), int64(len(damaged)), of)
		_, short := fresh.decode(bytes.NewReader(whole[:i]), int64(i), of)
		if wrong == nil || short == nil {
			t.Fatalf("it is taken though byte %d is wrong or the last", i)
		}
	}
	if fresh.finished || len(fresh.lanes) > 0 {
		t.Error("a damaged index is taken in part")
	}

	// Neither is it if the recording has changed.
	if err := os.Chtimes(filepath.Join(r.Dir, "tables"), time.Time{}, time.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	changed, _, err := recording.FootprintOf(r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reopened(t, r.Dir).restore(name, changed); err == nil {
		t.Error("it is taken of a recording that was changed")
	}
}

// TestKeptPage: a page whose index is from its file shows what one shows that read the recording.
func TestKeptPage(t *testing.T) {
	r := viewtest.MadeUp(t)
	of, size, err := recording.FootprintOf(r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := built(r).keep(filepath.Join(r.Dir, indexFile), of, size, nil); err != nil {
		t.Fatal(err)
	}
	questions := []string{"status", "lanes", "lanes?by=processor", "slices?from=0&to=2000000&pixels=500&lanes=101,102,103", "slices?from=5000&to=9000&pixels=500&lanes=101,102,103"}
	var answers [2][]string
	for i := range answers {
		s := serving(t, r.Dir)
		for end := time.Now().Add(time.Minute); !s.shown[0].now().Finished; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("it is never read")
			}
		}
		for _, q := range questions {
			status, _, body := get(t, s.URL()+q, nil)
			if status != http.StatusOK {
				t.Fatal(q, body)
			}
			answers[i] = append(answers[i], body)
		}
		os.Remove(filepath.Join(r.Dir, indexFile))
	}
	for i, q := range questions {
		if answers[0][i] != answers[1][i] {
			t.Errorf("%s: %d bytes of the file's index, not those %d of the recording's", q, len(answers[0][i]), len(answers[1][i]))
		}
	}
}

// FuzzIndex: no file makes the reader of an index panic, or take much memory.
func FuzzIndex(f *testing.F) {
	r, err := recording.Open(filepath.Join(testenv.Root(f), "testdata", "recordings", "workers"))
	if err != nil {
		f.Fatal(err)
	}
	var of recording.Footprint
	x, name := newIndex(r), filepath.Join(f.TempDir(), "index")
	x.keepEvery = 9
	x.build(nil, func() bool { return true }, nil, func(s *halt) {
		if err := x.keep(name, of, 1<<30, s); err != nil {
			f.Fatal(err)
		}
		whole, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(whole[len(indexMagic)+len(of):])
	})
	f.Fuzz(func(t *testing.T, b []byte) {
		x := newIndex(r)
		r := &indexReader{from: bufio.NewReader(bytes.NewReader(b)), left: int64(len(b))}
		s := r.contents(x)
		goroutines := []uint64{1}
		for g := range x.lanes {
			goroutines = append(goroutines, g)
		}
		x.sketch(goroutines, 0, 1<<40, 1000)
		x.sketch(goroutines, 1000, 2000, 1)
		if r.err == nil {
			x.build(nil, func() bool { return true }, s, nil)
		}
	})
}
