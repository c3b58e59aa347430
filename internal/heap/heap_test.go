package heap

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// TestMain is the command that TestLate starts, if its environment says so.
func TestMain(m *testing.M) {
	if os.Getenv("HEAP_TEST") == "" {
		os.Exit(m.Run())
	}
	Late()
	if os.Getenv("HEAP_TEST") == "own" {
		debug.SetGCPercent(50)
	}
	var stats runtime.MemStats
	allocate := func(bytes int) uint32 {
		for range bytes >> 20 {
			garbage = make([]byte, 1<<20)
		}
		runtime.ReadMemStats(&stats)
		return stats.NumGC
	}
	before := allocate(first / 2)
	allocate(first)
	percent := 0
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) { // until the finalizer has run
		percent = debug.SetGCPercent(100)
		debug.SetGCPercent(percent)
		if percent <= 100 {
			break
		}
	}
	fmt.Println(before, percent)
}

var garbage []byte

// TestLate: nothing is collected while the heap is small, and then it may grow as usual.
func TestLate(t *testing.T) {
	for _, test := range []struct{ mode, gogc, want string }{{"usual", "", "0 100\n"}, {"own", "", " 50\n"}, {"usual", "70", " 70\n"}} {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), "HEAP_TEST="+test.mode, "GOGC="+test.gogc, "GOMEMLIMIT=")
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		got := string(out)
		if test.want[0] == ' ' { // it is collected from the start
			var n int
			fmt.Sscan(got, &n)
			if n == 0 {
				t.Errorf("%+v: nothing was collected: %s", test, got)
			}
			got = got[len(fmt.Sprint(n)):]
		}
		if got != test.want {
			t.Errorf("%+v: %q", test, got)
		}
	}
}
