package text

import (
	"fmt"
	"path"
	"strconv"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
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
	b = AppendObject(b, t.r, e.Function, w.Object, recording.Operation(w.Operation))
	for i, channel := range e.Others() {
		if b = append(b, ", "...); i == 0 && w.Number != 0 {
			b = append(b, "not "...)
		}
		b = strconv.AppendUint(append(b, "0x"...), channel, 16)
	}
	b = append(b, ") "...)
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

// AppendObject appends what a goroutine waited for, as internal/guest/wait/print.go does: an
// address, or a file and what was done with it.
func AppendObject(b []byte, r *recording.Recording, kind uint32, object uint64, done recording.Operation) []byte {
	f := r.Function(kind)
	if !OfFile(f) {
		if object != 0 {
			b = strconv.AppendUint(append(b, "0x"...), object, 16)
		}
		return b
	}
	bytes, counts := done.Bytes()
	if done != 0 && !counts {
		b = append(append(b, done.Name()...), ' ')
	}
	b = append(b, FileName(r, object)...)
	if counts {
		b = append(strconv.AppendUint(append(b, ", "...), bytes, 10), " bytes"...)
	}
	return b
}

// OfFile reports whether a kind of waits is for files: the object of such a wait is one.
func OfFile(kind *recording.Function) bool {
	return kind.Wait && len(kind.Params) > 0 && kind.Params[0].Name == "fd"
}

// FileName returns the descriptor of a file that was waited for, if it had one, and its name, if
// that is known.
func FileName(r *recording.Recording, object uint64) string {
	name := r.File(object)
	fd := object & format.ObjectDescriptor
	switch {
	case fd == format.ObjectDescriptor:
		return name
	case name == "":
		return fmt.Sprintf("fd %d", fd)
	}
	return fmt.Sprintf("fd %d %s", fd, name)
}
