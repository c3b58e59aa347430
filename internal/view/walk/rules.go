package walk

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/rule"
)

// Rules are FTRACE's, laid on a recording after the fact: they choose among the calls that were
// recorded what a program that ran with them would have shown. [NewRules] lays them on functions,
// as internal/guest/arm/config.go does. At each call, shows decides as that of
// internal/guest/call/decide.go does to calls as they happen.
type Rules struct {
	clauses []rule.Clause
	idle    []string
	nothing bool     // no clause decides for a function, and all are for functions
	in      []uint32 // by clause: the mark that must be set around a call; 0 if the clause does not ask for one
	after   []uint32 // by clause: the trigger that must be set
	tree    []uint32 // by clause: the mark that its own functions set
	trees   uint32   // all marks of trees

	functions []ruledFunction // by key, before any call
	known     int             // functions that these were laid on
	clock     recording.Converter
}

// state is rules and what they have seen of calls.
type state struct {
	*Rules
	triggered uint32
	functions []ruledFunction // by key
	ended     endedCalls
}

// state returns what knows of no calls yet.
func (s *Rules) state() *state { return &state{Rules: s, functions: slices.Clone(s.functions)} }

// refresh takes in that a recording, which is being written, has other tables.
func (s *state) refresh(r *recording.Recording) {
	rules := *s.Rules
	rules.clock = r.Converter()
	s.Rules = &rules
	if r.Keys() == len(rules.functions) && len(r.Functions()) == rules.known {
		return
	}
	rules.lay(r, func(int) {}, func(int) {})
	seen := s.functions
	s.functions = slices.Clone(rules.functions)
	for key := range min(len(seen), len(s.functions)) {
		to, from := &s.functions[key], &seen[key]
		to.window, to.inWindow, to.suppressed = from.window, from.inWindow, from.suppressed
	}
}

// ruledFunction is what the rules say of a function.
type ruledFunction struct {
	clause     int32  // 1 + index of the clause that decides, 0 if none does
	marks      uint32 // bits that a call of it sets in its frame and those below
	triggers   uint32 // bits that a call of it sets for the whole process
	window     int64  // start of the rate limit's current window, in ns
	inWindow   uint32 // calls shown in it
	suppressed uint32 // calls not shown since the last one that was
}

// An idleClause decides for no function, which its author hardly meant.
type idleClause struct {
	clause   *rule.Clause
	matches  int    // functions, for which later clauses decide
	unhooked string // package that it names, of which no function has a hook
	meant    string // the function that it may mean, "" if there is none
}

// message says what is wrong with it. where is what the functions are of.
func (c idleClause) message(where string) string {
	what := "function"
	switch {
	case c.clause.Probes():
		what = "probe"
	case c.clause.Waits():
		what = "kind of waits"
	}
	switch c.matches {
	case 0:
		return fmt.Sprintf("%q matches no %s of %s", c.clause.Text, what, where) + c.hint()
	case 1:
		return fmt.Sprintf("%q matches 1 %s of %s, but a later clause decides for it (the last one that matches does)", c.clause.Text, what, where)
	}
	return fmt.Sprintf("%q matches %d %ss of %s, but later clauses decide for them (the last one that matches does)", c.clause.Text, c.matches, what, where)
}

// hint says why the clause matches nothing, as far as that is known.
func (c idleClause) hint() string {
	switch {
	case c.meant != "":
		return ": did you mean " + c.meant + "?"
	case c.unhooked != "":
		return fmt.Sprintf(": no function of package %s has a hook: FTRACE_PACKAGES=main,%[1]s, when the program is built, gives it hooks", c.unhooked)
	}
	return ""
}

// meant returns the function that a clause may misspell, "" if there is none.
func meant(clause *rule.Clause, r *recording.Recording) (name string) {
	least := -1
	for _, f := range r.Functions() {
		subject := rule.Func{Probe: f.Probe, Wait: f.Wait, Span: f.Span, Name: f.Name}
		if d := clause.Misspells(&subject); d >= 0 && (least < 0 || d < least) {
			least, name = d, f.ShortName()
		}
	}
	return name
}

// unhooked returns the package that a clause names, as in net/http.Get, if no function of it has a
// hook; otherwise "".
func unhooked(clause *rule.Clause, r *recording.Recording) string {
	s := clause.Selectors[0]
	slash := strings.LastIndexByte(s.Pattern, '/') + 1
	name, _, ok := strings.Cut(s.Pattern[slash:], ".")
	if s.Kind != "func" || !ok || name == "" || strings.ContainsAny(s.Pattern[:slash]+name, "*?(") {
		return ""
	}
	path := s.Pattern[:slash] + name
	for _, f := range r.Functions() {
		of := rule.Func{Package: f.Package, ImportPath: f.ImportPath, PackageName: f.Clause, Name: "x"}
		if !f.Probe && !f.Wait && !f.Span && rule.MatchFunc(path+".x", &of) {
			return ""
		}
	}
	return path
}

// Named returns the functions that a GLOB of rules names, or, if it begins with wait/,
// statement/ or stage/, the kinds of these.
func Named(r *recording.Recording, glob string) ([]*recording.Function, error) {
	var list []*recording.Function
	var events []rule.Clause
	if strings.HasPrefix(glob, "wait/") || strings.HasPrefix(glob, "statement/") || strings.HasPrefix(glob, "stage/") {
		events, _, _ = rule.Parse(glob)
	}
	for _, f := range r.Functions() {
		of := &rule.Func{Probe: f.Probe, Wait: f.Wait, Span: f.Span, Package: f.Package, ImportPath: f.ImportPath, PackageName: f.Clause, Name: f.Name, File: f.File, Line: f.Line}
		if rule.MatchFunc(glob, of) || (f.Wait || f.Span) && rule.Decide(events, of) >= 0 {
			list = append(list, f)
		}
	}
	if len(list) == 0 {
		hint := ""
		if clauses, _, ok := rule.Parse(glob); ok && len(clauses) == 1 {
			hint = idleClause{meant: meant(&clauses[0], r), unhooked: unhooked(&clauses[0], r)}.hint()
		}
		if hint == "" {
			hint = " (ftrace report lists those that were called)"
		}
		return nil, errors.New(glob + " names no function of the recording" + hint)
	}
	return list, nil
}

// NewRules lays rules on the functions of a recording. where is what these are of, in Idle.
func NewRules(text string, r *recording.Recording, where string) (*Rules, error) {
	clauses, fault, ok := rule.Parse(text)
	if !ok {
		return nil, ruleError(text, fault)
	}
	n := len(clauses)
	s := &Rules{clauses: clauses, in: make([]uint32, n), after: make([]uint32, n), tree: make([]uint32, n), clock: r.Converter()}
	bit := uint32(1)
	for i := range clauses {
		c := &clauses[i]
		if !c.FirstSet {
			c.First = 0 // that is for what someone is to read as it happens
		}
		for _, use := range []struct {
			wanted bool
			bits   []uint32
		}{{c.In != "", s.in}, {c.After != "", s.after}, {c.Tree, s.tree}} {
			if !use.wanted {
				continue
			}
			if bit == 0 {
				return nil, fmt.Errorf("-f: more than 32 clauses have tree, in= or after=: leave some out")
			}
			use.bits[i] = bit
			bit <<= 1
		}
		s.trees |= s.tree[i]
	}
	matches, decides := make([]int, n), make([]bool, n)
	s.lay(r, func(clause int) { matches[clause]++ }, func(clause int) { decides[clause] = true })
	s.nothing = n > 0 && !slices.Contains(decides, true) && !slices.ContainsFunc(clauses, func(c rule.Clause) bool { return c.Probes() || c.Waits() || c.Spans() })
	for i, n := range matches {
		if !decides[i] {
			c := idleClause{clause: &clauses[i], matches: n}
			if n == 0 {
				c.meant, c.unhooked = meant(c.clause, r), unhooked(c.clause, r)
			}
			s.idle = append(s.idle, c.message(where))
		}
	}
	return s, nil
}

// lay lays the rules on the functions of a recording. It tells of each function which clauses match
// it, and which one decides.
func (s *Rules) lay(r *recording.Recording, matches, decides func(clause int)) {
	list := r.Functions()
	s.functions, s.known = make([]ruledFunction, r.Keys()), len(list)
	for _, f := range list {
		subject := rule.Func{Probe: f.Probe, Wait: f.Wait, Span: f.Span, Package: f.Package, ImportPath: f.ImportPath, PackageName: f.Clause, Name: f.Name, File: f.File, Line: f.Line, Binary: r.Env.Executable}
		to := &s.functions[f.Key]
		if i := rule.Decide(s.clauses, &subject); i >= 0 {
			to.clause = int32(i + 1)
			to.marks = s.tree[i]
			decides(i)
		}
		for i := range s.clauses {
			if s.clauses[i].Match(&subject) {
				matches(i)
			}
			if s.in[i] != 0 && rule.MatchFunc(s.clauses[i].In, &subject) {
				to.marks |= s.in[i]
			}
			if s.after[i] != 0 && rule.MatchFunc(s.clauses[i].After, &subject) {
				to.triggers |= s.after[i]
			}
		}
	}
}

// ruleError shows where a rule is wrong.
func ruleError(text string, fault rule.Error) error {
	if strings.Contains(text, "\n") {
		return fmt.Errorf("-f: %s", fault.Message)
	}
	return fmt.Errorf("-f: %s\n  %s\n  %s%s", fault.Message, text, strings.Repeat(" ", fault.Offset), strings.Repeat("^", max(fault.Length, 1)))
}

// function returns what the rules say of a function; nothing of those that are not in the tables.
func (s *state) function(key uint32) *ruledFunction {
	if int(key) < len(s.functions) {
		return &s.functions[key]
	}
	return &ruledFunction{}
}

// shows returns the clause by which a call is shown, or nil if it is not. mask has the marks around
// and of the call, and shown is how many shown calls are around it. It mirrors shows in
// internal/guest/call/decide.go.
func (s *state) shows(f *ruledFunction, mask uint32, shown int32, e *recording.Event) *rule.Clause {
	var clause *rule.Clause
	if i := int(f.clause) - 1; i < 0 {
		if clause = s.treeAround(mask); clause == nil {
			return nil
		}
	} else if clause = &s.clauses[i]; s.in[i]&^mask != 0 || s.after[i]&^s.triggered != 0 {
		return nil
	}
	switch {
	case clause.Detail < rule.Call,
		clause.Depth != 0 && uint32(shown) >= clause.Depth,
		clause.First != 0 && e.Call > clause.First,
		clause.Rate != 0 && !s.withinRate(f, clause, e):
		return nil
	}
	return clause
}

// treeAround returns the innermost-written clause whose tree the marks say we are in.
func (s *state) treeAround(mask uint32) *rule.Clause {
	if mask&s.trees == 0 {
		return nil
	}
	for i := len(s.tree) - 1; i >= 0; i-- {
		if s.tree[i]&mask != 0 && s.after[i]&^s.triggered == 0 && s.in[i]&^mask == 0 {
			return &s.clauses[i]
		}
	}
	return nil
}

// withinRate reports whether one more call of f may be shown in the current window.
func (s *state) withinRate(f *ruledFunction, clause *rule.Clause, e *recording.Event) bool {
	now := int64(s.clock.Since(e.Ticks))
	if f.window == 0 || now-f.window >= clause.Per {
		f.window = max(now, 1)
		f.inWindow = 0
	}
	if f.inWindow++; f.inWindow <= clause.Rate {
		return true
	}
	f.suppressed++
	return false
}

// endedCalls remembers what goroutines inherit from the calls that ended last, of those from which
// that is not nothing: a goroutine's first record may come when the call that started it has ended.
type endedCalls struct {
	names  [4096]callName
	values [4096]Inherited
	n      int
}

type callName struct {
	goroutine, number uint64
	function          uint32
}

// Inherited is what a goroutine has from the call that started it.
type Inherited struct {
	caller
	mask uint32
}

// caller is the innermost call that is shown, or sets marks, where a goroutine was started.
type caller struct {
	Function uint32 // 0: there was none
	Number   uint64
}

func (m *endedCalls) add(name callName, v Inherited) {
	i := m.n % len(m.names)
	m.names[i], m.values[i] = name, v
	m.n++
}

func (m *endedCalls) lookup(name callName) Inherited {
	for n := m.n - 1; n >= max(0, m.n-len(m.names)); n-- {
		if i := n % len(m.names); m.names[i] == name {
			return m.values[i]
		}
	}
	return Inherited{}
}

// CheckRules says what is wrong with rules for a program, which would only say so itself and run
// on.
func CheckRules(text string) error {
	_, err := NewRules(text, &recording.Recording{}, "")
	return err
}

// Idle says of clauses that decide for no function, which their author hardly meant.
func (s *Rules) Idle() []string { return s.idle }

// Nothing reports whether the rules show nothing: all clauses are for functions, and none decides
// for one.
func (s *Rules) Nothing() bool { return s.nothing }

// Shows reports whether a clause shows calls of a function, by its key, if nothing else forbids it.
func (s *Rules) Shows(key uint32) bool {
	if int(key) >= len(s.functions) || s.functions[key].clause == 0 {
		return false
	}
	return s.clauses[s.functions[key].clause-1].Detail >= rule.Call
}

// Redacts reports whether a clause has values hidden.
func (s *Rules) Redacts() bool {
	return slices.ContainsFunc(s.clauses, func(c rule.Clause) bool { return c.Redact != "" })
}

// HasMin reports whether a clause leaves out short calls.
func (s *Rules) HasMin() bool {
	return slices.ContainsFunc(s.clauses, func(c rule.Clause) bool { return c.Min > 0 })
}

// Suppressed returns how many calls of a function rate= has left out since it was last asked.
func (w *Walker[G, C]) Suppressed(function uint32) uint32 {
	if w.rules == nil {
		return 0
	}
	f := w.rules.function(function)
	n := f.suppressed
	f.suppressed = 0
	return n
}
