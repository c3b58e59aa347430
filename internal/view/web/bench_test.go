package web

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// BenchmarkPage opens the recording that FTRACE_BENCH names in a browser, zooms into it at several
// places, from all of it to single calls, and pans at each zoom.
func BenchmarkPage(b *testing.B) {
	dir := os.Getenv("FTRACE_BENCH")
	if dir == "" {
		b.Skip("FTRACE_BENCH names no recording")
	}
	ctx := browser(b)
	do(b, ctx, chromedp.Navigate("about:blank")) // that the browser starts does not count
	for b.Loop() {
		s := serving(b, dir)
		began := time.Now()
		do(b, ctx, chromedp.Navigate(s.URL()))
		becomes(b, ctx, `window.ftrace?.timeline?.data?.n > 0`)
		b.ReportMetric(float64(time.Since(began).Milliseconds()), "ms-first")
		becomes(b, ctx, `ftrace.status.finished && !ftrace.timeline.turn.asking`)
		b.ReportMetric(time.Since(began).Seconds(), "s-read")
		// A zoom is over when what is on the screen is drawn as exactly as can be.
		do(b, ctx, chromedp.Evaluate(`window.zoomed = [], window.frames = [], window.measured = false;
			async function measure() {
				const t = ftrace.timeline, { from, end } = ftrace.status, frame = () => new Promise(requestAnimationFrame);
				for (const place of [0.1, 0.37, 0.81]) {
					for (let w = end - from; w > 200; w /= 4) {
						const began = performance.now(), middle = from + (end - from) * place;
						t.show(middle - w / 2, middle + w / 2);
						do await frame(); while (t.asking);
						zoomed.push(performance.now() - began);
						for (let i = 0, last = await frame(); i < 30; i++) {
							t.pan(0.02);
							const now = await frame();
							frames.push(now - last);
							last = now;
						}
					}
				}
				for (const list of [zoomed, frames]) list.sort((a, b) => a - b);
			}; measure().then(() => { measured = true; }); 0`, nil))
		becomes(b, ctx, `measured`)
		for _, list := range []string{"zoomed", "frames"} {
			for _, part := range []struct {
				name string
				at   float64
			}{{"median", 0.5}, {"p99", 0.99}, {"max", 1}} {
				at := value[float64](b, ctx, fmt.Sprintf(`%s[Math.floor((%[1]s.length - 1) * %v)]`, list, part.at))
				b.ReportMetric(at, "ms-"+list+"-"+part.name)
			}
		}
		b.ReportMetric(value[float64](b, ctx, `frames.filter(ms => ms > 17.5).length / frames.length * 100`), "%-late-frames")
	}
}

// BenchmarkPictures makes what the page asks for of the recording that FTRACE_BENCH names: pictures
// of stretches of time at several places, from all of it to single calls.
func BenchmarkPictures(b *testing.B) {
	dir := os.Getenv("FTRACE_BENCH")
	if dir == "" {
		b.Skip("FTRACE_BENCH names no recording")
	}
	s, err := newShown(dir, Options{})
	if err != nil {
		b.Fatal(err)
	}
	s.index.open(nil, func() bool { return true })
	readers := []*recording.Recording{<-s.readers, <-s.readers}
	var goroutines []uint64
	for _, l := range s.laneList(false, 0)[:min(20, len(s.index.lanes)-s.index.runners)] {
		goroutines = append(goroutines, l.G)
	}
	var took []float64
	for b.Loop() {
		for _, pixels := range []float64{1280, 2560} {
			for _, place := range []float64{0.1, 0.37, 0.81} {
				for w := float64(s.index.now); w > 200; w /= 1.5 {
					from := max(0, float64(s.index.now)*place-w/2)
					began := time.Now()
					p, err := s.index.picture(b.Context(), readers, drawMax, goroutines, int64(from), int64(from+w), max(1, int64(w/pixels)))
					if err != nil {
						b.Fatal(err)
					}
					p.encode()
					ms := float64(time.Since(began).Microseconds()) / 1000
					took = append(took, ms)
				}
			}
		}
	}
	slices.Sort(took)
	b.ReportMetric(took[len(took)/2], "ms-median")
	b.ReportMetric(took[len(took)*99/100], "ms-p99")
	b.ReportMetric(took[len(took)-1], "ms-max")
}
