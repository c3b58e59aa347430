package dtrace

import (
	"errors"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/rule"
)

// A Program is a compiled program. It is run once, by a Machine.
type Program struct {
	Quiet bool // #pragma D option quiet

	source       string
	clauses      []*clause
	aggregations []*aggregation
	globals      int // number of variables of each sort
	locals       int
	own          int // of goroutines
	arrays       int
	ownArrays    int
	needs        needs
	accesses     []*access
}

// clause is a compiled clause: what is done at some probes.
type clause struct {
	descriptions []*description
	predicate    func(*Machine) bool // nil: always
	actions      []func(*Machine)
	prints       bool // it prints something itself, and does not only fill maps
	plain        bool // it prints by trace or stack, which do not end a line
	moments      moment
	exact        bool // it names functions without globs
}

// needs is what a program needs of calls.
type needs struct {
	values  bool // parameters or results
	entries bool // parameters when the call returns
	calls   bool // the calls under way on each goroutine
	others  bool // of all calls, not only its own: caller, stack(), depth
	waits   bool // of all kinds
	paths   []string
	fields  []string // of static probes' arguments
	whole   bool     // static probes' arguments are needed as they are
}

// Compile compiles a program. The error is an *Error, with its place in the text.
func Compile(source string) (p *Program, err error) {
	defer func() {
		if fault := caught(recover()); fault != nil {
			p, err = nil, fault
		}
	}()
	t := parse(source)
	c := newCompiler(t)
	c.program()
	return c.p, nil
}

// caught returns the *Error with which scanner.fault has panicked. Other panics go on.
func caught(r any) *Error {
	fault, ok := r.(*Error)
	if !ok && r != nil {
		panic(r)
	}
	return fault
}

// Rules returns the FTRACE rules by which a traced program records just what this one needs.
func (p *Program) Rules() string {
	var clauses []string
	if p.needs.others {
		clauses = append(clauses, "*=call")
	}
	if p.needs.waits {
		clauses = append(clauses, "wait/*=call")
	}
	detail := "call"
	if p.needs.values {
		detail = "args"
	}
	spans := detail
	if len(p.needs.paths) > 0 {
		detail += ",capture=" + strings.Join(p.needs.paths, "+")
	}
	for _, c := range p.clauses {
		for _, d := range c.descriptions {
			switch {
			case d.provider == waitProvider:
				clauses = append(clauses, "wait/"+ruleText(orAny(d.function))+"=call")
			case d.ofSpans():
				clauses = append(clauses, d.provider+"/"+ruleText(orAny(d.function))+"="+spans)
			case d.moments&(atEntry|atReturn) != 0:
				for _, glob := range d.patterns() {
					clauses = append(clauses, "func:"+ruleText(glob)+"="+detail)
				}
			}
			if d.moments&atProbe != 0 {
				clauses = append(clauses, "probe/"+ruleText(orAny(d.provider))+"/"+ruleText(orAny(d.name))+"="+p.probeDetail(d.provider))
			}
		}
	}
	var rules []string
	for _, clause := range clauses {
		if !slices.Contains(rules, clause) {
			rules = append(rules, clause)
		}
	}
	if len(rules) == 0 {
		return "*=off" // "off" alone would record nothing at all
	}
	return strings.Join(rules, "; ")
}

// probeDetail returns what is to be recorded of a provider's static probes. The last rule for a
// probe decides. So all rules of providers that have them contain the fields that one clause needs.
func (p *Program) probeDetail(provider string) string {
	if p.needs.whole {
		return "args"
	}
	fields := p.needs.fields
	if provider != "" && !strings.ContainsAny(provider, "*?") {
		fields = slices.DeleteFunc(slices.Clone(fields), func(field string) bool { return !networkKnows(provider, field) })
	}
	if len(fields) == 0 {
		return "call"
	}
	return "args,fields=" + strings.Join(fields, "+")
}

func orAny(s string) string {
	if s == "" {
		return "*"
	}
	return s
}

// ruleText replaces characters that have a meaning in rules with ?.
func ruleText(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(";#&=\n", r) {
			return '?'
		}
		return r
	}, s)
}

// Check returns an error if a probe description has no probe among functions, which are all
// functions of a program.
func (p *Program) Check(functions []*recording.Function) error {
	for _, c := range p.clauses {
		for _, d := range c.descriptions {
			if d.count(functions) == 0 {
				return p.unmatched(d, functions)
			}
		}
	}
	return nil
}

func (p *Program) unmatched(d *description, functions []*recording.Function) error {
	message := d.text + " matches no probe: ftrace -l lists them"
	switch {
	case d.provider != callProvider:
	case d.module == "" && d.function == "":
		message = "the program has no functions with hooks: build it with go build -toolexec=ftrace-wrap"
	case d.module != "" && !slices.ContainsFunc(functions, d.inModule):
		message = d.text + " matches no probe: no function of " + d.module + " has a hook; FTRACE_PACKAGES, when the program is built, says which packages' have"
	default:
		if meant := d.meant(functions); meant != "" {
			message = d.text + " matches no probe: did you mean " + meant + "?"
		}
	}
	return &Error{Offset: d.at, Message: message, source: p.source}
}

// meant returns the function that a description may misspell, "" if there is none.
func (d *description) meant(functions []*recording.Function) (name string) {
	clauses, _, ok := rule.Parse(ruleText(d.function))
	if !ok || len(clauses) != 1 {
		return ""
	}
	least := -1
	for _, f := range functions {
		if d.module != "" && !d.inModule(f) {
			continue
		}
		if n := clauses[0].Misspells(subject(f)); n >= 0 && (least < 0 || n < least) {
			least, name = n, f.ShortName()
		}
	}
	return name
}

// count returns the number of probes that a description has.
func (d *description) count(functions []*recording.Function) (n int) {
	if d.moments&(atBegin|atEnd|atTick) != 0 {
		return 1
	}
	for _, f := range functions {
		for at := d.matches(f); at != 0; at &= at - 1 {
			n++
		}
	}
	return n
}

// A Listed is a probe as Listing lists it.
type Listed struct {
	Provider string   `json:"provider"`
	Module   string   `json:"module"`
	Function string   `json:"function"`
	Name     string   `json:"name"`
	Args     []string `json:"args"` // NAME TYPE
}

// List returns the probes that a description matches among all functions of a program; "" matches
// all.
func List(pattern string, functions []*recording.Function) (list []Listed, err error) {
	defer func() {
		if fault := caught(recover()); fault != nil {
			list, err = nil, fault
		}
	}()
	s := &scanner{source: pattern}
	var wanted []*description
	for _, text := range strings.FieldsFunc(pattern, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' }) {
		wanted = append(wanted, s.newDescription(strings.Index(pattern, text), text))
	}
	if len(wanted) == 0 {
		wanted = append(wanted, s.newDescription(0, ":::"), s.newDescription(0, "wait:::"))
	}
	for _, f := range functions {
		var at moment
		for _, d := range wanted {
			at |= d.matches(f)
		}
		params, results := signature(f)
		provider, in := callProvider, module(f)
		if f.Span {
			provider, in = f.Package, ""
		}
		if at&atProbe != 0 {
			list = append(list, Listed{f.Package, "", "", f.Name, params})
		}
		if at&atEntry != 0 {
			list = append(list, Listed{provider, in, f.Name, "entry", params})
		}
		if f.Wait && at != 0 {
			list = append(list, Listed{waitProvider, "", f.Name, "return", nil})
			continue
		}
		if at&atReturn != 0 {
			list = append(list, Listed{provider, in, f.Name, "return", results})
		}
	}
	if len(list) == 0 && pattern != "" {
		return nil, errors.New(pattern + " matches no probe")
	}
	return list, nil
}

// module returns a function's package: its import path, or main.
func module(f *recording.Function) string {
	if f.Package == "main" {
		return f.Package
	}
	return f.ImportPath
}

// signature returns the parameters and results of a function with their types.
func signature(f *recording.Function) (params, results []string) {
	of := func(names []recording.Param, types []string) []string {
		list := []string{}
		for len(names) < len(types) {
			names = append(slices.Clip(names), recording.Param{})
		}
		for i, p := range names {
			text := p.Name
			if i < len(types) && f.Probe {
				text = types[i] // with the name before it
			} else if i < len(types) && types[i] != "" && types[i] != "_" {
				text = strings.TrimSpace(text + " " + types[i])
			} else if text == "" {
				text = "_"
			}
			list = append(list, text)
		}
		return list
	}
	in, out := splitSignature(f.Type)
	return of(f.Params, in), of(f.Results, out)
}

// splitSignature splits a type such as func(*T,map[K]V)(int,error).
func splitSignature(s string) (params, results []string) {
	rest, ok := strings.CutPrefix(s, "func(")
	if !ok {
		return nil, nil
	}
	params, rest = splitTypes(rest)
	rest = strings.TrimSpace(rest)
	if inner, ok := strings.CutPrefix(rest, "("); ok {
		results, _ = splitTypes(inner)
	} else if rest != "" {
		results = []string{rest}
	}
	return params, results
}

// splitTypes splits types at their commas, up to the parenthesis that closes them.
func splitTypes(s string) (list []string, rest string) {
	depth, from := 0, 0
	for i := range len(s) {
		switch s[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth == 0 {
				if t := strings.TrimSpace(s[from:i]); t != "" || len(list) > 0 {
					list = append(list, t)
				}
				return list, s[i+1:]
			}
			depth--
		case ',':
			if depth == 0 {
				list = append(list, strings.TrimSpace(s[from:i]))
				from = i + 1
			}
		}
	}
	return append(list, strings.TrimSpace(s[from:])), ""
}

// countResults returns the number of a function's results, as far as the tables show it: only its
// type has results without names.
func countResults(f *recording.Function) int {
	_, results := splitSignature(f.Type)
	return max(len(results), len(f.Results))
}

// fails reports whether the last result of a function is an error. If the tables do not have its
// type, its name tells.
func fails(f *recording.Function) bool {
	_, results := splitSignature(f.Type)
	if n := len(results); n > 0 && results[n-1] != "" && results[n-1] != "_" {
		return results[n-1] == "error"
	}
	n := len(f.Results)
	return n > 0 && (f.Results[n-1].Name == "err" || f.Type == "")
}
