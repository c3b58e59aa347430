package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/live"
)

// running starts a program of testdata, built with ftrace-wrap, in a directory of its own. It ends
// when a file named end is there, and with the test.
func running(t *testing.T, name string, env ...string) (cmd *exec.Cmd, dir string) {
	t.Helper()
	testenv.NeedAll(t)
	if runtime.GOOS != "linux" {
		t.Skip("running programs can be inspected on Linux only")
	}
	wrap, dir := testenv.Build(t, "ftrace-wrap"), t.TempDir()
	program := filepath.Join(dir, "web-"+name) // others look for a server by its name
	build := exec.Command("go", "build", testenv.Toolexec(t, wrap), "-o", program, ".")
	build.Dir, build.Env = filepath.Join("testdata", name), append(testenv.Environ(), "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building %s: %v\n%s", name, err, out)
	}
	cmd = exec.Command(program)
	cmd.Dir, cmd.Env = dir, append(testenv.Environ(), env...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan bool)
	go func() { cmd.Wait(); close(ended) }()
	t.Cleanup(func() { cmd.Process.Kill(); <-ended })
	return cmd, dir
}

// followed serves the page of a process for the test.
func followed(t *testing.T, pid string, of LiveOptions) *Server {
	t.Helper()
	of.Warn = io.Discard
	var s *Server
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		var err error
		if s, err = Follow(pid, Options{Address: "127.0.0.1:0"}, of); err == nil {
			break
		} else if time.Now().After(end) { // it is starting
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil && err != http.ErrServerClosed {
			t.Error(err)
		}
		if _, err := os.Stat(s.following().session.Dir); err == nil {
			t.Error("the recording is still there")
		}
	})
	return s
}

// tails checks that the trace goes on while its end is seen, and only then.
func tails(t *testing.T, ctx context.Context) {
	t.Helper()
	do(t, ctx, chromedp.KeyEvent("2"))
	const last, bottom = `[...document.querySelectorAll("#lines .at")].at(-1)?.textContent`, `(() => { const l = document.getElementById("lines"); return l.scrollTop + l.clientHeight >= l.scrollHeight - 40; })()`
	newest := func() (at string) { // while lines are drawn anew there are none
		t.Helper()
		for end := time.Now().Add(time.Minute); at == "" && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			at = value[string](t, ctx, last+` ?? ""`)
		}
		return at
	}
	goesOn := func() {
		t.Helper()
		becomes(t, ctx, `!!`+last+` && `+bottom)
		becomes(t, ctx, fmt.Sprintf(`%s > "" && %[1]s !== %q && %s`, last, newest(), bottom))
	}
	goesOn()
	becomes(t, ctx, `document.getElementById("lines").scrollHeight > document.getElementById("lines").clientHeight + 100`)
	do(t, ctx, chromedp.Evaluate(`document.getElementById("lines").scrollTop = 0`, nil))
	becomes(t, ctx, `!ftrace.live.tailing`)
	there, calls := newest(), value[float64](t, ctx, `ftrace.status.calls`)
	becomes(t, ctx, fmt.Sprintf(`ftrace.status.calls > %v`, calls+50))
	if now := newest(); now != there {
		t.Errorf("whoever reads the beginning gets lines: the last was at %s, and is at %s", there, now)
	}
	do(t, ctx, chromedp.Evaluate(`document.getElementById("lines").scrollTop = 1e9`, nil))
	goesOn()
}

// TestFollow: the page of a running program moves, in each tab by itself, the other views have what
// there is so far, and all of it stays when the program has ended.
func TestFollow(t *testing.T) {
	ctx := browser(t)
	cmd, dir := running(t, "server")
	s := followed(t, fmt.Sprint(cmd.Process.Pid), LiveOptions{Rules: "main.*;wait/*", Budget: 10, Keep: 256 << 20})
	do(t, ctx, chromedp.Navigate(s.URL()))
	const moves = `document.body.dataset.live === "yes" && ftrace.live.following && ftrace.timeline.data?.n > 0`
	becomes(t, ctx, moves)
	becomes(t, ctx, `document.getElementById("follow").ariaPressed === "true" && document.getElementById("status").textContent.includes("following process ")`)
	edge := func(ctx context.Context) float64 { return value[float64](t, ctx, `ftrace.timeline.end`) }
	moved := func(ctx context.Context, does bool) {
		t.Helper()
		do(t, ctx, page.BringToFront(), chromedp.Sleep(300*time.Millisecond))
		if does {
			becomes(t, ctx, fmt.Sprintf(`ftrace.timeline.end > %.0f`, edge(ctx)+3e8))
			return
		}
		becomes(t, ctx, `!ftrace.live.following`)
		before := edge(ctx)
		time.Sleep(time.Second)
		if by := edge(ctx) - before; by != 0 {
			t.Errorf("it moves by %v ns", by)
		}
	}
	moved(ctx, true)
	// The table has ever more calls.
	grows := func(ctx context.Context) {
		t.Helper()
		do(t, ctx, page.BringToFront())
		calls := `[...document.querySelectorAll("#table tbody tr")].map(r => +r.cells[1].textContent.replaceAll(",", "")).reduce((a, b) => a + b, 0)`
		becomes(t, ctx, calls+" > 100")
		becomes(t, ctx, calls+" > "+fmt.Sprint(value[int](t, ctx, calls)))
	}
	// What values and the labels of goroutines say is text.
	isText := func(ctx context.Context) {
		t.Helper()
		if made := value[int](t, ctx, `document.querySelectorAll("main b, main img, main script").length`); made != 0 || value[bool](t, ctx, `"pwned" in window`) {
			t.Errorf("values or labels became %d elements", made)
		}
	}
	// It shows what was called just now: a call of each worker, or one under way.
	becomes(t, ctx, `(() => { const d = ftrace.timeline.data, new1 = new Set(); for (let i = 0; i < d.n; i++) if (d.row[i] >= 2 && d.end[i] > ftrace.timeline.end - 1e9) new1.add(d.lane[i]); return new1.size >= 4; })()`)
	becomes(t, ctx, `/^Recorded a second: [1-9][\d,]* calls(, [\d.]+ [kM]B)?\. It takes [\d.]+ % of the [\d.]*[1-9] processors that the program uses, at most 10 %\. /m.test(document.getElementById("status").textContent)`)
	costs := func(rates string) string {
		return value[string](t, ctx, `ftrace.live.cost.call({ app: { status: { live: { budget: 10, rates: `+rates+` } } } })`)
	}
	for rates, want := range map[string]string{
		`{ calls: 1, bytes: 0, processor: 0.001, spent: 0, left: 0 }`:                      "Recorded a second: 1 call. It takes at most 10 % of the processor time that the program uses, which is next to none. No calls are left out.",
		`{ calls: 2000, bytes: 1e6, processor: 1.5, spent: 0.15, left: 6000, more: true }`: "Recorded a second: 2,000 calls, 1 MB. It takes 10 % of the 1.5 processors that the program uses, at most 10 %. At least 75 % of all calls are left out.",
	} {
		if have := costs(rates); have != want {
			t.Errorf("%s: %q", rates, have)
		}
	}
	becomes(t, ctx, `ftrace.status.live.rates.spent > 0 && ftrace.status.live.rates.spent < ftrace.status.live.rates.processor`)
	shots(t, ctx, "live")

	// Another tab follows too. One of them is moved, and the other goes on.
	other, end := chromedp.NewContext(ctx)
	t.Cleanup(end)
	do(t, other, chromedp.Navigate(s.URL()))
	becomes(t, other, moves)
	do(t, other, chromedp.KeyEvent("a"))
	moved(other, false)
	becomes(t, other, `!location.hash.includes("follow=") && document.getElementById("follow").textContent === "follow"`)
	moved(ctx, true)
	do(t, other, chromedp.KeyEvent("l"))
	moved(other, true)
	const width = `Math.round(ftrace.live.width)`
	wide := value[float64](t, other, width)
	do(t, other, chromedp.KeyEvent("w"))
	narrow := value[float64](t, other, width)
	if narrow > wide*0.75 {
		t.Errorf("w zooms from %v to %v", wide, narrow)
	}
	becomes(t, other, `location.hash.includes("follow=" + `+width+`)`)
	do(t, other, chromedp.Reload())
	becomes(t, other, moves+fmt.Sprintf(` && %s === %v`, width, int64(narrow)))
	moved(other, true)
	do(t, other, click("#follow"))
	moved(other, false)

	// Whoever opens a view by its URL sees it move. What stands still stands still in the URL too.
	const follows = `document.body.dataset.live === "yes" && ftrace.live.following && document.getElementById("follow").textContent === "following"`
	do(t, other, anew(s.URL()+"#view=table")...)
	becomes(t, other, follows+` && document.querySelectorAll("#table tbody tr").length > 0`)
	grows(other)
	do(t, other, chromedp.KeyEvent("1"), chromedp.KeyEvent("0"))
	becomes(t, other, `!ftrace.live.following && location.hash.includes("follow=0")`)
	do(t, other, chromedp.Reload())
	becomes(t, other, `document.body.dataset.live === "yes" && ftrace.timeline.data?.n > 0 && !ftrace.live.following && location.hash.includes("follow=0")`)

	// The table grows by itself, the other views have what there is.
	do(t, ctx, page.BringToFront())
	do(t, ctx, chromedp.KeyEvent("3"))
	grows(ctx)
	shots(t, ctx, "live-table")
	isText(ctx)
	do(t, ctx, chromedp.KeyEvent("4"))
	becomes(t, ctx, `document.getElementById("flame").dataset.state === "done" && ftrace.flame.boxes?.some(b => ftrace.flame.name(b.n) === "main.handle")`)
	isText(ctx)
	tails(t, ctx)
	do(t, ctx, chromedp.Reload())
	becomes(t, ctx, `location.hash.includes("line=newest") && ftrace.live.following`)
	tails(t, ctx)
	do(t, ctx, click("#tree-newest"))
	becomes(t, ctx, `document.getElementById("lines").innerText.includes('name:"<img src=x onerror=window.pwned=1>')`)
	do(t, ctx, chromedp.Evaluate(`ftrace.search.start("no room")`, nil))
	becomes(t, ctx, `document.querySelectorAll("#matches li").length > 0`)
	isText(ctx)
	do(t, ctx, click("#results-close"), chromedp.Evaluate(`ftrace.show("waiting")`, nil))
	becomes(t, ctx, `document.getElementById("waiting").dataset.state === "done" && document.querySelectorAll("#waiting-rows tr").length > 1`)
	isText(ctx)
	_, _, answer := get(t, s.URL()+"sql?q="+url.QueryEscape("SELECT COUNT_STAR > 10 FROM events_calls_summary_global_by_event_name WHERE EVENT_NAME = 'call/main/handle'"), nil)
	if !strings.Contains(answer, `"rows":[["1"]]`) {
		t.Errorf("SQL answers %s", answer)
	}

	// When the program ends, all that was recorded is there, and stays.
	do(t, ctx, chromedp.KeyEvent("1"))
	becomes(t, ctx, moves)
	if err := os.WriteFile(filepath.Join(dir, "end"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	<-s.following().over
	becomes(t, ctx, `document.body.dataset.live === "ended" && document.getElementById("follow").hidden && document.getElementById("status").textContent.includes("has ended: this is what was recorded")`)
	becomes(t, ctx, ready+` && ftrace.timeline.data.known === -1`)
	r, err := recording.Open(s.shown[0].dir)
	if err != nil {
		t.Fatal(err)
	}
	var recorded uint64
	for of, list := range plain(t, r, false) {
		if of.row >= callsRow {
			recorded += uint64(len(list))
		}
	}
	sum := value[float64](t, ctx, `(() => { const d = ftrace.timeline.data; let n = 0; for (let i = 0; i < d.n; i++) if (d.row[i] >= 2) n += d.calls[i]; return n; })()`)
	if uint64(sum) != recorded {
		t.Errorf("%v calls are drawn of %d", sum, recorded)
	}
	shots(t, ctx, "live-ended")
	for _, tab := range []context.Context{ctx, other} {
		do(t, tab, page.BringToFront(), chromedp.Reload())
		becomes(t, tab, ready)
		isText(tab)
	}
}

// slicesOf returns what an index has of each row, not merged.
func slicesOf(x *index) map[rowOf][]slice {
	all := map[rowOf][]slice{}
	for g, l := range x.lanes {
		at := marksRow
		for r := range l.all() {
			r.each(0, 0, math.MaxInt64, func(s slice) {
				s.what &= 1<<firstShift - 1
				all[rowOf{g, at}] = append(all[rowOf{g, at}], s)
			})
			at++
		}
	}
	for _, list := range all {
		slices.SortFunc(list, func(a, b slice) int { return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end)) })
	}
	return all
}

// TestFollower: the index of a recording that is followed is that of one that is read at once.
func TestFollower(t *testing.T) {
	for _, name := range []string{"workers", "parser", "convoy"} {
		at, err := newShown(recorded(t, name), Options{})
		if err != nil {
			t.Fatal(err)
		}
		at.index.build(nil, func() bool { return true }, nil, nil)
		s, err := newShown(recorded(t, name), Options{})
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		time.AfterFunc(200*time.Millisecond, func() { close(done) })
		f := &follower{x: s.index, why: func() string { return "over" }, processor: func() time.Duration { return 0 }, spent: func() time.Duration { return 0 }}
		if err := live.Tail(s.dir, done, errors.New("nothing"), f, live.Room{Read: live.KeepAll}, io.Discard); err != nil {
			t.Fatal(err)
		}
		want, have := slicesOf(at.index), slicesOf(s.index)
		if len(want) == 0 || !reflect.DeepEqual(have, want) || s.index.calls != at.index.calls || s.index.ended != "over" {
			t.Errorf("%s: %d calls, not %d:\n%v\nand not\n%v", name, s.index.calls, at.index.calls, have, want)
		}
	}
}

// TestForget: what has been given back is forgotten, but for what lasts on, and the count of slices
// stays right.
func TestForget(t *testing.T) {
	r, err := recording.Open(recorded(t, "workers"))
	if err != nil {
		t.Fatal(err)
	}
	x := newIndex(r)
	x.under = &walker{}
	for g := range uint64(3) {
		for i := range int64(1000) {
			x.take(g, callsRow, slice{begin: i * 1e9, end: i*1e9 + 5, calls: 1})
		}
	}
	x.take(7, callsRow, slice{begin: 0, end: 10e9, calls: 1})
	x.take(8, callsRow, slice{begin: 0, end: 900e9, calls: 1})
	x.take(processorLane|1, callsRow, slice{begin: 0, end: 10e9, calls: 1})
	before := slicesOf(x)
	x.forget(600e9)
	if x.lanes[7] != nil || x.lanes[8] == nil || len(x.lanes) != 4 || x.runners != 0 {
		t.Errorf("there are lanes %v", x.lanes)
	}
	stored := 0
	for of, have := range slicesOf(x) {
		for r := range x.lanes[of.lane].all() {
			for _, list := range r.lists {
				stored += len(list)
			}
		}
		if len(have) > 500 || !reflect.DeepEqual(have, before[of][len(before[of])-len(have):]) {
			t.Errorf("%v: of %d slices %d are left", of, len(before[of]), len(have))
		}
	}
	rows := 0
	for _, l := range x.lanes {
		rows += len(l.rows)
	}
	if stored != x.stored || rows != x.rows {
		t.Errorf("%d slices are stored, not %d, in %d rows, not %d", stored, x.stored, rows, x.rows)
	}
}

// TestRates: what is recorded a second is by the last seconds.
func TestRates(t *testing.T) {
	at := time.Now()
	before := sample{at: at, calls: 100, left: 10, bytes: 1000, processor: time.Second}
	now := sample{at: at.Add(2 * time.Second), calls: 300, left: 310, more: true, bytes: 1001000, processor: 4 * time.Second}
	if got, want := now.since(&before), (rates{Seconds: 2, Calls: 100, Left: 150, More: true, Bytes: 500000, Processor: 1.5}); *got != want {
		t.Errorf("%+v, not %+v", *got, want)
	}
	if got := before.since(&before); got != nil {
		t.Errorf("in no time: %+v", got)
	}
	ended := sample{at: at.Add(time.Second), calls: 100}
	if got := ended.since(&before); got.Calls != 0 || got.Left != 0 || got.Processor != 0 {
		t.Errorf("rates are less than 0: %+v", got)
	}
}
