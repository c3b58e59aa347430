package dtrace

import (
	"fmt"
	"math"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// call returns the call that begins or ends, or nil.
func (m *Machine) call() *recording.Call[saved] {
	if m.stack == nil || m.outer >= len(m.stack.Calls) {
		return nil
	}
	return &m.stack.Calls[m.outer]
}

// depth returns the number of calls around the event.
func (m *Machine) depth() int {
	if m.stack == nil {
		return 0
	}
	return m.stack.Outer() + m.outer
}

// fire runs clauses.
func (m *Machine) fire(clauses []*clause) {
	for i := range m.locals {
		m.locals[i] = number(0)
	}
	for _, c := range clauses {
		m.clause = c
		if c.predicate != nil && !c.predicate(m) {
			continue
		}
		if c.prints {
			m.columns()
		}
		for _, action := range c.actions {
			if action(m); m.done {
				break
			}
		}
		if c.prints && (!m.Quiet || c.plain && m.lineOpen) {
			m.text = append(m.text, '\n')
		}
		m.lineOpen = false
		if len(m.text) > 1<<16 {
			m.Flush()
		}
	}
}

// columns begins a line as dtrace does: the processor, the number of the function, its name and the
// probe's.
func (m *Machine) columns() {
	if m.Quiet {
		return
	}
	if !m.headed {
		m.headed = true
		m.text = fmt.Appendf(m.text, "%3s %6s %32s\n", "CPU", "ID", "FUNCTION:NAME")
	}
	processor, key, name := int32(0), uint32(0), ":"+m.name
	if m.event != nil {
		processor, key = m.event.Processor, m.event.Function
		if name = m.fn.f.ShortName(); !m.fn.f.Probe {
			name += ":" + m.name
		}
	}
	m.text = fmt.Appendf(m.text, "%3d %6d %32s ", processor, key, name)
}

// framesMax is the number of calls in a stack that is a value, unless the program gives one. A
// stack overflow has millions, and each stack would be a value of its own.
const framesMax = 100

// callers returns the functions of the calls under way, the innermost first, one on each line.
func (m *Machine) callers(most int64, own bool) string {
	var b strings.Builder
	if m.stack == nil {
		return ""
	}
	n := m.outer
	if own && m.at != atProbe {
		n++
	}
	if most == math.MaxInt64 {
		most = framesMax
	}
	for i := min(n, len(m.stack.Calls)) - 1; i >= 0 && most > 0; i-- {
		b.WriteString(m.r.Function(m.stack.Calls[i].Function).FullName())
		b.WriteByte('\n')
		most--
	}
	return b.String()
}
