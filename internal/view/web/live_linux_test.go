package web

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestFast: the page of a program that records faster than anybody can look stays at hand: it
// moves, says what is missing, and keeps no more than it is to.
func TestFast(t *testing.T) {
	ctx := browser(t)
	cmd, _ := running(t, "server", "FAST=1")
	const keep = 64 << 20
	s := followed(t, fmt.Sprint(cmd.Process.Pid), LiveOptions{Rules: "main.*", Keep: keep})
	do(t, ctx, chromedp.Navigate(s.URL()))
	becomes(t, ctx, `ftrace.live.following && ftrace.status.live.gone > 0 && ftrace.timeline.data?.n > 0`)
	before := value[float64](t, ctx, `ftrace.timeline.end`)
	becomes(t, ctx, fmt.Sprintf(`ftrace.timeline.end > %v && document.getElementById("status").textContent.includes(" are gone: the last 64 MB are kept")`, before+2e9))
	becomes(t, ctx, `document.getElementById("status").textContent.includes("There is no budget.")`)
	shots(t, ctx, "fast")
	files, err := filepath.Glob(filepath.Join(s.following().session.Dir, "calls_*"))
	if err != nil {
		t.Fatal(err)
	}
	var takes int64
	for _, name := range files {
		var info syscall.Stat_t
		if err := syscall.Stat(name, &info); err != nil {
			t.Fatal(err)
		}
		takes += info.Blocks * 512
	}
	if most := int64(keep + 16*unreadMax); takes == 0 || takes > most { // what is read in one go may be more than unreadMax
		t.Errorf("the recording takes %d bytes, more than %d", takes, most)
	}
	do(t, ctx, chromedp.KeyEvent("3"))
	becomes(t, ctx, `[...document.querySelectorAll("#table tbody tr")].some(r => r.cells[0].textContent === "main.parse" && +r.cells[1].textContent.replaceAll(",", "") > 1000)`)
	do(t, ctx, chromedp.Navigate("about:blank")) // before the server ends
}
