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

// TestProgress has work that is half done, and is then finished: the bar is shown, and taken away.
// Work that is done before shows nothing.
func TestProgress(t *testing.T) {
	var out locked
	p := show(&out, "ftrace test", 1000, func() int64 { return 500 }, time.Millisecond)
	const want = "\rftrace test [###############               ]  50 %"
	for deadline := time.Now().Add(10 * time.Second); !strings.Contains(out.String(), want); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%q, want %q", out.String(), want)
		}
	}
	p.close()
	if !strings.HasSuffix(out.String(), "\r\x1b[K") {
		t.Errorf("%q is left", out.String())
	}
	var none locked
	show(&none, "ftrace test", 0, func() int64 { return 0 }, time.Hour).close()
	if none.String() != "" {
		t.Errorf("%q", none.String())
	}
}
