package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	process "github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// armed says which functions of a process are recorded: those of the rules, but for functions that
// were turned on or off since. They are the page's own, and go with it.
type armed struct {
	rules   string // "": those of the program
	turned  []turned
	program []string // names of the functions that these showed at first
}

// turned is a function that was turned on or off.
type turned struct {
	name string // with its package
	on   bool
}

// newArmed returns what rules say, so that clauses can follow.
func newArmed(rules string) *armed {
	switch rules = strings.TrimSpace(rules); rules {
	case "", "0", "off", "false":
		rules = "*=off"
	case "1", "on", "all", "true":
		rules = "*"
	}
	return &armed{rules: rules}
}

// text returns all of it as rules, in which the last clause that matches a function decides.
func (a *armed) text() string {
	lines := []string{a.rules}
	if a.rules == "" {
		lines[0] = "*=off"
		for _, name := range a.program {
			lines = append(lines, clause(name, true))
		}
	}
	for _, t := range a.turned {
		lines = append(lines, clause(t.name, t.on))
	}
	return strings.Join(lines, "\n")
}

// clause returns a clause for one function. What means something in the grammar is any character.
func clause(name string, on bool) string {
	name = "func:" + strings.NewReplacer(";", "?", "#", "?", "&", "?", "=", "?", "\n", "?").Replace(name)
	if !on {
		name += "=off"
	}
	return name
}

// turn returns what it is with a function turned on or off.
func (a *armed) turn(name string, on bool) *armed {
	others := slices.DeleteFunc(slices.Clone(a.turned), func(t turned) bool { return t.name == name })
	return &armed{a.rules, append(others, turned{name, on}), a.program}
}

// enabled returns the names of the functions whose calls are seen.
func enabled(session *live.Session) (names []string, err error) {
	s, err := session.Process.Snapshot(0)
	if err != nil {
		return nil, err
	}
	for _, f := range s.Program.Functions() {
		if int(f.Key) < len(s.Functions) && s.Functions[f.Key].Enabled && !f.Wait && !f.Probe && !f.Span {
			names = append(names, f.FullName())
		}
	}
	return names, nil
}

// A change is what the page asks for: other rules, or one function turned on or off.
type change struct {
	Rules    *string `json:"rules"`
	Function string  `json:"function"`
	On       bool    `json:"on"`
}

const changeMax = 64 << 10 // bytes

// A function that can be recorded, and whether it is.
type armable struct {
	Name string `json:"name"` // with its package
	On   bool   `json:"on"`
}

var errNoControl = errors.New("this page only reads: ftrace web -control PID lets it change what is recorded")

// control answers which functions are recorded, and, asked by POST, changes that.
func (s *Server) control(w http.ResponseWriter, r *http.Request) {
	f := s.following()
	if f == nil || !f.Control {
		http.Error(w, errNoControl.Error(), http.StatusForbidden)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch r.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodPost:
		if r.Header.Get("Origin") == "" { // browsers say it
			http.Error(w, "the request is of no page", http.StatusForbidden)
			return
		}
		var c change
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, changeMax)).Decode(&c); err != nil {
			refuse(w, fmt.Errorf("the request can't be read: %w", err))
			return
		}
		if c.Rules == nil && c.Function == "" {
			refuse(w, errors.New("neither rules nor a function is given"))
			return
		}
		if err := f.change(c); err != nil {
			reply(w, map[string]any{"error": err.Error()}) // what is wrong with rules is an answer
			return
		}
	default:
		http.Error(w, "this is read, or changed by POST", http.StatusMethodNotAllowed)
		return
	}
	text := f.armed.text()
	list, err := f.laid(text)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	reply(w, map[string]any{"rules": text, "functions": list})
}

// change puts what the page asks for in force.
func (f *following) change(c change) error {
	to := f.armed.turn(c.Function, c.On)
	if c.Rules != nil {
		to = newArmed(*c.Rules)
	}
	text := to.text()
	if _, err := f.laid(text); err != nil {
		return err
	}
	if err := f.session.Ask(func(p *process.Process) error { return p.SetRules(text) }); err != nil {
		return err
	}
	f.armed = to
	f.rules.Store(&text)
	return nil
}

// laid returns the functions of the process that can be recorded, and whether rules say so, ordered
// by their names.
func (f *following) laid(text string) ([]armable, error) {
	var s *process.Snapshot
	if err := f.session.Ask(func(p *process.Process) (err error) { s, err = p.Snapshot(0); return err }); err != nil {
		return nil, err
	}
	rules, err := walk.NewRules(text, s.Program, "the process")
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "-f: "))
	}
	list := []armable{}
	for _, of := range s.Program.Functions() {
		if !of.Wait && !of.Probe && !of.Span {
			list = append(list, armable{of.FullName(), rules.Shows(of.Key)})
		}
	}
	slices.SortFunc(list, func(a, b armable) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}
