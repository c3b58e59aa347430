package dtrace

import (
	"fmt"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// access is a value of an event that a program names: arg.req->URL->Path, args[2]->ip_saddr, n,
// ret, ret.NAME, err.
type access struct {
	node   *node
	text   string // as it is written
	param  *recording.Path
	result *recording.Path
	field  *recording.Path // of the first result, if result has no such name
	last   bool            // the last result, if it is an error
	never  bool            // it is never known

	of     *function // the function for which it was last looked up
	at     moment
	chosen *recording.Path
	why    string // why there is none

	found bool   // it was found at least once
	asked string // why it was not found, the last time
	weak  bool   // the reason is only that a function has nothing of this name
	said  bool
}

// find returns the value at the machine's current event.
func (a *access) find(m *Machine) recording.Found {
	if m.fn == nil {
		return recording.Found{} // BEGIN and the like, in a clause that is also for calls
	}
	if a.of != m.fn || a.at != m.at {
		a.choose(m)
	}
	if a.chosen == nil {
		a.missing(m, a.why)
		return recording.Found{}
	}
	e := m.args
	if a.chosen.Results {
		e = m.results
	}
	if e == nil {
		return recording.Found{} // it panicked, or its entry was not seen
	}
	if e.Layout == 0 {
		a.missing(m, "values were not recorded: the rules had call, not args")
		return recording.Found{}
	}
	f := m.printer.Find(e, m.fn.f, a.chosen)
	switch {
	case f.Kind != recording.Missing:
		a.found = true
	case f.Why != "":
		a.missing(m, f.Why)
	}
	return f
}

// choose chooses the path for a function.
func (a *access) choose(m *Machine) {
	a.of, a.at, a.chosen, a.why = m.fn, m.at, nil, ""
	f := m.fn.f
	returns := m.at == atReturn
	switch {
	case a.last:
		if returns && fails(f) {
			a.chosen = a.result
		}
		return
	case a.result != nil && returns && a.result.Name != "" && named(f.Results, a.result.Name):
		a.chosen = a.result
	case a.result != nil && returns && a.result.Name == "" && a.result.Value < countResults(f):
		a.chosen = a.result
	case a.field != nil && returns && countResults(f) > 0:
		a.chosen = a.field
	case a.param != nil && (a.param.Name == "" && a.param.Value < len(f.Params) || named(f.Params, a.param.Name)):
		a.chosen = a.param
	}
	if a.chosen != nil {
		return
	}
	what, names := "parameter", f.Params
	if a.param == nil {
		what, names = "result", f.Results
	}
	a.why = fmt.Sprintf("it has no such %s; %s", what, known(what, names))
}

func named(list []recording.Param, name string) bool {
	for i := range list {
		if list[i].Name == name {
			return name != ""
		}
	}
	return false
}

// known lists the names that there are.
func known(what string, names []recording.Param) string {
	if len(names) == 0 {
		return "it has no " + what + "s"
	}
	var list []string
	for i, p := range names {
		if p.Name == "" || p.Name == "_" {
			p.Name = fmt.Sprintf("number %d", i)
		}
		list = append(list, p.Name)
	}
	return "it has " + strings.Join(list, ", ")
}

// missing notes that records such as this one never have the value. If the clause names the
// function, that is reported at once. Otherwise it is reported at the end, if no record had it.
func (a *access) missing(m *Machine, why string) {
	if m.fn.f.Probe && networkArgs[m.fn.f.Package] != nil {
		return // the compiler knows what these have, and the system does not always provide it
	}
	weak := a.chosen == nil
	if why == "" || a.said || a.asked != "" && (weak || !a.weak) {
		return
	}
	a.weak = weak
	f := m.fn.f
	name := f.FullName()
	a.asked = fmt.Sprintf("%s of %s is not there: %s", a.text, name, why)
	if !f.Probe && (strings.Contains(why, "recorded") || strings.Contains(why, "nested")) {
		a.asked += fmt.Sprintf("; ftrace record -f '%s=args%s' records it", name, a.capture())
	}
	if m.clause.exact {
		a.say(m)
	}
}

// capture returns the setting of rules that makes programs record the value.
func (a *access) capture() string {
	path := a.chosen
	if path == nil || len(path.Fields) == 0 {
		return ""
	}
	return ",capture=" + path.String()
}

// say reports that the value is not there.
func (a *access) say(m *Machine) {
	if !a.said && !a.found && a.asked != "" {
		a.said = true
		m.report(&Error{Offset: a.node.at, Message: a.asked, source: m.program.source})
	}
}
