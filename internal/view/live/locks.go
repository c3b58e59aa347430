package live

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/funcname"
	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/symbols"
)

// locks is what a program knows of its locks, to be written.
type locks struct {
	live.Locks
	program *recording.Recording
	clock   recording.Converter
	names   *symbols.Table
	objects map[uint64]*live.Object // those that were asked about
}

// newLocks returns what a process knows of its locks, in the order in which it is written.
func newLocks(s *live.Snapshot, l live.Locks, names *symbols.Table) *locks {
	slices.SortStableFunc(l.Holders, func(a, b live.Holder) int { return cmp.Compare(a.Since, b.Since) })
	slices.SortStableFunc(l.Findings, func(a, b live.Finding) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(b.Lasted, a.Lasted), cmp.Compare(b.Count, a.Count))
	})
	return &locks{l, s.Program, s.Clock, names, nil}
}

// holder returns who holds a lock, since when, and where it was locked.
func (l *locks) holder(h *live.Holder) string {
	mode := ""
	if h.Mode == live.HoldRead {
		mode = " for reading"
	}
	return fmt.Sprintf("%s for %s%s, locked at %s", l.who(h.Goroutine, h.Function, h.Call), l.lasted(l.Now-min(h.Since, l.Now)), mode, where(h.At))
}

// who names a goroutine, and the call that it is or was in.
func (l *locks) who(goroutine uint64, function uint32, call uint64) string {
	if function == 0 {
		return fmt.Sprintf("G%d", goroutine)
	}
	return fmt.Sprintf("G%d in %s #%d", goroutine, l.program.Function(function).ShortName(), call)
}

func (l *locks) lasted(ticks uint64) string {
	return string(recording.AppendDuration(nil, int64(l.clock.Between(0, ticks))))
}

// lock names a lock, whose lowest bit is set if it is taken for reading.
func (l *locks) lock(address uint64) string {
	name := fmt.Sprintf("%#x", address&^1)
	if o := l.objects[address&^1]; o != nil && o.Name != "" {
		name += " " + funcname.Short(o.Name)
	} else if variable := l.names.Variable(address &^ 1); variable != "" {
		name += " " + funcname.Short(variable)
	}
	if address&1 != 0 {
		name += " for reading"
	}
	return name
}

func where(at live.Position) string {
	if at.Function == "" {
		return "an unknown place"
	}
	return fmt.Sprintf("%s (%s:%d)", funcname.Short(at.Function), path.Base(at.File), at.Line)
}

// longHeld is how long a lock is held before it is listed even if no goroutine waits for it.
const longHeld = int64(time.Second)

// write writes which locks are held for long, and what is wrong with how locks are held.
func (l *locks) write(out io.Writer, rows int) {
	n := 0
	for i := range l.Holders {
		h := &l.Holders[i]
		if int64(l.clock.Between(min(h.Since, l.Now), l.Now)) < longHeld {
			continue
		}
		if n++; n == 1 {
			fmt.Fprintf(out, "\nHeld for long, and still held:\n")
		}
		if rows == 0 || n <= rows {
			fmt.Fprintf(out, "%9s  %s by %s, locked at %s\n", l.lasted(l.Now-min(h.Since, l.Now)), l.lock(h.Lock|forReading(h.Mode)), l.who(h.Goroutine, h.Function, h.Call), where(h.At))
		}
	}
	if rows > 0 && n > rows {
		fmt.Fprintf(out, "... and %d more (-n 0 shows all)\n", n-rows)
	}
	l.writeFindings(out, rows)
}

// forReading is the lowest bit of a lock that is taken for reading.
func forReading(mode live.HoldMode) uint64 {
	if mode == live.HoldRead {
		return 1
	}
	return 0
}

func (l *locks) writeFindings(out io.Writer, rows int) {
	heading := live.FindingKind(0)
	n := 0
	for i := range l.Findings {
		f := &l.Findings[i]
		if f.Kind != heading {
			heading, n = f.Kind, 0
			fmt.Fprintf(out, "\n%s\n", findings[f.Kind])
		}
		if n++; rows > 0 && n > rows {
			if n == rows+1 {
				fmt.Fprintln(out, "... (-n 0 shows all)")
			}
			continue
		}
		first, second := &f.Acts[0], &f.Acts[1]
		switch f.Kind {
		case live.FindingOrder:
			fmt.Fprintf(out, "%6d×  %s and %s\n", f.Count, l.lock(f.Locks[0]), l.lock(f.Locks[1]))
			for _, act := range [...]*live.Act{first, second} {
				fmt.Fprintf(out, "         %s, %s ago: locked at %s, then at %s\n", l.who(act.Goroutine, act.Function, act.Call), l.lasted(l.Now-min(act.Since, l.Now)), where(act.Held), where(act.Took))
			}
		case live.FindingRecursion:
			fmt.Fprintf(out, "%6d×  %s by %s: locked at %s, then at %s\n", f.Count, l.lock(f.Locks[0]&^1), l.who(second.Goroutine, second.Function, second.Call), where(second.Held), where(second.Took))
		case live.FindingLong:
			fmt.Fprintf(out, "%9s  %s by %s: locked at %s, unlocked at %s", l.lasted(f.Lasted), l.lock(f.Locks[0]), l.who(second.Goroutine, second.Function, second.Call), where(second.Held), where(second.Took))
			if f.Count > 1 {
				fmt.Fprintf(out, "; %d such times", f.Count)
			}
			fmt.Fprintln(out)
		}
	}
	if l.Lost > 0 {
		fmt.Fprintf(out, "\n%d locks or orders of locks are not known: there was no place for them\n", l.Lost)
	}
}

var findings = map[live.FindingKind]string{
	live.FindingOrder:     "Potential deadlocks: two goroutines locked the same two locks in opposite orders.",
	live.FindingRecursion: "Potential deadlocks: a goroutine locked for reading what it had locked for reading. A writer may come between.",
	live.FindingLong:      "Held for long, the longest time of each place:",
}

// json writes the findings.
func (l *locks) json(enc *json.Encoder) {
	names := map[live.FindingKind]string{live.FindingOrder: "order", live.FindingRecursion: "recursion", live.FindingLong: "long"}
	type act struct {
		Goroutine uint64 `json:"goroutine"`
		Call      string `json:"call,omitempty"` // the goroutine and the call that it was in
		Held      string `json:"held"`           // where it took the first lock
		Took      string `json:"took"`           // where it took the second, or let the first go
	}
	for i := range l.Findings {
		f := &l.Findings[i]
		acts := []act{}
		for j := range f.Acts {
			a := &f.Acts[j]
			acts = append(acts, act{a.Goroutine, l.who(a.Goroutine, a.Function, a.Call), where(a.Held), where(a.Took)})
		}
		if f.Kind != live.FindingOrder {
			acts = acts[1:]
		}
		enc.Encode(struct {
			Finding string    `json:"finding"`
			Count   uint64    `json:"count"`
			Lasted  int64     `json:"lasted,omitempty"` // ns
			Locks   [2]string `json:"locks"`
			Acts    []act     `json:"acts"`
		}{names[f.Kind], f.Count, int64(l.clock.Between(0, f.Lasted)), [2]string{l.lock(f.Locks[0]), l.lock(f.Locks[1])}, acts})
	}
}
