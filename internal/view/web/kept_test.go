package web

import (
	"bufio"
	"bytes"
	"errors"
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
	if err := x.keep(name, of, 1000); !errors.Is(err, errLarge) {
		t.Errorf("1000 bytes are enough: %v", err)
	}
	if _, err := os.Stat(name); err == nil {
		t.Error("a part of it is kept")
	}
	if err := x.keep(name, of, size); err != nil {
		t.Fatal(err)
	}
	if again, _, err := recording.FootprintOf(r.Dir); err != nil || again != of {
		t.Errorf("the index is a part of the footprint: %v", err)
	}
	have := reopened(t, r.Dir)
	if err := have.restore(name, of); err != nil {
		t.Fatal(err)
	}
	if have.now != x.now || have.calls != x.calls || have.finest != x.finest || have.stored != x.stored || have.runners != x.runners || have.notes != x.notes || !have.finished {
		t.Errorf("%d calls until %d, %d stored from %d on, %d runners, %q", have.calls, have.now, have.stored, have.finest, have.runners, have.notes)
	}
	var lanes []uint64
	for g := range x.lanes {
		lanes = append(lanes, g)
	}
	for level := x.finest; level < levels; level++ {
		a, _ := x.at(lanes, 0, 1<<60, level, 1<<30)
		b, _ := have.at(lanes, 0, 1<<60, level, 1<<30)
		if len(a) == 0 || !reflect.DeepEqual(a, b) {
			t.Fatalf("level %d has %d slices, not %d", level, len(b), len(a))
		}
	}

	// Whatever byte is another one, and wherever it ends, it is not taken.
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	fresh := reopened(t, r.Dir)
	for i := 0; i < len(whole); i += 1 + len(whole)/100 {
		damaged := bytes.Clone(whole)
		damaged[i] ^= 0x10
		if fresh.decode(bytes.NewReader(damaged), int64(len(damaged)), of) == nil || fresh.decode(bytes.NewReader(whole[:i]), int64(i), of) == nil {
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
	if err != nil || reopened(t, r.Dir).restore(name, changed) == nil {
		t.Errorf("it is taken of a recording that was changed: %v", err)
	}
}

// TestKeptPage: a page whose index is from its file shows what one shows that read the recording.
func TestKeptPage(t *testing.T) {
	r := viewtest.MadeUp(t)
	of, size, err := recording.FootprintOf(r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := built(r).keep(filepath.Join(r.Dir, indexFile), of, size); err != nil {
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
	x := built(r)
	name := filepath.Join(f.TempDir(), "index")
	if err := x.keep(name, of, 1<<30); err != nil {
		f.Fatal(err)
	}
	whole, err := os.ReadFile(name)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole[len(indexMagic)+len(of):])
	f.Fuzz(func(t *testing.T, b []byte) {
		x := newIndex(r)
		r := &indexReader{from: bufio.NewReader(bytes.NewReader(b)), left: int64(len(b))}
		r.index(x)
		goroutines := []uint64{1}
		for g := range x.lanes {
			goroutines = append(goroutines, g)
		}
		x.sketch(goroutines, 0, 1<<40, 1000)
		x.sketch(goroutines, 1000, 2000, 1)
	})
}
