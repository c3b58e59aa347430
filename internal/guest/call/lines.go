//go:build ftrace_core

// How many lines a second a terminal gets. Nobody reads thousands of them, and what was shown
// before is gone. So a program may show ftraceFormat.lines a second, and ftraceLinesAhead before
// that counts. From then on a call is shown if some lines of the current window are left, or if it
// is the first of its function in the window. So what is rare is always shown. The others are
// hidden as those are that rate= hides, and what is within them stands in their place.

package runtime

import "internal/runtime/atomic"

const (
	ftraceLinesUsual = 1000  // a second, on a terminal
	ftraceLinesAhead = 10000 // at least so many are shown without a limit

	ftraceLinesWindow  = 100e6 // ns
	ftraceLinesWindows = 1e9 / ftraceLinesWindow
	ftraceLinesOfCall  = 2
)

// ftraceLines has what is left. Its zero value is for a program that has shown nothing.
var ftraceLines struct {
	window int64 // the current one, since the program started; atomic
	shown  int64 // lines shown, less those that could have been; atomic
	said   uint32
}

// withinLines reports whether one more call of f may be shown in the current window.
func (f *ftraceFunc) withinLines() bool {
	limit := int64(ftraceFormat.lines)
	ahead := max(ftraceLinesAhead, limit)
	now := (nanotime()-ftraceStarted)/ftraceLinesWindow + 1
	if window := atomic.Loadint64(&ftraceLines.window); now > window && atomic.Casint64(&ftraceLines.window, window, now) {
		may := min(now-window, ahead) * max(1, limit/ftraceLinesWindows)
		atomic.Xaddint64(&ftraceLines.shown, -min(may, atomic.Loadint64(&ftraceLines.shown)))
	}
	if shown := atomic.Loadint64(&ftraceLines.shown); shown >= ahead {
		if window := atomic.Loadint64(&f.rated); window == now || !atomic.Casint64(&f.rated, window, now) {
			atomic.Xadd(&f.suppressed, 1)
			ftraceSayLines()
			return false
		}
		if shown >= 2*ahead {
			return true // else it would take minutes to make up for it
		}
	}
	atomic.Xaddint64(&ftraceLines.shown, ftraceLinesOfCall)
	return true
}

// ftraceSayLines says once that calls are hidden. The scheduler, which notes waits on its own
// stack, can't wait for others that print.
func ftraceSayLines() {
	if gp := getg(); gp != gp.m.curg || !atomic.Cas(&ftraceLines.said, 0, 1) {
		return
	}
	b := ftraceNewText()
	b.number("# ftrace: more than ", uint64(ftraceFormat.lines))
	b.str(" lines a second: from here on some calls are not shown. FTRACE_FORMAT=lines=all shows all, FTRACE_OUT=FILE writes all to a file\n")
	b.flush()
	ftraceFreeText(b)
}
