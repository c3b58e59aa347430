package live

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
	"github.com/ftrace-wrap/ftrace-wrap/internal/funcname"
	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/symbols"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/text"
)

// waiters knows who waits for whom. Who can end a wait for a lock is who holds it. Who can end one
// for a channel may be anyone that has it, so there it ends.
type waiters struct {
	program *recording.Recording
	states  []live.State // by number
	objects map[uint64]*live.Object
	locks   *locks
	file    func(descriptor uint64) string // what it is of now, "" if that is not known
}

// whoWaits asks a process what its goroutines do, who holds its locks, and what they wait for. It
// returns the ticks when they were listed too.
func whoWaits(p *live.Process, s *live.Snapshot) (now uint64, w *waiters, err error) {
	names := symbols.OfProcess(p.PID, p.Code())
	names.Ahead() // while the program lists its goroutines
	states, now, held, err := p.StatesAndLocks()
	if err != nil {
		return 0, nil, err
	}
	slices.SortFunc(states, func(a, b live.State) int { return cmp.Compare(a.ID, b.ID) })
	locks := newLocks(s, held, names)
	objects, err := p.Objects(states, locks.Locks, locks.names)
	if err != nil {
		return 0, nil, err
	}
	locks.objects = objects
	return now, &waiters{s.Program, states, objects, locks, p.Files()}, nil
}

// goroutine returns the goroutine of a number, or nil if there is none any more.
func (w *waiters) goroutine(id uint64) *live.State {
	i, found := slices.BinarySearchFunc(w.states, id, func(g live.State, id uint64) int { return cmp.Compare(g.ID, id) })
	if !found {
		return nil
	}
	return &w.states[i]
}

// does says what a goroutine does, or waits for.
func (w *waiters) does(g *live.State) string {
	if g.Status != live.Waiting {
		return g.Status.String()
	}
	what := "waiting: "
	if g.Stuck {
		what = "stuck: "
	}
	return what + w.wait(g)
}

const selectShown = 6 // channels of a select

// wait returns the kind of a goroutine's wait, and for what it is.
func (w *waiters) wait(g *live.State) string {
	if g.Kind == 0 {
		return g.Reason
	}
	kind := w.program.Function(g.Kind)
	var of []string
	for i, address := range g.Objects {
		if i == selectShown {
			of = append(of, fmt.Sprintf("and %d more", len(g.Objects)-i))
			break
		}
		object := string(text.AppendObject(nil, w.program, g.Kind, address, 0))
		if text.OfFile(kind) {
			object += w.fileName(address)
		} else {
			object += w.called(address, g.Place())
		}
		of = append(of, object)
	}
	if len(of) == 0 {
		return kind.FullName()
	}
	return kind.FullName() + "(" + strings.Join(of, ", ") + ")"
}

// fileName returns the name of a file after a blank, if the tables have none, as of one that a
// goroutine waited for before waits were observed.
func (w *waiters) fileName(object uint64) string {
	if w.program.File(object) != "" {
		return ""
	}
	if name := w.file(object & format.ObjectDescriptor); name != "" {
		return " " + name
	}
	return ""
}

// called returns the name of an object after a blank. A channel that has only that of a place has
// its type before it. The name is left out if it is that of at, which the line says.
func (w *waiters) called(address uint64, at live.Position) (called string) {
	o := w.objects[address]
	if o == nil {
		return ""
	}
	if o.Name == "" && o.Elem != "" {
		called = " chan " + o.Elem
	}
	if name := cmp.Or(funcname.Short(o.Name), o.Place); name != "" && name != recording.PlaceName(at.Function, at.File, at.Line) {
		called += " " + name
	}
	return called
}

// holders returns who holds the lock that a goroutine waits for, the one that has held it longest
// first. There are none if that is not known.
func (w *waiters) holders(g *live.State) (holders []*live.Holder) {
	if !g.ForLock() {
		return nil
	}
	for i := range w.locks.Holders {
		if h := &w.locks.Holders[i]; h.Lock == g.Object {
			holders = append(holders, h)
		}
	}
	return holders
}

// heldShown is how many holders of a lock are listed.
const heldShown = 4

// heldBy returns a line for each goroutine that holds the lock for which a goroutine waits, with
// what that one waits for.
func (w *waiters) heldBy(g *live.State) (lines []string) {
	if !g.ForLock() {
		return nil
	}
	holders := w.holders(g)
	if len(holders) == 0 {
		return []string{w.heldByNone(g)}
	}
	for i, h := range holders {
		if i == heldShown {
			return append(lines, fmt.Sprintf("held by %d more", len(holders)-i))
		}
		lines = append(lines, w.holder(h, map[uint64]bool{g.ID: true}))
	}
	return lines
}

// heldByNone says why there is nobody to name as the holder of the lock that a goroutine waits for.
func (w *waiters) heldByNone(g *live.State) string {
	if w.locks.Changed[g.Object] {
		return "held by one goroutine after the other, none for long"
	}
	return "held by an unknown goroutine"
}

// holder tells of a goroutine that holds a lock, and of those that it waits for: held by G7 in
// main.flush #2 for 3s, locked at main.flush (main.go:12), which waits for ... The goroutines in
// told are known already.
func (w *waiters) holder(h *live.Holder, told map[uint64]bool) string {
	if told[h.Goroutine] {
		return fmt.Sprintf("held by G%d", h.Goroutine)
	}
	told[h.Goroutine] = true
	said, g := "held by "+w.locks.holder(h), w.goroutine(h.Goroutine)
	switch {
	case g == nil:
		return said + ", which has ended"
	case g.Status != live.Waiting:
		return said + ", " + g.Status.String()
	}
	said += ", which waits for " + w.waitAt(g)
	by := w.holders(g)
	switch {
	case len(by) > 0:
		return said + ", " + w.holder(by[0], told)
	case g.ForLock():
		return said + ", " + w.heldByNone(g)
	}
	if other := w.other(g); other != "" {
		said += ", " + other
	}
	return said
}

// other says who is on the other side of a channel: nobody waits there, or the goroutine would not
// wait. It says nothing of the channel of a timer, which needs nobody there.
func (w *waiters) other(g *live.State) string {
	o := w.objects[g.Object]
	switch {
	case o == nil || o.Elem == "" || o.Timer:
		return ""
	case strings.HasPrefix(g.Reason, "chan send") && o.Cap > 0:
		return fmt.Sprintf("from which nobody receives, and whose buffer of %d is full", o.Cap)
	case strings.HasPrefix(g.Reason, "chan send"):
		return "from which nobody receives"
	case strings.HasPrefix(g.Reason, "chan receive"):
		return "to which nobody sends"
	}
	return ""
}

// cycle is goroutines each of which waits for a lock that the next one holds, the last for one of
// the first.
type cycle struct {
	Cycle []uint64 `json:"cycle"`
	Waits []string `json:"waits"` // what each waits for
}

// cycles returns those of all goroutines. All of them hold locks.
func (w *waiters) cycles() [][]uint64 {
	var all []uint64
	for _, h := range w.locks.Holders {
		all = append(all, h.Goroutine)
	}
	slices.Sort(all)
	return text.Cycles(all, w.awaits)
}

// awaits returns the goroutines that hold the lock for which one waits.
func (w *waiters) awaits(id uint64) (list []uint64) {
	if g := w.goroutine(id); g != nil {
		for _, h := range w.holders(g) {
			list = append(list, h.Goroutine)
		}
	}
	return list
}

// waitAt returns what a goroutine waits for, and where.
func (w *waiters) waitAt(g *live.State) string {
	if at := g.Place(); at.Function != "" {
		return w.wait(g) + " at " + where(at)
	}
	return w.wait(g)
}
