package web

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/ftrace-wrap/ftrace-wrap/internal/view/text"
)

// graphOf returns who waits for whom, as the page hears it.
func graphOf(t *testing.T, s *Server) *text.WaitGraph {
	t.Helper()
	status, _, body := get(t, s.URL()+"waiting", nil)
	var graph text.WaitGraph
	if err := json.Unmarshal([]byte(body), &graph); status != 200 || err != nil {
		t.Fatalf("%d, %v: %s", status, err, body)
	}
	return &graph
}

// TestWaiting: the page shows which goroutines of a running program wait for each other for good,
// and, when it has been killed, at the end of what was recorded.
func TestWaiting(t *testing.T) {
	ctx := browser(t)
	cmd, dir := running(t, "server")
	s := followed(t, fmt.Sprint(cmd.Process.Pid), LiveOptions{Rules: "main.*;wait/*", Keep: 64 << 20})
	do(t, ctx, chromedp.Navigate(s.URL()+"#view=waiting"))
	rows := `[...document.querySelectorAll("#waiting-rows tr")]`
	becomes(t, ctx, `document.getElementById("waiting").dataset.state === "done" && `+rows+`.length > 1`)
	if err := os.WriteFile(filepath.Join(dir, "lock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const cycle = `document.getElementById("waiting-note").textContent.includes("1 cycle: G") && document.querySelectorAll("#waiting-graph .bad-box").length === 2 && document.querySelectorAll("#waiting-graph .bad-edge").length === 2`
	becomes(t, ctx, cycle)
	becomes(t, ctx, rows+`.filter(r => r.cells[2].textContent.includes("wait/synch/mutex(") && r.cells[3].textContent.includes("main.both (main.go:") && r.cells[4].textContent.includes("held by G")).length === 2`)
	shots(t, ctx, "waits")
	graph := graphOf(t, s)
	if len(graph.Cycles) != 1 || len(graph.Cycles[0]) != 2 {
		t.Fatalf("the cycles are %v", graph.Cycles)
	}
	inIt := func(g *text.WaitGraph) (list []text.WaitGroup) {
		for _, of := range g.Groups {
			if len(of.Goroutines) == 1 && slices.Contains(graph.Cycles[0], of.Goroutines[0]) {
				list = append(list, of)
			}
		}
		return list
	}
	both := inIt(graph)
	if len(both) != 2 || !slices.Equal(both[0].For, both[1].Goroutines) || !slices.Equal(both[1].For, both[0].Goroutines) {
		t.Errorf("those in it are %+v", both)
	}

	// A box leads to the timeline.
	do(t, ctx, chromedp.Evaluate(`document.querySelector("#waiting-rows button").click()`, nil))
	becomes(t, ctx, `ftrace.view === "timeline" && ftrace.timeline.data`)

	if err := os.WriteFile(filepath.Join(dir, "end"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	<-s.following().over
	do(t, ctx, chromedp.Evaluate(`ftrace.show("waiting")`, nil))
	becomes(t, ctx, `document.body.dataset.live === "ended" && document.getElementById("waiting").dataset.state === "done" && document.getElementById("waiting-note").textContent.includes("at the end")`)
	becomes(t, ctx, rows+`.filter(r => r.cells[3].textContent.includes("main.both")).length === 2`)
	if both := inIt(graphOf(t, s)); len(both) != 2 || !strings.HasPrefix(both[0].Does, "waiting: wait/synch/mutex(") {
		t.Errorf("at the end those in it are %+v", both)
	}
	shots(t, ctx, "waits-ended")
}

// TestWaitingAtTheEnd: the page of a recording has what ftrace waits says of its end.
func TestWaitingAtTheEnd(t *testing.T) {
	if graph := graphOf(t, serving(t, recorded(t, "parser"))); len(graph.Notes) != 1 {
		t.Errorf("of a recording without waits: %+v", graph)
	}
	graph := graphOf(t, serving(t, recorded(t, "convoy")))
	if len(graph.Groups) != 1 || graph.Groups[0].Count != 4 || !strings.HasPrefix(graph.Groups[0].Does, "waiting: wait/synch/chan/send(") || !strings.HasPrefix(graph.Groups[0].At, "main.work (main.go:") {
		t.Errorf("four goroutines of work send, and not %+v", graph)
	}
}
