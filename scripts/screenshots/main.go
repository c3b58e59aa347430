// Screenshots makes the pictures of ftrace web that are in README.md and docs/web.md anew, from the
// recordings in testdata/recordings, and from examples/books while that runs, which it builds with
// hooks, and which must be on Linux. Chromium must be installed.
//
// Usage, from the repository of ftrace-wrap:
//
//	go run ./scripts/screenshots [-o DIR] [-all RECORDING...]
//
// With -all it takes pictures of each view of a recording, or of several, apart by spaces, or of
// examples/books while that runs, at 1,280 and 400 pixels, light and dark, to look at.
package main

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/ftrace-wrap/ftrace-wrap/internal/view/web"
)

// A picture is one of a page.
type picture struct {
	name, recording string // or a program of examples, which runs; or several recordings, apart by spaces
	width, height   int64
	scheme          string // light or dark
	view            string // what follows # in the page's URL
	do              string // JavaScript that is run then
	until           string // JavaScript that is true when all is there
}

// pick clicks the longest call of a function on the timeline, or of all if it has no name.
func pick(function string) string {
	return fmt.Sprintf(`{ const t = ftrace.timeline, d = t.data; let best = -1;
		for (let i = 0; i < d.n; i++) if (d.row[i] >= 2 && d.calls[i] === 1 && ["", ftrace.function(d.what[i] & 0xffffff).name].includes(%q)
			&& (best < 0 || d.end[i] - d.begin[i] > d.end[best] - d.begin[best])) best = i;
		t.pick({ r: 0, g: d.lanes[d.lane[best]].g, row: d.row[best], begin: d.begin[best], end: d.end[best], what: d.what[best], calls: 1, key: d.what[best] & 0xffffff }); }`, function)
}

const (
	recordings = "testdata/recordings/"
	books      = "examples/books"
)

var pictures = []picture{
	{"web", recordings + "parser", 1280, 560, "light", "from=460000&to=550000", pick("main.evaluate") + `; ftrace.timeline.source(ftrace.timeline.picked)`,
		`document.getElementById("details").innerText.includes("source") && document.getElementById("source").dataset.state === "done"`},
	{"web-search", recordings + "parser", 1280, 360, "light", "view=tree&line=0&q=division by zero", "", `document.querySelector("#results[data-state=done]") && document.querySelectorAll("#lines .l").length`},
	{"web-table", recordings + "convoy", 1280, 300, "dark", "view=table&waits=1&sort=self", "", `document.querySelectorAll("#table tbody tr").length`},
	{"web-sql", recordings + "convoy", 1280, 570, "light", "view=sql&chart=bars&of=SUM_TIMER_WAIT&over=EVENT_NAME&sql=" + url.QueryEscape(`SELECT EVENT_NAME, COUNT_STAR, FORMAT_PICO_TIME(SUM_TIMER_WAIT) AS total, SUM_TIMER_WAIT
FROM events_calls_summary_global_by_event_name
WHERE COUNT_STAR ORDER BY SUM_TIMER_WAIT DESC`), "", `document.getElementById("sql").dataset.state === "done"`},
	{"web-requests", recordings + "books", 1280, 620, "light", "", `{ const s = ftrace.spans, i = [...Array(s.data.n).keys()].findLast(i => ftrace.function(s.data.what[i] & 0xffffff).name.startsWith("statement/")), d = s.data;
		ftrace.timeline.pick({ r: 0, g: d.goroutine(i), row: 2 + d.depth[i], begin: d.begin[i], end: d.end[i], what: d.what[i], calls: 1, key: d.what[i] & 0xffffff }); }`,
		`document.getElementById("details").innerText.includes("results")`},
	{"web-processes", recordings + "shop " + recordings + "stock", 1280, 760, "light", "lanes=process&spans=0", `{ const t = ftrace.timeline, find = setInterval(() => {
		const a = t.arrows?.list.find(a => a.passes);
		if (!a) return;
		clearInterval(find);
		t.show(a.at - 1e6, a.at + 3e6);
		t.scroll.scrollTop = t.lanes.find(l => l.r === a.from.r && l.g === a.from.g).y;
	}, 20); }`, `ftrace.timeline.to && !ftrace.timeline.turn.asking && !ftrace.timeline.arrowsTurn.asking && ftrace.timeline.sharp(ftrace.timeline.data) && ftrace.timeline.arrows.list.some(a => a.passes)`},
	{"web-d", recordings + "parser", 1280, 480, "light", "view=d&dchart=bars&d=" + url.QueryEscape("call:main::return /err == nil/ { @[probefunc] = quantize(elapsed); }"), "", `document.getElementById("d").dataset.state === "done"`},
	{"web-live", books, 1280, 420, "light", "follow=60000000", "", `ftrace.live.following && ftrace.status.now - ftrace.status.from > 6e9 && ftrace.status.live.rates && ftrace.spans.data?.n > 0`},
	{"web-flame", recordings + "convoy", 1280, 250, "light", "view=flame", "", `document.getElementById("flame").dataset.state === "done"`},
}

func main() {
	out := flag.String("o", filepath.Join("docs", "images"), "write into `DIR`")
	all := flag.String("all", "", "take pictures of each view of `RECORDINGS`, or of "+books)
	flag.Parse()
	list := pictures
	if *all != "" {
		list = views(*all)
	}
	if err := run(*out, list); err != nil {
		fmt.Fprintln(os.Stderr, "screenshots:", err)
		os.Exit(1)
	}
}

// views returns a picture of each view at each width and in each scheme.
func views(recording string) (list []picture) {
	all := []picture{
		{name: "timeline"},
		{name: "processors", view: "lanes=processor"},
		{name: "details", do: pick(""), until: `document.getElementById("details").innerText`},
		{name: "help", do: `document.getElementById("help").showModal()`},
		{name: "trace", view: "view=tree&line=0", until: `document.querySelectorAll("#lines .l").length`},
		{name: "search", view: "view=tree&line=0&q=main", until: `document.querySelector("#results[data-state=done]") && document.querySelectorAll("#lines .l").length`},
		{name: "source", view: "view=tree&line=0", do: `ftrace.tree.clicked = setInterval(() => {
			const line = document.querySelector("#lines button.t");
			line?.click();
			if (line) clearInterval(ftrace.tree.clicked);
		}, 20)`, until: `document.getElementById("source").dataset.state === "done"`},
		{name: "flame", view: "view=flame", until: `document.getElementById("flame").dataset.state === "done"`},
		{name: "table", view: "view=table&waits=1", until: `document.querySelectorAll("#table tbody tr").length`},
		{name: "d", view: "view=d&dchart=bars&d=" + url.QueryEscape("call:::return { @[probefunc] = quantize(elapsed); }"), until: `document.getElementById("d").dataset.state === "done"`},
		{name: "sql", view: "view=sql&sql=SHOW TABLES", until: `document.getElementById("sql").dataset.state === "done"`},
		{name: "waits", view: "view=waiting", until: `document.getElementById("waiting-note").innerText`},
	}
	switch strings.Count(recording, " ") {
	case 0:
	case 1:
		for _, part := range []string{"functions", "paths", "parting"} {
			all = append(all, picture{name: "compare-" + part, view: "view=compare&part=" + part, until: fmt.Sprintf(`document.getElementById("compare").dataset.%s === "done"`, part)})
		}
		fallthrough
	default:
		all = append(all, picture{name: "processes", view: "lanes=process"})
	}
	for _, one := range all {
		for _, one.width = range []int64{1280, 400} {
			for _, one.scheme = range []string{"light", "dark"} {
				p := one
				p.name, p.recording, p.height = fmt.Sprintf("%s-%d-%s", one.name, one.width, one.scheme), recording, 800
				list = append(list, p)
			}
		}
	}
	return list
}

func run(out string, list []picture) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath("chromium"), chromedp.NoSandbox)
	ctx, end := chromedp.NewExecAllocator(context.Background(), options...)
	defer end()
	ctx, end = chromedp.NewContext(ctx, chromedp.WithErrorf(func(string, ...any) {})) // of events that it does not know
	defer end()
	if err := chromedp.Run(ctx); err != nil { // the browser is there for all
		return err
	}
	programs, endPrograms := context.WithCancel(context.Background())
	defer endPrograms()
	servers := map[string]*web.Server{}
	var serving sync.WaitGroup
	defer func() {
		if self, err := os.FindProcess(os.Getpid()); err == nil && len(servers) > 0 {
			self.Signal(syscall.SIGTERM) // which ends them
			serving.Wait()
		}
	}()
	for _, p := range list {
		s := servers[p.recording]
		if s == nil {
			var err error
			o := web.Options{Address: "127.0.0.1:0", Source: "."}
			if p.recording == books {
				s, err = follow(programs, p.recording, o)
			} else {
				s, err = web.Listen(strings.Fields(p.recording), o)
			}
			if err != nil {
				return err
			}
			servers[p.recording] = s
			serving.Go(func() { s.Run(io.Discard, os.Stderr) })
		}
		b, err := take(ctx, s.URL(), p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		name := filepath.Join(out, p.name+".png")
		if err := os.WriteFile(name, b, 0o644); err != nil {
			return err
		}
		fmt.Printf("%s\t%d bytes\n", name, len(b))
	}
	return nil
}

// follow builds a program with hooks, runs it until the context ends, and follows it.
func follow(ctx context.Context, folder string, o web.Options) (*web.Server, error) {
	dir, err := os.MkdirTemp("", "screenshots")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	wrap, program := filepath.Join(dir, "ftrace-wrap"), filepath.Join(dir, filepath.Base(folder))
	for _, args := range [][]string{{"-o", wrap, "./cmd/ftrace-wrap"}, {"-toolexec=" + wrap, "-o", program, "./" + folder}} {
		build := exec.Command("go", append([]string{"build"}, args...)...)
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return nil, fmt.Errorf("building %s: %w", args[len(args)-1], err)
		}
	}
	cmd := exec.CommandContext(ctx, program, "-for", "10m")
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go cmd.Wait()
	for begun := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		s, err := web.Follow(strconv.Itoa(cmd.Process.Pid), o, web.LiveOptions{Rules: "main.(*shelf).*;stage/*;statement/*;wait/sleep", Budget: 10, Keep: 64 << 20, Warn: os.Stderr})
		if err == nil || time.Since(begun) > 10*time.Second { // before, it may be starting
			return s, err
		}
	}
}

// take takes a picture, which has few colours, so that it is small.
func take(ctx context.Context, url string, p picture) ([]byte, error) {
	ctx, end := context.WithTimeout(ctx, time.Minute)
	defer end()
	var b []byte
	err := chromedp.Run(ctx,
		chromedp.EmulateViewport(p.width, p.height),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: p.scheme}}),
		chromedp.Navigate("about:blank"), chromedp.Navigate(url+"#"+p.view),
		chromedp.Poll(`(document.body.dataset.ready === "yes" || window.ftrace?.live?.running) && (document.getElementById("timeline").hidden || ftrace.timeline.data && !ftrace.timeline.turn.asking)`, nil),
		chromedp.Evaluate(cmp.Or(p.do, "0"), nil),
		chromedp.Poll(cmp.Or(p.until, "true"), nil),
		chromedp.Sleep(300*time.Millisecond), // until it is painted
		chromedp.CaptureScreenshot(&b))
	if err != nil {
		return nil, err
	}
	full, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	var small bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&small, paletted(full))
	return small.Bytes(), err
}

// paletted returns a picture with its 64 most frequent colours, and for others the nearest of them.
func paletted(full image.Image) image.Image {
	seen := map[color.Color]int{}
	bounds := full.Bounds()
	for y := range bounds.Dy() {
		for x := range bounds.Dx() {
			seen[full.At(x, y)]++
		}
	}
	colours := slices.SortedFunc(maps.Keys(seen), func(a, b color.Color) int {
		r, g, bl, _ := a.RGBA()
		r2, g2, bl2, _ := b.RGBA()
		return cmp.Or(cmp.Compare(seen[b], seen[a]), cmp.Compare(r, r2), cmp.Compare(g, g2), cmp.Compare(bl, bl2))
	})
	palette := color.Palette(colours[:min(64, len(colours))])
	index := map[color.Color]uint8{}
	for c := range seen {
		index[c] = uint8(palette.Index(c))
	}
	small := image.NewPaletted(bounds, palette)
	for y := range bounds.Dy() {
		for x := range bounds.Dx() {
			small.SetColorIndex(x, y, index[full.At(x, y)])
		}
	}
	return small
}
