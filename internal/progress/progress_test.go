package progress

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"
)

// locked is a terminal that is looked at while it is written.
type locked struct {
	sync.Mutex
	b bytes.Buffer
}

func (l *locked) Write(b []byte) (int, error) {
	l.Lock()
	defer l.Unlock()
	return l.b.Write(b)
}

func (l *locked) String() string {
	l.Lock()
	defer l.Unlock()
	return l.b.String()
}

// TestBar has work that is half done, and is then finished: the bar is shown, and taken away.
// Work that is done before shows nothing.
func TestBar(t *testing.T) {
	var out locked
	end := New(&out, true).bar("ftrace test", time.Millisecond, 1000, func() int64 { return 500 })
	const want = clear + "ftrace test [###############               ]  50 %"
	for deadline := time.Now().Add(10 * time.Second); !strings.Contains(out.String(), want); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%q, want %q", out.String(), want)
		}
	}
	end()
	if !strings.HasSuffix(out.String(), clear) {
		t.Errorf("%q is left", out.String())
	}
	var none locked
	New(&none, true).bar("ftrace test", time.Hour, 0, func() int64 { return 0 })()
	if none.String() != "" {
		t.Errorf("%q", none.String())
	}
}

// TestDisplay: on a terminal a line is written over, and cut; elsewhere one is left each time. One
// that comes too early is dropped. What names have in them does not reach the terminal.
func TestDisplay(t *testing.T) {
	for terminal, want := range map[bool]string{
		true:  clear + "1 of 2" + clear + `2\x1b[2J` + clear + strings.Repeat("x", displayWidth) + clear,
		false: "1 of 2\n" + `2\x1b[2J` + "\n" + strings.Repeat("x", 100) + "\n",
	} {
		var out locked
		d := New(&out, terminal)
		d.Show("%d of %d", 1, 2)
		d.Show("too early")
		d.Say("2\x1b[2J")
		d.Say("%s", strings.Repeat("x", 100))
		d.End()
		d.End()
		if out.String() != want {
			t.Errorf("terminal %v: %q, want %q", terminal, out.String(), want)
		}
	}
}
