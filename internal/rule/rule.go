// Package rule is the grammar of the FTRACE environment variable: which functions of a program are
// traced, and in which detail.
//
//	clauses, err, ok := rule.Parse("main.*; main.noisy=off; pkg:net/...=call,min=1ms")
//	i := rule.Decide(clauses, &f) // the last clause that matches f decides for it
//
// # Grammar
//
//	rules    = clause { ( ";" | newline ) clause }
//	clause   = [ selector { "&" selector } [ "=" item { "," item } ] ]
//	selector = [ "!" ] [ kind ":" ] pattern
//	kind     = "func" | "pkg" | "file" | "bin" | "probe" | "wait"
//	item     = "off" | "count" | "call" | "args" | "deep" | "changes"
//	         | "tree" | "untimed" | "span" | "first=" N | "depth=" N | "in=" GLOB | "after=" GLOB
//	         | "min=" DURATION | "rate=" N ( "/s" | "/m" )
//	         | "fields=" NAME { "+" NAME } | "capture=" PATH { "+" PATH }
//	         | "redact=" ( "off" | NAME { "+" NAME } )
//
// White space around tokens is ignored, empty clauses are ignored, and "#" starts a comment that
// goes to the end of the line. There is no quoting: a pattern that needs one of ; # & = or a
// leading ! says "?" in its place.
//
// The whole value may be empty, "0", "off" or "false": no clauses. A bare selector "1", "on", "all"
// or "true" is "*".
//
// # Selectors
//
// All selectors of a clause must match. "!" negates its selector, with one exception: a clause that
// is nothing but one negated selector means off for what the selector matches, so "!main.noisy" is
// "main.noisy=off", whereas "!main.noisy=args" and "main.*&!main.noisy" negate.
//
// A bare pattern is a probe if it begins with "probe/", a wait if it begins with "wait/", else a
// file if it ends in ".go" or holds ".go:", else a package if it holds "..." (other than the "[..."
// of a generic function), else a function. Patterns that begin with "./" or "../" are refused,
// because a running program does not know where its user stands.
//
// In a GLOB "*" is any run of characters, none and "/" included, and "?" any one character. But the
// "*" of "(*" is just that, unless ")" follows: (*Client).Do is no method of *HTTPClient, and
// (*).Do is a method of any pointer. Everything else stands for itself, so that a function's name
// as traces print it, net/http.(*Client).Do, matches that function.
//
//   - func:GLOB matches a function's full name (package path, ".", name); any
//     end of that which begins after a slash of the package path; the name in
//     the package clause, ".", name; and, if the GLOB has no "." outside
//     brackets, the name after the package or the last dotted part of it (Do
//     matches (*Client).Do). A main package goes both by "main" and by its
//     import path. Where the GLOB has no "[", the type parameters of
//     the name count as absent: main.Map matches main.Map[...].
//   - pkg:PATTERN matches import paths as the go command does: "..." is any
//     string, "net/..." also matches net, no "..." means exactly this package.
//     "main" matches main packages.
//   - file:GLOB, file:GLOB:LINE, file:GLOB:FROM-TO match the path of the source
//     file, or any end of it that follows a slash, so also the base name; with
//     lines, the functions that start there.
//   - probe/GLOB, or probe:GLOB, matches static probes by provider/name. No
//     other selector but bin matches probes, negated ones included: a clause is
//     for functions, or, if it has such a selector that is not negated, for
//     probes.
//   - wait/GLOB, or wait:GLOB, matches kinds of waits by name, such as
//     synch/mutex, and all kinds below a name, such as io/file. As with probes,
//     such a clause is for nothing else.
//   - bin:GLOB matches the base name of the executable, or its whole path if the
//     GLOB has a slash.
//
// # Items
//
// The detail is args unless given, options are off unless given, except that first is 10000. No
// item may be given twice, a clause has one detail, off goes with no other item, and count, which
// prints nothing, not with first, depth, min, rate, fields, capture, redact, untimed or span. A
// clause for probes cannot have tree, min or capture, which are about calls, and no other can have
// fields. A clause for waits cannot have tree, capture, redact, untimed, deep or changes, and one
// for probes, statements or stages no changes. Only a clause for functions can have span.
//
// # Limits on the code
//
// This package is also compiled into Go's package runtime. It imports nothing, keeps to explicit
// allocations (make, new, append and string concatenation), and uses no maps, closures, interfaces
// or method values. Its top-level names are renamed on the way, so no local variable, field or
// literal key may share one (the field Clause.Detail and the method Error.Error do, by design).
package rule

// Detail is how much of a call is traced.
type Detail uint8

const (
	Off     Detail = iota // nothing
	Count                 // counted, not printed
	Call                  // entry and exit
	Args                  // entry and exit with parameters and results
	Deep                  // as Args, and pointers to structs are followed one level
	Changes               // as Deep, and parameters are recorded again when the call ends
)

// String returns the word that the grammar uses for d.
func (d Detail) String() string {
	if d > Changes {
		return "invalid"
	}
	return vocabulary[d].word
}

// A Func is what clauses are matched with: one function of one program.
type Func struct {
	Probe       bool   // it is a static probe: Package is the provider, ImportPath, File and Line mean nothing
	Span        bool   // it is a kind of spans: Package is "statement" or "stage", the rest but Name means nothing
	Wait        bool   // it is an instrument of waits: Name is what follows "wait/", the rest means nothing
	Package     string // as in symbol names: "main" for every main package
	ImportPath  string
	PackageName string // in the package clause, "" if it is not known
	Name        string // after the package: "(*Client).Do"
	File        string // path as compiled
	Line        int    // where the function starts
	Binary      string // path of the executable
}

// A Selector is one condition of a clause.
type Selector struct {
	Negated  bool
	Kind     string // "func", "pkg", "file", "bin", "probe", "wait", "statement" or "stage"
	Pattern  string
	From, To int // lines, for files; To is 0 if any line will do
}

// A Clause says what is traced of the functions that match all its selectors.
type Clause struct {
	Text      string // source text, trimmed
	Selectors []Selector
	Detail    Detail
	First     uint64 // calls printed per function, 0 = no limit
	FirstSet  bool   // the clause says so
	Depth     uint32 // nested levels shown, 0 = no limit
	Min       int64  // shortest call shown, in nanoseconds
	Rate      uint32 // calls printed per function in each window of Per, 0 = no limit
	Per       int64  // nanoseconds
	Tree      bool   // with everything the function calls
	Untimed   bool   // the clock is not read for its calls
	Span      bool   // each call is a span of OpenTelemetry, however short
	In        string // only when called from a function that matches, "" = always
	After     string // not until a function that matches was entered, "" = at once
	Capture   string // of functions: what else is recorded, by path, "+" between, "" = nothing
	Fields    string // of probes: what is wanted of the arguments, by name, "+" between, "" = all
	Redact    string // whose values are hidden besides the usual, parts of names, "+" between, "off" = nobody's
	Own       uint32 // for the user of the clause; Parse leaves it 0
}

// DefaultFirst is the value of Clause.First where a clause does not say.
const DefaultFirst = 10000

// An Error is the first fault found in a text of rules.
type Error struct {
	Offset  int // in bytes, of the text at fault
	Length  int // in bytes; 0 if something is missing at Offset
	Message string
}

func (e Error) Error() string { return e.Message }

// Parse reads rules. Where ok is false, err says why and clauses is nil. The
// clauses share the memory of text.
func Parse(text string) (clauses []Clause, err Error, ok bool) {
	p := parser{source: text}
	off := span{-1, -1}
	for at := 0; at < len(text) && !p.failed; {
		var s span
		s, at = p.nextClause(at)
		switch {
		case s.from == s.to:
		case off.from < 0 && meansOff(p.get(s)):
			off = s
		default:
			clauses = append(clauses, p.clause(s))
		}
	}
	if off.from >= 0 && len(clauses) > 0 {
		p.failOff(off)
	}
	if p.failed {
		return nil, p.fault, false
	}
	return clauses, Error{}, true
}

// Decide returns the index of the last clause that matches f, or -1. That
// clause decides for f entirely; clauses are never merged.
func Decide(clauses []Clause, f *Func) int {
	for i := len(clauses) - 1; i >= 0; i-- {
		if clauses[i].Match(f) {
			return i
		}
	}
	return -1
}

// Match reports whether all selectors of c match f.
func (c *Clause) Match(f *Func) bool {
	for i := range c.Selectors {
		s := &c.Selectors[i]
		if s.matches(f) == s.Negated {
			return false
		}
	}
	return c.Probes() == f.Probe && c.Waits() == f.Wait && c.Spans() == f.Span
}

// Probes reports whether c is for static probes, not for functions.
func (c *Clause) Probes() bool { return c.has("probe") }

// Waits reports whether c is for waits, not for functions.
func (c *Clause) Waits() bool { return c.has("wait") }

// Spans reports whether c is for statements or stages, not for functions.
func (c *Clause) Spans() bool { return c.has("statement") || c.has("stage") }

// has reports whether a selector of that kind has to match.
func (c *Clause) has(kind string) bool {
	for i := range c.Selectors {
		if c.Selectors[i].Kind == kind && !c.Selectors[i].Negated {
			return true
		}
	}
	return false
}

// Parts returns which parts of a probe's arguments are wanted, as bits. parts
// has the names that belong to each, comma-separated, and the parts
// space-separated from the lowest bit on; wanted is Clause.Fields, not empty.
func Parts(wanted, parts string) (bits uint64) {
	bit := uint64(1)
	for from := 0; from < len(parts); {
		to := from
		for to < len(parts) && parts[to] != ',' && parts[to] != ' ' {
			to++
		}
		if hasName(wanted, parts[from:to]) {
			bits |= bit
		}
		if to < len(parts) && parts[to] == ' ' {
			bit <<= 1
		}
		from = to + 1
	}
	return bits
}

// hasName reports whether name is one of names, which have "+" between.
func hasName(names, name string) bool {
	for from := 0; from <= len(names); {
		to := from
		for to < len(names) && names[to] != '+' {
			to++
		}
		if names[from:to] == name {
			return true
		}
		from = to + 1
	}
	return false
}
