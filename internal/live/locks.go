//go:build linux

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

func (r *stateReader) position() Position { return Position{int(uint32(r.word())), r.text(), r.text()} }
