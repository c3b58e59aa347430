//go:build linux

package live

import (
	"encoding/binary"
	"errors"
	"strings"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/escape"
	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
)

var errStates = errors.New("its list of goroutines can't be read")

// States returns all goroutines of the program but the runtime's own, and the ticks when they were
// listed. The program goes on meanwhile: each is as it was when its turn came.
func (p *Process) States() (list []State, now uint64, err error) {
	deadline := time.Now().Add(answerWithin)
	for from := uint64(0); ; {
		answer, err := p.request(format.AskStates, string(binary.LittleEndian.AppendUint64(nil, from)), deadline)
		if err != nil {
			return nil, 0, err
		}
		r := stateReader{rest: answer}
		next := r.word()
		now = r.word()
		for r.rest != "" && !r.failed {
			list = append(list, r.state())
		}
		if r.failed || next != 0 && next <= from {
			return nil, 0, errStates
		}
		if from = next; from == 0 {
			return list, now, nil
		}
	}
}

// stateReader reads an answer.
type stateReader struct {
	rest   string
	failed bool
}

func (r *stateReader) word() uint64 {
	if len(r.rest) < 8 {
		r.failed, r.rest = true, ""
		return 0
	}
	v := binary.LittleEndian.Uint64([]byte(r.rest[:8]))
	r.rest = r.rest[8:]
	return v
}

func (r *stateReader) text() string {
	s, rest, ok := strings.Cut(r.rest, "\x00")
	r.failed, r.rest = r.failed || !ok, rest
	return escape.String(s)
}

func (r *stateReader) state() State {
	s := State{ID: r.word(), Parent: r.word(), Status: Status(r.word()), Kind: uint32(r.word()), Since: r.word(), Object: r.word(),
		Reason: r.text(), Start: r.text(), Creator: r.text()}
	for n := r.word(); n > 0 && !r.failed; n-- {
		s.Calls = append(s.Calls, Position{int(uint32(r.word())), r.text(), r.text()})
	}
	return s
}
