//go:build linux || windows || darwin

package live

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
)

var errLocks = errors.New("its list of locks can't be read")

// Locks returns what the program knows of its locks. It goes on meanwhile.
func (p *Process) Locks() (locks Locks, err error) {
	deadline := time.Now().Add(answerWithin)
	for from := uint64(0); ; {
		answer, err := p.request(0, format.AskLocks, string(binary.LittleEndian.AppendUint64(nil, from)), deadline)
		if err != nil {
			return Locks{}, err
		}
		r := stateReader{rest: answer}
		next := r.word()
		locks.Now, locks.Lost, locks.On = r.word(), r.word(), r.word() != 0
		for r.rest != "" && !r.failed {
			switch kind := r.word(); kind {
			case format.LockHeld:
				locks.Holders = append(locks.Holders, Holder{Lock: r.word(), Goroutine: r.word(), Mode: HoldMode(r.word()),
					Since: r.word(), Function: uint32(r.word()), Call: r.word(), At: r.position()})
			case format.FindingOrder, format.FindingRecursion, format.FindingLong:
				f := Finding{Kind: FindingKind(kind), Count: r.word(), Lasted: r.word(), Locks: [2]uint64{r.word(), r.word()}}
				for i := range f.Acts {
					f.Acts[i] = Act{Goroutine: r.word(), Since: r.word(), Function: uint32(r.word()), Call: r.word(), Held: r.position(), Took: r.position()}
				}
				locks.Findings = append(locks.Findings, f)
			default:
				r.failed = true
			}
		}
		if r.failed || next != 0 && next <= from {
			return Locks{}, errLocks
		}
		if from = next; from == 0 {
			return locks, nil
		}
	}
}

// StatesAndLocks returns what States and Locks do. Of the holders, it returns those that have held
// their lock all the while that the goroutines were listed. So a goroutine that waits for a lock
// waits for those that are said to hold it, and goroutines that wait for each other in a circle do
// so for ever.
func (p *Process) StatesAndLocks() (list []State, now uint64, locks Locks, err error) {
	before, err := p.Locks()
	if err != nil {
		return nil, 0, Locks{}, err
	}
	if !before.On { // nobody is known to hold any
		list, now, err = p.States()
		return list, now, before, err
	}
	seen := map[uint64]bool{}
	for range locksTries {
		if list, now, err = p.States(); err != nil {
			return nil, 0, Locks{}, err
		}
		after, err := p.Locks()
		if err != nil {
			return nil, 0, Locks{}, err
		}
		var all bool
		if locks, all = heldWhile(list, before, after, seen); all {
			break
		}
		before = after
	}
	return list, now, locks, nil
}

// locksTries is how often goroutines and locks are listed until each lock that is waited for had
// one holder meanwhile.
const locksTries = 4

// heldWhile returns after with the holders alone that held their locks from before on, and reports
// whether all locks that goroutines wait for have holders. Those that have none, but are in seen,
// have changed. It adds to seen the locks that someone held before or after.
func heldWhile(list []State, before, after Locks, seen map[uint64]bool) (locks Locks, all bool) {
	type hold struct{ lock, goroutine, since uint64 }
	once, held := map[hold]bool{}, map[uint64]bool{}
	writers := map[hold]bool{}
	for i := range list {
		if g := &list[i]; g.Reason == "sync.RWMutex.Lock" {
			writers[hold{lock: g.Object, goroutine: g.ID}] = true
		}
	}
	// A writer has the mutex in the RWMutex while it waits for readers. It does not wait for
	// itself.
	pending := func(h Holder) bool {
		return h.Mode == HoldMutex && writers[hold{lock: h.Lock, goroutine: h.Goroutine}]
	}
	for _, h := range before.Holders {
		if pending(h) {
			continue
		}
		seen[h.Lock] = true
		if h.Since < before.Now { // else it may have been taken again in the same tick
			once[hold{h.Lock, h.Goroutine, h.Since}] = true
		}
	}
	locks, all = after, true
	locks.Holders, locks.Changed = nil, map[uint64]bool{}
	for _, h := range after.Holders {
		if pending(h) {
			continue
		}
		seen[h.Lock] = true
		if once[hold{h.Lock, h.Goroutine, h.Since}] {
			locks.Holders = append(locks.Holders, h)
			held[h.Lock] = true
		}
	}
	for i := range list {
		if g := &list[i]; g.ForLock() && !held[g.Object] {
			all = false
			if seen[g.Object] {
				locks.Changed[g.Object] = true
			}
		}
	}
	return locks, all
}

func (r *stateReader) position() Position {
	line := int32(r.word()) // the compiler gives some instructions of an endless loop one below 0
	return Position{max(int(line), 0), r.text(), r.text()}
}
