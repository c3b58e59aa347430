//go:build linux

package live

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"unsafe"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
)

// TestWritten: all that was written to a file with holes is read once, at its place, and nothing
// beyond the part that is read.
func TestWritten(t *testing.T) {
	const n, at = 10000, 4096 + 24
	file, err := os.Create(filepath.Join(t.TempDir(), "memory"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := file.Truncate(at + int64(n+100)*int64(summarySize)); err != nil {
		t.Fatal(err)
	}
	want := []uint64{0, 1, 9, 10, 146, 147, 148, 5000, 5001, n - 2, n - 1}
	for _, i := range append(want, n, n+1) { // the last two are beyond
		s := format.Summary{Count: i + 1}
		if _, err := file.WriteAt(unsafe.Slice((*byte)(unsafe.Pointer(&s)), summarySize), at+int64(i*summarySize)); err != nil {
			t.Fatal(err)
		}
	}
	var got []uint64
	read := 0
	if err := written(&Process{memory: &shared{file: file}}, at, n, func(i uint64, s *format.Summary) {
		if read++; s.Count != 0 {
			got = append(got, i)
			if s.Count != i+1 {
				t.Errorf("place %d has %d", i, s.Count)
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("read %v, want %v", got, want)
	}
	if read == n {
		t.Logf("the file system has no holes")
	}
}

// TestLast: the last calls of several histories, in order, without places that were never used and
// what is left of the lap before.
func TestLast(t *testing.T) {
	call := func(number, end, event uint64) format.Call {
		return format.Call{Number: number, End: end, Event: event}
	}
	histories := []*history{
		{calls: 5, most: 3, halves: [2][]format.Call{{call(4, 40, 1), call(2, 20, 1), {}}, {call(1, 10, 1), call(5, 50, 1), call(3, 30, 1)}}},
		{calls: 0, most: 3},
		{calls: 2, most: 3, halves: [2][]format.Call{{call(1, 35, 2), {}}, {{}, call(2, 35, 1)}}},
		// All but five were after the cut. The fifth was noted late, which the last 2 do not see.
		{calls: 5000, most: 3, halves: [2][]format.Call{{call(4, 41, 1), call(5, 39, 1), call(3, 31, 1)}, nil}},
	}
	for most, want := range map[int][]uint64{0: nil, 2: {40, 50}, 5: {35, 39, 40, 41, 50}, 6: {35, 35, 39, 40, 41, 50}, 20: {10, 20, 30, 31, 35, 35, 39, 40, 41, 50}} {
		var got []uint64
		calls := last(most, histories...)
		for i, c := range calls {
			if got = append(got, c.End); i > 0 && c.End == 35 && calls[i-1].End == 35 && c.Event != 2 {
				t.Errorf("the last %d: those that ended together are not in order", most)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("the last %d: %v, want %v", most, got, want)
		}
	}
}
