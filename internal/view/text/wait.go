package text

import (
	"path"
	"strconv"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// wait shows a wait that has ended, as internal/guest/wait/print.go does.
func (t *tree) wait(st *Stack, e *recording.Event) {
	t.now = e.Ticks
	t.release(st)
	depth := int32(e.Depth)
	if t.w.Ruled() {
		depth = st.Data.Shown
	}
	w := e.Wait()
	b := append(t.prefix(t.b[:0], st.Goroutine, depth), "- "...)
	b = append(append(b, t.r.Function(e.Function).FullName()...), '(')
	b = append(AppendObject(b, t.r.Function(e.Function), w.Object), ") "...)
	b = recording.AppendDuration(b, int64(t.clock.Between(w.Begin, e.Ticks)))
	if w.Number == 0 {
		b = append(b, " and waits still"...)
	}
	if site := t.r.Site(w.Site); site != nil {
		b = append(b, " at "...)
		b = append(b, path.Base(site.File)...)
		b = append(b, ':')
		b = strconv.AppendInt(b, int64(site.Line), 10)
	}
	if w.Goroutine != 0 {
		b = append(b, ", ended by G"...)
		b = strconv.AppendUint(b, w.Goroutine, 10)
		if w.Function != 0 {
			b = append(b, t.function(w.Function).exit[len(" //"):]...)
			b = append(b, " #"...)
			b = strconv.AppendUint(b, w.Call, 10)
		}
	}
	b = append(b, '\n')
	t.b = b
	t.out.Add(st.Goroutine, b)
}

// AppendObject appends what a goroutine waited for: an address, or the descriptor of a file.
func AppendObject(b []byte, kind *recording.Function, object uint64) []byte {
	switch {
	case len(kind.Params) > 0 && kind.Params[0].Name == "fd":
		b = strconv.AppendUint(append(b, "fd "...), object, 10)
	case object != 0:
		b = strconv.AppendUint(append(b, "0x"...), object, 16)
	}
	return b
}
