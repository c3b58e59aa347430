//go:build linux || windows || darwin

package live

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/escape"
	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
	"github.com/ftrace-wrap/ftrace-wrap/internal/funcname"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/symbols"
)

var errStates = errors.New("its list of goroutines can't be read")

// States returns all goroutines of the program but the runtime's own, and the ticks when they were
// listed. The program goes on meanwhile: each is as it was when its turn came.
func (p *Process) States() (list []State, now uint64, err error) {
	deadline := time.Now().Add(answerWithin)
	for from := uint64(0); ; {
		answer, err := p.request(0, format.AskStates, string(binary.LittleEndian.AppendUint64(nil, from)), deadline)
		if err != nil {
			return nil, 0, err
		}
		r := stateReader{rest: answer, objects: make([]uint64, 0, len(answer)/64)}
		next := r.word()
		now = r.word()
		var stacks []*Stack
		const least = 48 // bytes of a goroutine
		if n := len(answer) / least; cap(list)-len(list) < n {
			list = slices.Grow(list, max(n, len(list)))
		}
		for r.rest != "" && !r.failed {
			list = append(list, r.state(&stacks))
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
	rest    string
	failed  bool
	objects []uint64 // of all goroutines in the answer
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

// state reads a goroutine. What it has in common with others is in the list once.
func (r *stateReader) state(stacks *[]*Stack) State {
	s := State{ID: r.word(), Parent: r.word()}
	packed := r.word()
	kind, since, least := uint32(r.word()), r.word(), r.word()
	from := len(r.objects)
	for range packed >> 16 & 0xffff {
		r.objects = append(r.objects, r.word())
		if r.failed {
			return s
		}
	}
	objects := slices.Clip(r.objects[from:])
	number := packed >> 32
	if number == uint64(len(*stacks)) {
		stack := &Stack{Reason: r.text(), Start: r.text(), Creator: r.text()}
		for n := r.word(); n > 0 && !r.failed; n-- {
			stack.Calls = append(stack.Calls, r.position())
		}
		*stacks = append(*stacks, stack)
	}
	if number >= uint64(len(*stacks)) {
		r.failed = true
		return s
	}
	s.Stack = (*stacks)[number]
	s.Status, s.Stuck, s.Kind, s.Since, s.Least, s.Objects = Status(packed&0xff), packed>>8&1 != 0, kind, since, time.Duration(least), objects
	if len(objects) == 1 {
		s.Object = objects[0]
	}
	return s
}

// Stuck has the program find the goroutines that nothing can wake any more, which States shows from
// then on. For that it stops the program, for at most the time of limit.
func (p *Process) Stuck(limit time.Duration) (Search, error) {
	answer, err := p.request(0, format.AskStuck, string(binary.LittleEndian.AppendUint64(nil, uint64(limit))), time.Now().Add(answerWithin+limit))
	if err != nil {
		return Search{}, err
	}
	r := stateReader{rest: answer}
	s := Search{Took: time.Duration(r.word()), Bytes: r.word(), Late: r.word() != 0, Found: int(r.word())}
	if r.failed {
		return Search{}, errStates
	}
	return s, nil
}

// Objects tells what the locks and channels are that goroutines wait for, and the locks that are
// held or may deadlock, by address, and their names. It is about the first objectsMax, of the
// goroutines that come first. The program goes on meanwhile.
func (p *Process) Objects(states []State, locks Locks, names *symbols.Table) (map[uint64]*Object, error) {
	var waiters []*State // the first for each object, or who has it
	var asked []uint64
	objects := map[uint64]*Object{}
	ask := func(s *State, address uint64) {
		if objects[address] == nil && len(asked) < objectsMax {
			objects[address] = &Object{}
			waiters, asked = append(waiters, s), append(asked, address)
		}
	}
	for i := range states {
		s := &states[i]
		if s.Status != Waiting || s.Reason == "IO wait" {
			continue
		}
		for _, address := range s.Objects {
			ask(s, address)
		}
	}
	for _, h := range locks.Holders {
		ask(&State{ID: h.Goroutine, Stack: &Stack{Calls: []Position{h.At}}}, h.Lock)
	}
	for i := range locks.Findings {
		if f := &locks.Findings[i]; f.Kind == FindingOrder { // of locks that were alive a moment ago
			ask(&State{ID: f.Acts[0].Goroutine, Stack: &Stack{Calls: []Position{f.Acts[0].Held}}}, f.Locks[0]&^1)
			ask(&State{ID: f.Acts[1].Goroutine, Stack: &Stack{Calls: []Position{f.Acts[1].Held}}}, f.Locks[1]&^1)
		}
	}
	if err := p.askAllObjects(asked, waiters, 0, objects, names); err != nil {
		return nil, err
	}
	// Ways from package variables may have no names, as those through maps. Then the calls of the
	// goroutine may know one.
	var hidden []*State
	var again []uint64
	for i, address := range asked {
		if objects[address].hidden {
			hidden, again = append(hidden, waiters[i]), append(again, address)
		}
	}
	if err := p.askAllObjects(again, hidden, askLocal, objects, names); err != nil {
		return nil, err
	}
	for _, s := range waiters {
		s.tellApart(objects)
	}
	for i, address := range asked {
		if at := waiters[i].Place(); objects[address].Name == "" && at.Function != "" {
			objects[address].Place = recording.PlaceName(at.Function, at.File, at.Line)
		}
	}
	return objects, nil
}

// tellApart takes away the name of a variable of a call from channels of a select if several have
// it. It is that of the only variable of their type, and so of one of them at most.
func (s *State) tellApart(objects map[uint64]*Object) {
	named := map[string]*Object{}
	for _, address := range s.Objects {
		o := objects[address]
		if o == nil || o.Name == "" || !s.isVariable(o.Name) {
			continue
		}
		if other := named[o.Name]; other != nil {
			o.Name, other.Name = "", ""
		} else {
			named[o.Name] = o
		}
	}
}

// isVariable reports whether a name is that of a variable of one of the goroutine's calls.
func (s *State) isVariable(name string) bool {
	return slices.ContainsFunc(s.Calls, func(c Position) bool { return strings.HasPrefix(name, funcname.Short(c.Function)+".") })
}

func (p *Process) askAllObjects(asked []uint64, waiters []*State, how uint64, objects map[uint64]*Object, names *symbols.Table) error {
	for at := 0; at < len(asked); {
		n, err := p.askObjects(asked[at:], waiters[at:], how, objects, names)
		if err != nil {
			return err
		}
		at += n
	}
	return nil
}

const (
	objectsMax  = 1024
	askedAtOnce = 256

	askChan  = 1 << 63 // it is a channel
	askLocal = 1 << 62 // what package variables lead to does not count
)

// askObjects is Objects for the first of these. It returns for how many.
func (p *Process) askObjects(asked []uint64, waiters []*State, how uint64, objects map[uint64]*Object, names *symbols.Table) (n int, err error) {
	n = min(len(asked), askedAtOnce)
	var request []byte
	for i, address := range asked[:n] {
		goroutine := waiters[i].ID | how
		if waiters[i].chans() {
			goroutine |= askChan
		}
		request = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(request, address), goroutine)
	}
	answer, err := p.request(0, format.AskWhat, string(request), time.Now().Add(answerWithin))
	if err != nil {
		return 0, err
	}
	for r := (stateReader{rest: answer}); r.rest != ""; {
		number := r.word()
		o := Object{Len: r.word(), Cap: r.word(), Timer: r.word()&2 != 0, Elem: r.text()}
		var steps []symbols.Step
		for n := r.word(); n > 0 && !r.failed; n-- {
			word, value, base, size := r.word(), r.word(), r.word(), r.word()
			if word == 0 { // it may point to a field of it
				value = base
			}
			steps = append(steps, symbols.Step{Word: word, Value: value, Size: size})
		}
		if r.failed || number >= uint64(n) {
			return 0, errStates
		}
		slices.Reverse(steps)
		w := waiters[number]
		of := symbols.Object{Address: asked[number], Chan: w.chans(), Elem: o.Elem, Steps: steps}
		for _, c := range w.Calls {
			of.Calls = append(of.Calls, c.Function)
		}
		o.Name = names.Object(&of)
		o.hidden = o.Name == "" && len(steps) > 0 && steps[0].Word != 0
		*objects[asked[number]] = o
	}
	return n, nil
}
