//go:build ftrace_core

// Whether a call is shown: what depends on the calls around and before it. For recorded calls
// internal/view/walk/rules.go does the same.

package runtime

import "internal/runtime/atomic"

// trigger notes the call of a function that other clauses wait for.
func (l *ftraceLaid) trigger() {
	if l.triggers&^l.config.triggered.Load() != 0 {
		l.config.triggered.Or(l.triggers)
	}
}

// shows returns the clause by which the nth call of f is to be shown now, n being count, or nil if
// it is not to be shown. mask has the marks of the call and of those around it. shown is the number
// of shown calls around it.
func (l *ftraceLaid) shows(f *ftraceFunc, mask uint32, shown int32, count uintptr) *ftrace_rule_Clause {
	clause := l.clause
	switch {
	case l.flags&(ftraceSwitchedOff|ftraceMaskedOff) != 0:
		return nil // it is armed only to set marks
	case clause == nil:
		if clause = l.treeAround(mask); clause == nil {
			return nil
		}
	case l.number == 0:
		return clause
	case l.in&^mask != 0 || l.after&^l.config.triggered.Load() != 0:
		return nil
	}
	switch {
	case clause.Detail < ftrace_rule_Call,
		clause.Depth != 0 && uint32(shown) >= clause.Depth:
		return nil
	case clause.First != 0 && uint64(count) > clause.First:
		if l.observer == 0 && atomic.Load8(&f.said) == 0 {
			l.sayFirst(f, clause)
		}
		return nil
	case clause.Rate != 0 && !f.withinRate(clause):
		return nil
	case ftraceFormat.lines != 0 && clause.Rate == 0 && l.observer == 0 && ftraceOut.on && !ftraceRecording.on && !f.withinLines():
		f.sumHidden()
		return nil
	}
	return clause
}

// treeAround returns the clause, the last in the text of the rules, within whose tree the marks say
// we are.
func (l *ftraceLaid) treeAround(mask uint32) *ftrace_rule_Clause {
	r := l.rules
	if mask&r.trees == 0 {
		return nil
	}
	for i := len(r.tree) - 1; i >= 0; i-- {
		if r.tree[i]&mask != 0 && r.after[i]&^l.config.triggered.Load() == 0 && r.in[i]&^mask == 0 {
			return &r.clauses[i]
		}
	}
	return nil
}

// withinRate reports whether one more call of f may be shown in the current window.
func (f *ftraceFunc) withinRate(clause *ftrace_rule_Clause) bool {
	now := nanotime()
	if start := atomic.Loadint64(&f.rated); now-start >= clause.Per && atomic.Casint64(&f.rated, start, now) {
		atomic.Store(&f.inWindow, 0)
	}
	if atomic.Xadd(&f.inWindow, 1) <= clause.Rate {
		return true
	}
	atomic.Xadd(&f.suppressed, 1)
	return false
}

// sayFirst says once that calls of f are no longer shown: of a limit that a clause names, once for
// all functions that it concerns. The scheduler, which notes waits on its own stack, can't wait for
// others that print; no line shows those.
func (l *ftraceLaid) sayFirst(f *ftraceFunc, clause *ftrace_rule_Clause) {
	if gp := getg(); gp != gp.m.curg || atomic.Xchg8(&f.said, 1) != 0 {
		return
	}
	if clause.FirstSet {
		i := 0
		for i < len(l.rules.clauses)-1 && &l.rules.clauses[i] != clause {
			i++
		}
		if !atomic.Cas(&l.rules.limited[i], 0, 1) {
			return
		}
	}
	b := ftraceNewText()
	b.str("# ftrace: ")
	b.name(f)
	b.str(" was shown ")
	b.uint(clause.First)
	if clause.First == 1 {
		b.str(" time")
	} else {
		b.str(" times")
	}
	if clause.FirstSet {
		b.str("; further calls are only counted, also of other functions (first=)\n")
	} else {
		b.str("; further calls are only counted (first=N sets how many are shown)\n")
	}
	b.flush()
	ftraceFreeText(b)
}
