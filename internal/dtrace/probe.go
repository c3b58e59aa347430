package dtrace

import (
	"slices"
	"strings"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/rule"
)

// moment is the kind of moment at which a probe fires.
type moment uint8

const (
	atBegin  moment = 1 << iota
	atEnd           // when the program ends
	atTick          // each interval
	atEntry         // a call begins
	atReturn        // a call ends, in any way
	atProbe         // a static probe fires
)

// description is a probe description: provider:module:function:name, each of which may be empty or
// a glob.
type description struct {
	at                               int // offset in the source
	text                             string
	provider, module, function, name string
	moments                          moment
	every                            time.Duration // of a tick
	instrument                       bool          // the function is named as in tables: T.M for (*T).M too
}

// The providers of functions, and of kinds of waits, statements and stages. All of these are calls
// of their kinds. A wait has one probe: return.
const (
	callProvider      = "call"
	waitProvider      = "wait"
	statementProvider = "statement"
	stageProvider     = "stage"
)

// ofSpans reports whether a description is for statements or stages.
func (d *description) ofSpans() bool {
	return d.provider == statementProvider || d.provider == stageProvider
}

// newDescription parses a description.
func (s *scanner) newDescription(at int, text string) *description {
	d := &description{at: at, text: text}
	parts := strings.Split(text, ":")
	if len(parts) == 3 && parts[0] == "interval" { // bpftrace's
		d.interval(s, parts[1], parts[2])
		return d
	}
	if len(parts) > 4 {
		s.fault(at, "a probe is provider:module:function:name, and %s has more parts", text)
	}
	for i, to := range []*string{&d.name, &d.function, &d.module, &d.provider} {
		if i < len(parts) {
			*to = parts[len(parts)-1-i]
		}
	}
	d.named()
	own := d.provider == "" || d.provider == "dtrace" || d.provider == "ftrace"
	nothing := d.module == "" && d.function == ""
	unit, tick := strings.CutPrefix(d.name, "tick-")
	switch {
	case d.name == "BEGIN" && own && nothing:
		d.moments = atBegin
	case d.name == "END" && own && nothing:
		d.moments = atEnd
	case tick && nothing && (own || d.provider == "profile"):
		d.tick(s, unit)
	case d.provider == "profile" || strings.HasPrefix(d.name, "profile-") && own:
		s.fault(at, "there are no profile probes: use tick-1s and the like, or, for profiles, ftrace export -format pprof")
	case strings.HasPrefix(d.provider, "kprobe"), strings.HasPrefix(d.provider, "kretprobe"), d.provider == "uprobe", d.provider == "uretprobe",
		d.provider == "syscall", d.provider == "tracepoint", d.provider == "fbt", d.provider == "pid" || strings.HasPrefix(d.provider, "pid$"):
		s.fault(at, "unknown provider %s: Go functions are call:PACKAGE:FUNCTION:entry and :return", d.provider)
	default:
		d.calls(s)
	}
	return d
}

// named takes names as rules and tables have them, such as wait/synch/mutex:return, and
// call:main.run:entry for call::main.run:entry.
func (d *description) named() {
	if d.provider == "" && d.module == callProvider && strings.Contains(d.function, ".") {
		d.provider, d.module = d.module, ""
	}
	if d.provider != "" || d.module != "" {
		return
	}
	provider, rest, ok := strings.Cut(d.function, "/")
	switch {
	case !ok:
	case provider == callProvider:
		slash := strings.LastIndexByte(rest, '/')
		d.provider, d.module, d.function = provider, rest[:max(0, slash)], rest[slash+1:]
		d.instrument = true
	case provider == waitProvider || provider == statementProvider || provider == stageProvider:
		d.provider, d.function = provider, rest
	}
}

// calls sets the moments of a description of functions or static probes.
func (d *description) calls(s *scanner) {
	if d.provider == waitProvider {
		if !anyPart(d.module) || d.name != "" && !glob(d.name, "return") {
			s.fault(d.at, "a wait is recorded when it ends: wait::synch/mutex:return, or wait:::return for all kinds")
		}
		d.moments = atReturn
		return
	}
	if d.ofSpans() && !anyPart(d.module) {
		s.fault(d.at, "statements and stages have no module: statement::sql/*:return, or stage:::entry for all")
	}
	if d.provider == "" || glob(d.provider, callProvider) || d.ofSpans() {
		if d.name == "" || glob(d.name, "entry") {
			d.moments |= atEntry
		}
		if d.name == "" || glob(d.name, "return") {
			d.moments |= atReturn
		}
	}
	if d.provider != callProvider && !d.ofSpans() && anyPart(d.module) && anyPart(d.function) {
		d.moments |= atProbe
	}
	switch {
	case d.provider == "tcp" && d.name == "accept-refused":
		s.fault(d.at, "there is no tcp:::accept-refused: only the kernel sees requests for a port where nobody listens")
	case d.moments != 0:
	case d.provider == callProvider:
		s.fault(d.at, "the probes of functions are called entry and return, not %s", d.name)
	case d.ofSpans():
		s.fault(d.at, "the probes of statements and stages are called entry and return, not %s", d.name)
	default:
		s.fault(d.at, "static probes have no module and function: %s:::%s", d.provider, d.name)
	}
	if d.moments == atProbe && d.provider == "" && !strings.ContainsAny(d.name, "*?") && d.function == "" && d.module == "" && !strings.Contains(d.text, ":") {
		s.fault(d.at, "%s is not a probe: write provider:module:function:name, such as call:main::entry, or BEGIN, END, tick-1s", d.text)
	}
}

func anyPart(s string) bool { return s == "" || s == "*" }

// tickUnits are the units of tick-N. A number without one is a rate per second.
var tickUnits = map[string]time.Duration{
	"ns": 1, "nsec": 1, "us": 1e3, "usec": 1e3, "ms": 1e6, "msec": 1e6, "s": 1e9, "sec": 1e9, "m": 60e9, "min": 60e9, "h": 3600e9, "hour": 3600e9, "d": 86400e9, "day": 86400e9,
}

// tick parses what follows tick-: 1s, 100ms, 97hz.
func (d *description) tick(s *scanner, text string) {
	digits := text[:len(text)-len(strings.TrimLeft(text, "0123456789"))]
	n, ok := parseInteger(strings.TrimLeft(digits, "0"))
	unit := text[len(digits):]
	scale, known := tickUnits[unit]
	switch {
	case !ok || n < 1:
	case known && n < int64(1<<62)/int64(scale):
		d.every = time.Duration(n) * scale
	case unit == "" || unit == "hz":
		d.every = time.Second / time.Duration(n)
	}
	if d.every < time.Microsecond {
		s.fault(d.at, "tick-%s: an interval is tick-1s, tick-100ms, tick-10us, tick-97hz", text)
	}
	d.moments = atTick
}

// interval parses bpftrace's interval:s:1.
func (d *description) interval(s *scanner, unit, n string) {
	if unit != "s" && unit != "ms" && unit != "us" && unit != "hz" {
		s.fault(d.at, "an interval is interval:s:1, interval:ms:100, interval:us:10 or interval:hz:10")
	}
	d.tick(s, n+unit)
	d.name = "tick-" + n + unit
}

// glob reports whether a name matches a pattern, in which * is any run of characters and ? any one.
func glob(pattern, name string) bool {
	return rule.MatchFunc("x."+pattern, &rule.Func{Package: "x", ImportPath: "x", Name: name})
}

// subject returns a function or a static probe as rules see it.
func subject(f *recording.Function) *rule.Func {
	return &rule.Func{Package: f.Package, ImportPath: f.ImportPath, PackageName: f.Clause, Name: f.Name, File: f.File, Line: f.Line}
}

// patterns returns the GLOBs of rules for the functions that a description names.
func (d *description) patterns() []string {
	first := d.pattern()
	receiver, method, ok := strings.Cut(d.function, ".")
	if !d.instrument || !ok || strings.HasPrefix(receiver, "(") {
		return []string{first}
	}
	return []string{first, d.module + ".(*" + receiver + ")." + method}
}

func (d *description) pattern() string {
	module, function := d.module, d.function
	if module == "" {
		if strings.Contains(function, ".") {
			return function // with its package, as lines show it
		}
		module = "*"
	}
	if function == "" {
		function = "*"
	}
	if module == "*" && function == "*" {
		return "*"
	}
	return module + "." + function
}

// exact reports whether a description names one function.
func (d *description) exact() bool {
	return d.module != "" && d.function != "" && !strings.ContainsAny(strings.ReplaceAll(d.module+d.function, "(*", "("), "*?")
}

// matches returns the moments of a function, or of a static probe, at which a description has
// probes.
func (d *description) matches(f *recording.Function) moment {
	if f.Probe {
		if d.moments&atProbe != 0 && (d.provider == "" || glob(d.provider, f.Package)) && (d.name == "" || glob(d.name, f.Name)) {
			return atProbe
		}
		return 0
	}
	if f.Span || d.ofSpans() {
		if f.Span && d.provider == f.Package && (anyPart(d.function) || glob(d.function, f.Name)) {
			return d.moments
		}
		return 0
	}
	if f.Wait || d.provider == waitProvider {
		if f.Wait && d.provider == waitProvider && (anyPart(d.function) || glob(d.function, f.Name)) {
			return atReturn
		}
		return 0
	}
	if d.moments&(atEntry|atReturn) == 0 || !slices.ContainsFunc(d.patterns(), func(glob string) bool { return rule.MatchFunc(glob, subject(f)) }) {
		return 0
	}
	return d.moments & (atEntry | atReturn)
}

// inModule reports whether a function belongs to the description's module.
func (d *description) inModule(f *recording.Function) bool {
	return !f.Probe && !f.Wait && !f.Span && rule.MatchFunc(d.module+".*", subject(f))
}
