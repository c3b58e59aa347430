// Package heap has a command begin to collect garbage late. Most runs need so little memory that
// they end before, and what a larger one reads first is seldom garbage.
package heap

import (
	"os"
	"runtime"
	"runtime/debug"
)

// first is the size of the heap, in bytes, at which garbage is collected for the first time.
const first = 64 << 20

// Late has garbage collected for the first time when the heap has 64 MB, where Go would begin with
// 4 MB. From then on the heap grows as it does without. GOGC, if it is set, and later calls of
// debug.SetGCPercent take precedence. Late is called once, as a command begins.
func Late() {
	if os.Getenv("GOGC") != "" {
		return
	}
	const percent = first / (4 << 20) * 100
	usual := debug.SetGCPercent(percent)
	type sentinel struct{ *sentinel }
	runtime.SetFinalizer(new(sentinel), func(*sentinel) { // the first collection finds it
		if now := debug.SetGCPercent(usual); now != percent {
			debug.SetGCPercent(now)
		}
	})
}
