package recording

import (
	"cmp"
	"math"
	"slices"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
)

// A program that is killed can't record which waits are under way. So it records every now and then
// which ones have lasted for a while. Such a record counts if it is the goroutine's last: only the
// end of the recording tells. Blocked events count with the wait that follows them.

// Held has the events of each goroutine that count if no others of the goroutine follow. If it is
// of a part, it has all goroutines that had events there, most of them with none of these.
type Held map[uint64][]Event

// keep reports whether an event is held. Others of its goroutine are dropped if they no longer
// count, or put into ready if they do: then the event follows them there.
func (h Held) keep(e *Event, part bool, ready *[]Event) bool {
	held := h[e.Goroutine]
	waits := len(held) > 0 && held[len(held)-1].Kind == format.KindWaiting
	if e.Kind == Blocked || e.Kind == format.KindWaiting {
		if waits {
			held = nil // the event is of a later time
		}
		own := *e
		own.Data = slices.Clone(e.Data)
		h[e.Goroutine] = append(held, own)
		return true
	}
	if part {
		h[e.Goroutine] = nil
	} else {
		delete(h, e.Goroutine)
	}
	if e.Kind == Wait && e.Call == 0 && len(held) > 0 && !waits {
		*ready = append(append(*ready, held...), *e)
		return true
	}
	return false
}

// GoOn goes on with the next part. A Blocked is lost if its wait is in another part.
func (h Held) GoOn(part Held) {
	for g, held := range part {
		if len(held) > 0 {
			h[g] = held
		} else {
			delete(h, g)
		}
	}
}

// AtEnd returns the events that count since the recording ends at ticks. The waits were under way
// then.
func (h Held) AtEnd(ticks uint64) (list []Event) {
	goroutines := make([]uint64, 0, len(h))
	for g, held := range h {
		if n := len(held); n > 0 && held[n-1].Kind == format.KindWaiting {
			goroutines = append(goroutines, g)
		}
	}
	slices.SortFunc(goroutines, func(a, b uint64) int {
		return cmp.Or(cmp.Compare(h[a][0].Ticks, h[b][0].Ticks), cmp.Compare(a, b))
	})
	for _, g := range goroutines {
		for _, e := range h[g] {
			if e.Ticks = max(ticks, e.Ticks); e.Kind == format.KindWaiting {
				e.Kind = Wait
			}
			list = append(list, e)
		}
	}
	return list
}

// Held returns what the stream has kept back when Next returns false, and the ticks of its last
// event, if it reads a part. Other streams return such events themselves, if their windows include
// the recording's end.
func (s *Stream) Held() (Held, uint64) {
	s.noteLast()
	return s.held, s.seen
}

// noteLast finds out when the last event was.
func (s *Stream) noteLast() {
	for _, c := range s.cursors {
		s.seen = max(s.seen, c.ticks)
	}
}

// ends reports whether the window includes the end of the recording, and all was read.
func (s *Stream) ends() bool {
	return len(s.heap) == 0 && s.window.To == math.MaxUint64 && s.horizon == math.MaxUint64
}
