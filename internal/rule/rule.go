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
// This file is also compiled into Go's package runtime. It imports nothing, keeps to explicit
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

// matches leaves negation to the caller.
func (s *Selector) matches(f *Func) bool {
	switch s.Kind {
	case "probe":
		return f.Probe && match(s.Pattern, joined{f.Package, "/", f.Name}, "*")
	case "wait":
		return f.Wait && matchWait(s.Pattern, f.Name)
	case "statement", "stage":
		return f.Span && f.Package == s.Kind && match(s.Pattern, whole(f.Name), "*")
	case "func":
		return MatchFunc(s.Pattern, f)
	case "pkg":
		return MatchPackage(s.Pattern, f.ImportPath) || MatchPackage(s.Pattern, f.Package)
	case "file":
		inLines := s.To == 0 || s.From <= f.Line && f.Line <= s.To
		return inLines && matchFile(s.Pattern, f.File)
	case "bin":
		return matchBinary(s.Pattern, f.Binary)
	}
	return false
}

// matchWait reports whether a wait GLOB matches the name of a kind of waits, or what that begins
// with up to a slash.
func matchWait(glob, name string) bool {
	if match(glob, whole(name), "*") {
		return true
	}
	for i := len(name) - 1; i > 0; i-- {
		if name[i] == '/' && match(glob, whole(name[:i]), "*") {
			return true
		}
	}
	return false
}

// MatchFunc reports whether a func GLOB matches f.
func MatchFunc(glob string, f *Func) bool {
	if f.Probe || f.Wait || f.Span {
		return false
	}
	if glob == "*" || matchName(glob, f, f.Name) {
		return true
	}
	if indexByte(f.Name, '[') < 0 || indexByte(glob, '[') >= 0 {
		return false
	}
	return matchName(glob, f, withoutTypes(f.Name))
}

// matchName is MatchFunc with the function's name given.
func matchName(glob string, f *Func, name string) bool {
	if matchFullName(glob, f.Package, name) {
		return true
	}
	if f.ImportPath != f.Package && matchFullName(glob, f.ImportPath, name) {
		return true
	}
	if f.PackageName != "" && match(glob, joined{f.PackageName, ".", name}, "*") {
		return true
	}
	switch {
	case len(glob) > 0 && glob[0] == '(': // a method
		return match(glob, whole(name), "*")
	case lastDot(glob) >= 0:
		return false
	}
	last := name[lastDot(name)+1:]
	return match(glob, whole(name), "*") || match(glob, whole(last), "*")
}

func matchFullName(glob, path, name string) bool {
	if match(glob, joined{path, ".", name}, "*") {
		return true
	}
	for i := 0; i < len(path); i++ {
		if path[i] == '/' && match(glob, joined{path[i+1:], ".", name}, "*") {
			return true
		}
	}
	return false
}

// MatchPackage reports whether a package pattern matches an import path, by the
// rules of the go command.
func MatchPackage(pattern, path string) bool {
	if match(pattern, whole(path), "...") {
		return true
	}
	return hasSuffix(pattern, "/...") && match(pattern[:len(pattern)-len("/...")], whole(path), "...")
}

func matchFile(glob, path string) bool {
	if match(glob, whole(path), "*") {
		return true
	}
	for i := 0; i < len(path); i++ {
		if path[i] == '/' && match(glob, whole(path[i+1:]), "*") {
			return true
		}
	}
	return false
}

func matchBinary(glob, path string) bool {
	if lastSlash(glob) < 0 {
		path = path[lastSlash(path)+1:]
	}
	return match(glob, whole(path), "*")
}

// A joined is the concatenation of its parts, which is never built: matching
// must not allocate for each function and clause.
type joined struct {
	head, middle, tail string
}

func whole(s string) joined { return joined{s, "", ""} }

func (j joined) size() int { return len(j.head) + len(j.middle) + len(j.tail) }

func (j joined) at(i int) byte {
	if i < len(j.head) {
		return j.head[i]
	}
	i -= len(j.head)
	if i < len(j.middle) {
		return j.middle[i]
	}
	return j.tail[i-len(j.middle)]
}

// next returns the index after the character at i. A byte that is not part of UTF-8 is a character.
func (j joined) next(i int) int {
	lead := j.at(i)
	for i++; lead >= 0xC0 && i < j.size() && j.at(i)&0xC0 == 0x80; i++ {
	}
	return i
}

// match matches a pattern in which star is any run of characters and, if star
// is "*", "?" any one. It only ever goes back to the last star, which suffices
// because an earlier one could take no more than that one can: the time is at
// most the product of the lengths.
func match(pattern string, name joined, star string) bool {
	size := name.size()
	p, n := 0, 0
	starP, starN := -1, 0 // after the last star; where it stops in name
	for n < size {
		switch {
		case startsAt(pattern, p, star) && !ofPointer(pattern, p):
			p += len(star)
			starP, starN = p, n
		case p < len(pattern) && pattern[p] == '?' && star == "*":
			p, n = p+1, name.next(n)
		case p < len(pattern) && pattern[p] == name.at(n):
			p, n = p+1, n+1
		case starP >= 0:
			starN = name.next(starN)
			p, n = starP, starN
		default:
			return false
		}
	}
	for startsAt(pattern, p, star) && !ofPointer(pattern, p) {
		p += len(star)
	}
	return p == len(pattern)
}

// ofPointer reports whether the star at p belongs to the type of a receiver, as in (*Client).Do.
func ofPointer(pattern string, p int) bool {
	return p > 0 && pattern[p-1] == '(' && pattern[p] == '*' && p+1 < len(pattern) && pattern[p+1] != ')'
}

// withoutTypes returns a function's name without its bracketed parts.
func withoutTypes(name string) string {
	kept, from, nested := "", 0, 0
	for i := 0; i < len(name); i++ {
		switch name[i] {
		case '[':
			if nested == 0 {
				kept += name[from:i]
			}
			nested++
		case ']':
			if nested--; nested <= 0 {
				nested, from = 0, i+1
			}
		}
	}
	if nested > 0 {
		return kept
	}
	return kept + name[from:]
}

// lastDot returns the index of the last dot outside brackets, or -1: the dots
// of Map[...] separate nothing.
func lastDot(name string) int {
	nested := 0
	for i := len(name) - 1; i >= 0; i-- {
		switch name[i] {
		case ']':
			nested++
		case '[':
			nested--
		case '.':
			if nested <= 0 {
				return i
			}
		}
	}
	return -1
}

// lastSlash takes both kinds, as executables have Windows paths.
func lastSlash(path string) int {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '/' || path[i] == '\\' {
			return i
		}
	}
	return -1
}

func indexByte(s string, c byte) int {
	for i := 0; i < len(s); i++ {
		if s[i] == c {
			return i
		}
	}
	return -1
}

func index(s, part string) int {
	for i := range len(s) {
		if startsAt(s, i, part) {
			return i
		}
	}
	return -1
}

func startsAt(s string, i int, part string) bool {
	return len(s)-i >= len(part) && s[i:i+len(part)] == part
}

func hasSuffix(s, end string) bool {
	return len(s) >= len(end) && s[len(s)-len(end):] == end
}

// A parser holds the text, so that every token is a span of it and every fault
// knows its offset.
type parser struct {
	source string
	failed bool
	fault  Error
}

type span struct{ from, to int }

func (p *parser) get(s span) string { return p.source[s.from:s.to] }

// fail keeps the first fault.
func (p *parser) fail(s span, message string) {
	if p.failed {
		return
	}
	p.failed = true
	p.fault.Offset, p.fault.Length, p.fault.Message = s.from, s.to-s.from, message
}

func (p *parser) failOff(s span) {
	word := p.get(s)
	p.fail(s, quote(word)+" must be the whole value (did you mean \"*=off\", or \"func:"+word+"\"?)")
}

func quote(s string) string { return "\"" + s + "\"" }

func (p *parser) trim(s span) span {
	for s.from < s.to && isSpace(p.source[s.from]) {
		s.from++
	}
	for s.from < s.to && isSpace(p.source[s.to-1]) {
		s.to--
	}
	return s
}

func isSpace(c byte) bool {
	return c == ' ' || '\t' <= c && c <= '\r'
}

// cut splits s around the first c. Without one, all is before and found false.
func (p *parser) cut(s span, c byte) (before, after span, found bool) {
	i := indexByte(p.get(s), c)
	if i < 0 {
		return p.trim(s), span{s.to, s.to}, false
	}
	return p.trim(span{s.from, s.from + i}), span{s.from + i + 1, s.to}, true
}

// nextClause returns the text of the clause at an offset, and the offset after it.
func (p *parser) nextClause(at int) (s span, next int) {
	end := at
	for end < len(p.source) && !endsClause(p.source[end]) {
		end++
	}
	next = end + 1
	if end < len(p.source) && p.source[end] == '#' {
		for next < len(p.source) && p.source[next] != '\n' {
			next++
		}
	}
	return p.trim(span{at, end}), next
}

func endsClause(c byte) bool { return c == ';' || c == '\n' || c == '#' }

func (p *parser) clause(s span) Clause {
	var c Clause
	c.Text = p.get(s)
	c.Detail = Args
	c.First = DefaultFirst
	left, right, hasItems := p.cut(s, '=')
	for more := true; more; {
		var one span
		one, left, more = p.cut(left, '&')
		c.Selectors = append(c.Selectors, p.selector(one))
	}
	if hasItems {
		p.items(&c, right)
		p.checkProbes(&c, p.trim(right))
	} else if len(c.Selectors) == 1 && c.Selectors[0].Negated {
		c.Selectors[0].Negated = false
		c.Detail = Off
	}
	return c
}

func (p *parser) selector(s span) Selector {
	var sel Selector
	bare := s
	if s.from < s.to && p.source[s.from] == '!' {
		sel.Negated = true
		bare = p.trim(span{s.from + 1, s.to})
	}
	if bare.from == bare.to {
		p.fail(s, "missing selector")
		return sel
	}
	var pattern span
	sel.Kind, pattern = p.kind(bare)
	sel.Pattern = p.get(pattern)
	switch {
	case sel.Kind == "" && meansAll(sel.Pattern):
		sel.Kind, sel.Pattern = "func", "*"
		return sel
	case sel.Kind == "" && startsAt(sel.Pattern, 0, probePrefix):
		pattern.from += len(probePrefix)
		sel.Kind, sel.Pattern = "probe", p.get(pattern)
	case sel.Kind == "" && startsAt(sel.Pattern, 0, waitPrefix):
		pattern.from += len(waitPrefix)
		sel.Kind, sel.Pattern = "wait", p.get(pattern)
	case sel.Kind == "" && startsAt(sel.Pattern, 0, statementPrefix):
		pattern.from += len(statementPrefix)
		sel.Kind, sel.Pattern = "statement", p.get(pattern)
	case sel.Kind == "" && startsAt(sel.Pattern, 0, stagePrefix):
		pattern.from += len(stagePrefix)
		sel.Kind, sel.Pattern = "stage", p.get(pattern)
	case sel.Kind == "" && meansOff(sel.Pattern):
		p.failOff(bare)
	case sel.Kind == "":
		sel.Kind = bareKind(sel.Pattern)
	}
	p.checkPattern(&sel, pattern)
	return sel
}

// kind splits a selector into its kind, "" if it is bare, and its pattern.
func (p *parser) kind(s span) (name string, pattern span) {
	before, after, found := p.cut(s, ':')
	prefix := p.get(before)
	switch {
	case !found || !isWord(prefix):
		return "", s
	case indexWord(kinds[:], prefix) < 0:
		p.fail(before, "unknown selector "+quote(prefix)+suggest(kinds[:], prefix))
	}
	pattern = p.trim(after)
	if pattern.from == pattern.to {
		p.fail(s, "missing pattern after "+quote(prefix+":"))
	}
	return prefix, pattern
}

// probePrefix is what a bare pattern for probes begins with.
const probePrefix = "probe/"

// waitPrefix is what a bare pattern for waits begins with.
const waitPrefix = "wait/"

// What bare patterns for statements and stages begin with.
const (
	statementPrefix = "statement/"
	stagePrefix     = "stage/"
)

func meansAll(text string) bool {
	return text == "*" || text == "1" || text == "on" || text == "all" || text == "true"
}

func meansOff(text string) bool {
	return text == "0" || text == "off" || text == "false"
}

// isWord tells the kinds of selectors, misspelled too, from a Windows drive.
func isWord(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i] | 0x20; c < 'a' || c > 'z' {
			return false
		}
	}
	return len(s) != 1
}

func bareKind(pattern string) string {
	if hasSuffix(pattern, ".go") || index(pattern, ".go:") >= 0 {
		return "file"
	}
	for i := range len(pattern) {
		if startsAt(pattern, i, "...") && (i == 0 || pattern[i-1] != '[') {
			return "pkg"
		}
	}
	return "func"
}

// checkPattern refuses what can never match.
func (p *parser) checkPattern(sel *Selector, s span) {
	text := p.get(s)
	if text == "." || text == ".." || startsAt(text, 0, "./") || startsAt(text, 0, "../") {
		p.fail(s, quote(text)+" is relative to a directory, which a running program does not know: "+
			"write an import path (example.com/x/...) or the end of a file's path (x/db.go)")
	}
	switch sel.Kind {
	case "func":
		p.checkFunc(s)
	case "pkg":
		p.checkPackage(s)
	case "file":
		p.lines(sel, s)
	case "probe":
		p.checkProbe(s)
	case "wait":
		p.checkWait(s)
	case "statement", "stage":
		if s.from == s.to {
			p.fail(s, "missing name after "+quote(sel.Kind+"/")+" (such as \"statement/sql/select\", or \"stage/*\" for all)")
		}
	}
}

// checkWait checks the GLOB of a wait selector.
func (p *parser) checkWait(s span) {
	glob := p.get(s)
	for i := range len(glob) {
		if c := glob[i]; c != '*' && c != '?' && c != '/' && !('a' <= c && c <= 'z') {
			p.fail(span{s.from + i, s.from + i + 1}, quote(glob[i:i+1])+" cannot be in a wait's name (such as \"wait/synch/mutex\", or \"wait/*\" for all)")
		}
	}
	if glob == "" {
		p.fail(s, "missing name after \"wait/\" (such as \"wait/synch/mutex\", or \"wait/*\" for all)")
	}
}

// checkProbe checks the GLOB of a probe selector.
func (p *parser) checkProbe(s span) {
	glob := p.get(s)
	slashes, stars := 0, 0
	for i := range len(glob) {
		switch c := glob[i]; {
		case c == '/':
			slashes++
		case c == '*':
			stars++
		case c == '?' || c == '_' || c == '-' || isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'z':
		default:
			p.fail(span{s.from + i, s.from + i + 1}, quote(glob[i:i+1])+" cannot be in a probe's name (such as \"probe/tcp/send\")")
		}
	}
	if slashes > 1 || slashes == 0 && stars == 0 {
		p.fail(s, quote(glob)+" is not a provider and a probe with a slash between (such as \"probe/tcp/send\", or \"probe/tcp/*\" for all of a provider)")
	}
}

// checkProbes refuses what is not for probes in a clause that is, and the other
// way round. s is the clause's items.
func (p *parser) checkProbes(c *Clause, s span) {
	switch {
	case !c.Probes() && c.Fields != "":
		p.fail(s, "\"fields\" is for probes (such as \"probe/tcp/*=fields=cs_pid\")")
	case c.Probes() && c.Capture != "":
		p.fail(s, "\"capture\" is for functions: for probes there is \"fields\"")
	case c.Probes() && c.Tree:
		p.fail(s, "\"tree\" is for functions: a probe calls nothing")
	case c.Probes() && c.Min != 0:
		p.fail(s, "\"min\" is for functions: a probe does not last")
	case c.Waits() && (c.Tree || c.Capture != "" || c.Redact != "" || c.Detail >= Deep):
		p.fail(s, "\"tree\", \"capture\", \"redact\", \"deep\" and \"changes\" are for functions: a wait has no parameters and calls nothing")
	case (c.Probes() || c.Spans()) && c.Detail == Changes:
		p.fail(s, "\"changes\" is for functions: nothing else has parameters that it could change")
	case c.Spans() && c.Capture != "":
		p.fail(s, "\"capture\" is for functions: a statement or stage has no other values")
	case c.Waits() && c.Untimed:
		p.fail(s, "\"untimed\" is for functions: a wait is nothing but time")
	case (c.Probes() || c.Waits() || c.Spans()) && c.Span:
		p.fail(s, "\"span\" is for functions: statements and stages are spans, probes and waits are events of spans")
	}
}

// checkFunc checks the GLOB of a func selector, of in and of after.
func (p *parser) checkFunc(s span) {
	glob := p.get(s)
	for i := range len(glob) {
		c := glob[i]
		if isSpace(c) || c == ',' || c == ':' || c == '!' || c == '&' || c == '=' {
			p.fail(span{s.from + i, s.from + i + 1}, quote(glob[i:i+1])+" cannot be in a function's name "+
				"(clauses are separated by \";\", selectors of one clause by \"&\")")
		}
	}
	if isPath(glob) {
		p.fail(s, quote(glob)+" is a package, not a function (did you mean "+quote("pkg:"+glob)+"?)")
	}
}

// isPath reports whether a func GLOB is a package path, such as net/http: it has a slash, and after
// that no dot or wildcard that could lead to a function.
func isPath(glob string) bool {
	slash := lastSlash(glob)
	if slash < 0 {
		return false
	}
	for i := range len(glob) {
		c := glob[i]
		if c == '*' || c == '?' || c == '[' || c == '.' && i > slash {
			return false
		}
	}
	return true
}

func (p *parser) checkPackage(s span) {
	pattern := p.get(s)
	for i := range len(pattern) {
		c := pattern[i]
		one := span{s.from + i, s.from + i + 1}
		if c == '*' || c == '?' {
			p.fail(one, quote(p.get(one))+" is not a wildcard in a package pattern (did you mean \"...\"?)")
		}
		if isSpace(c) || c == ',' || c == ':' || c == '!' {
			p.fail(one, quote(p.get(one))+" cannot be in a package path "+
				"(clauses are separated by \";\", selectors of one clause by \"&\")")
		}
	}
}

// lines cuts :LINE or :FROM-TO off the pattern of a file. A colon that a slash
// follows is part of the path, C:/x.go.
func (p *parser) lines(sel *Selector, s span) {
	colon := len(sel.Pattern) - 1
	for colon >= 0 && sel.Pattern[colon] != ':' {
		colon--
	}
	if colon < 0 || lastSlash(sel.Pattern) > colon {
		return
	}
	at := span{s.from + colon + 1, s.to}
	first, rest, isRange := p.cut(at, '-')
	last := first
	if isRange {
		last = p.trim(rest)
	}
	from, ok1 := number(p.get(first), maxLine)
	to, ok2 := number(p.get(last), maxLine)
	sel.Pattern = p.get(p.trim(span{s.from, s.from + colon}))
	sel.From, sel.To = int(from), int(to)
	if !ok1 || !ok2 || from == 0 || to < from || hasLine(sel.Pattern) {
		p.fail(span{at.from - 1, at.to}, quote(p.get(span{at.from - 1, at.to}))+
			" is no line (:12) or range of lines (:10-80)")
	}
	if sel.Pattern == "" {
		p.fail(s, "missing file before the line")
	}
}

const maxLine = 1<<31 - 1

// hasLine finds the line that a compiler's file:line:column leaves.
func hasLine(pattern string) bool { return index(pattern, ".go:") >= 0 }

// items reads the settings of a clause.
func (p *parser) items(c *Clause, s span) {
	var seen [len(vocabulary)]bool
	for more := true; more; {
		var one span
		one, s, more = p.cut(s, ',')
		w := p.item(c, one)
		if w < 0 {
			return
		}
		p.checkClash(seen[:], w, one)
		seen[w] = true
	}
}

// A term is a word that may follow the "=" of a clause.
type term struct {
	word  string
	usage string // "first=N", or the word if it takes no value
}

// The details come first, in their order, so that their indexes are the values
// of Detail.
var vocabulary = [...]term{
	{"off", "off"},
	{"count", "count"},
	{"call", "call"},
	{"args", "args"},
	{"deep", "deep"},
	{"changes", "changes"},
	{"tree", "tree"},
	{"untimed", "untimed"},
	{"span", "span"},
	{"first", "first=N"},
	{"depth", "depth=N"},
	{"in", "in=GLOB"},
	{"after", "after=GLOB"},
	{"min", "min=DURATION"},
	{"rate", "rate=N/s"},
	{"fields", "fields=NAME+NAME"},
	{"capture", "capture=NAME.FIELD+NAME.FIELD"},
	{"redact", "redact=NAME+NAME"},
}

var kinds = [...]term{
	{"func", "func:GLOB"},
	{"pkg", "pkg:PATTERN"},
	{"file", "file:GLOB"},
	{"bin", "bin:GLOB"},
	{"probe", "probe:PROVIDER/NAME"},
	{"wait", "wait:KIND"},
}

func indexWord(terms []term, word string) int {
	for i := range terms {
		if terms[i].word == word {
			return i
		}
	}
	return -1
}

// item reads one setting into c and returns its index in the vocabulary.
func (p *parser) item(c *Clause, s span) int {
	before, after, hasValue := p.cut(s, '=')
	word, value := p.get(before), p.trim(after)
	w := indexWord(vocabulary[:], word)
	switch {
	case s.from == s.to:
		p.fail(s, "missing setting")
	case w < 0:
		p.fail(before, "unknown setting "+quote(word)+suggest(vocabulary[:], word))
	case vocabulary[w].usage == word && hasValue:
		p.fail(s, quote(word)+" takes no value")
	case vocabulary[w].usage != word && value.from == value.to:
		p.fail(s, quote(word)+" needs a value: "+vocabulary[w].usage)
	default:
		p.set(c, w, value)
	}
	return w
}

func (p *parser) set(c *Clause, w int, value span) {
	switch vocabulary[w].word {
	default:
		c.Detail = Detail(w)
	case "tree":
		c.Tree = true
	case "untimed":
		c.Untimed = true
	case "span":
		c.Span = true
	case "first":
		c.First, c.FirstSet = p.numberUpTo(value, 1<<64-1), true
	case "depth":
		c.Depth = uint32(p.numberUpTo(value, 1<<32-1))
	case "in":
		p.checkFunc(value)
		c.In = p.get(value)
	case "after":
		p.checkFunc(value)
		c.After = p.get(value)
	case "min":
		var ok bool
		if c.Min, ok = duration(p.get(value)); !ok {
			p.fail(value, quote(p.get(value))+" is not a duration (such as 250us, 1ms or 1.5s)")
		}
	case "rate":
		p.rate(c, value)
	case "fields":
		c.Fields = p.names(value, "", "cs_pid+ip_saddr")
	case "redact":
		c.Redact = p.names(value, "-", "card+pin_code, or off")
	case "capture":
		p.paths(c, value)
	}
}

// paths reads the paths of what is recorded besides a function's parameters and results: names with
// "." between.
func (p *parser) paths(c *Clause, s span) {
	c.Capture = p.get(s)
	ok, dots, last := true, 0, byte('+')
	for i := range len(c.Capture) {
		this := c.Capture[i]
		switch {
		case this == '+':
			ok = ok && dots > 0 && last != '.'
			dots = 0
		case this == '.':
			ok = ok && last != '+' && last != '.'
			dots++
		case this != '_' && !isDigit(this) && (this|0x20 < 'a' || this|0x20 > 'z') && this < 0x80:
			ok = false
		}
		last = this
	}
	if !ok || dots == 0 || last == '.' {
		p.fail(s, quote(c.Capture)+" is not a list of paths with \"+\" between (such as req.URL.Path+req.Method, ret0.Status)")
	}
}

// names reads names with "+" between. Besides letters, digits and "_" they may
// have the characters of also.
func (p *parser) names(s span, also, example string) string {
	names := p.get(s)
	ok, letters := true, 0
	for i := range len(names) {
		this := names[i]
		switch {
		case this == '+':
			ok = ok && letters > 0
			letters = 0
		case isDigit(this), 'a' <= this|0x20 && this|0x20 <= 'z', this >= 0x80 && also != "":
			letters++
		case this != '_' && indexByte(also, this) < 0:
			ok = false
		}
	}
	if !ok || letters == 0 {
		p.fail(s, quote(names)+" is not a list of names with \"+\" between (such as "+example+")")
	}
	return names
}

func (p *parser) numberUpTo(s span, limit uint64) uint64 {
	n, ok := number(p.get(s), limit)
	if !ok {
		p.fail(s, quote(p.get(s))+" is not a number, or is too large")
	}
	return n
}

func (p *parser) rate(c *Clause, s span) {
	count, unit, found := p.cut(s, '/')
	switch per := p.get(p.trim(unit)); {
	case found && per == "s":
		c.Per = 1e9
	case found && per == "m":
		c.Per = 60e9
	default:
		p.fail(s, quote(p.get(s))+" is not a rate (such as 10/s or 10/m)")
	}
	c.Rate = uint32(p.numberUpTo(count, 1<<32-1))
	if c.Rate == 0 {
		p.fail(count, "a rate of 0 shows nothing (did you mean \"count\" or \"off\"?)")
	}
}

// checkClash fails if setting w does not go with one that was seen before.
func (p *parser) checkClash(seen []bool, w int, s span) {
	if seen[w] {
		p.fail(s, "duplicate setting "+quote(vocabulary[w].word))
	}
	for i := range seen {
		if !seen[i] || !clash(i, w) && !clash(w, i) {
			continue
		}
		why := ""
		if i <= int(Changes) && w <= int(Changes) {
			why = ": a clause has one detail"
		} else if i == int(Count) || w == int(Count) {
			why = ": count prints nothing"
		}
		p.fail(s, quote(vocabulary[w].word)+" conflicts with "+quote(vocabulary[i].word)+why)
	}
}

func clash(i, w int) bool {
	switch {
	case i == int(Off) || i <= int(Changes) && w <= int(Changes):
		return true
	case i != int(Count):
		return false
	}
	word := vocabulary[w].word
	return word == "first" || word == "fields" || word == "capture" || word == "redact" || word == "untimed" || word == "span" || word == "depth" || word == "min" || word == "rate"
}

// number reads a decimal number that may be at most limit.
func number(s string, limit uint64) (n uint64, ok bool) {
	for i := range len(s) {
		digit := uint64(s[i] - '0')
		if digit > 9 || n > limit/10 || n*10 > limit-digit {
			return 0, false
		}
		n = n*10 + digit
	}
	return n, s != ""
}

const maxDuration = 1<<63 - 1

// duration reads the syntax of time.ParseDuration, without signs, in nanoseconds.
func duration(s string) (total int64, ok bool) {
	if s == "0" {
		return 0, true
	}
	for from := 0; from < len(s); {
		var part uint64
		part, from, ok = durationPart(s, from)
		if !ok || part > maxDuration-uint64(total) {
			return 0, false
		}
		total += int64(part)
	}
	return total, s != ""
}

// durationPart reads one number and unit, and returns the index after them.
func durationPart(s string, from int) (part uint64, end int, ok bool) {
	dot := digits(s, from)
	end = dot
	if end < len(s) && s[end] == '.' {
		end = digits(s, end+1)
	}
	unit := end
	for end < len(s) && s[end] != '.' && !isDigit(s[end]) {
		end++
	}
	size := unitSize(s[unit:end])
	count := uint64(0)
	if dot > from {
		count, ok = number(s[from:dot], maxDuration)
	} else {
		ok = unit > dot+1 // .5s, but not .s
	}
	if !ok || size == 0 || count > maxDuration/size {
		return 0, end, false
	}
	part = count * size
	// Digits that would overflow are cut. They are nanoseconds at most, except in minutes and
	// hours.
	rest, scale := uint64(0), uint64(1)
	for i := dot + 1; i < unit && scale <= maxDuration/size/10; i++ {
		rest, scale = rest*10+uint64(s[i]-'0'), scale*10
	}
	return part + rest*size/scale, end, true
}

func digits(s string, i int) int {
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	return i
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// unitSize returns the nanoseconds of a unit, or 0. Micro has two code points.
func unitSize(unit string) uint64 {
	switch unit {
	case "ns":
		return 1
	case "us", "\u00b5s", "\u03bcs":
		return 1e3
	case "ms":
		return 1e6
	case "s":
		return 1e9
	case "m":
		return 60e9
	case "h":
		return 3600e9
	}
	return 0
}

// suggest returns the hint for an unknown word: the nearest, or all.
func suggest(terms []term, word string) string {
	best, nearest := 3, ""
	for i := range terms {
		d := Distance(word, terms[i].word)
		if d < best && 2*d <= len(word) {
			best, nearest = d, terms[i].word
		}
	}
	if nearest != "" {
		return " (did you mean " + quote(nearest) + "?)"
	}
	list := ""
	for i := range terms {
		if i > 0 {
			list += ", "
		}
		list += terms[i].usage
	}
	return " (one of " + list + ")"
}

// Misspells returns how many letters the only name in the clause is away from that of f, without
// packages and types, or -1 if it is too far away to be a misspelling of it.
func (c *Clause) Misspells(f *Func) int {
	if len(c.Selectors) != 1 || c.Selectors[0].Kind != "func" || f.Probe || f.Wait || f.Span {
		return -1
	}
	name, of := lastPart(c.Selectors[0].Pattern), lastPart(f.Name)
	for i := range len(name) {
		if name[i] == '*' || name[i] == '?' || name[i] == '[' {
			return -1
		}
	}
	if d := Distance(name, of); d <= max(min(2, len(name)-1), len(name)/3) {
		return d
	}
	return -1
}

// lastPart returns what follows the last dot.
func lastPart(name string) string {
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '.' {
			return name[i+1:]
		}
	}
	return name
}

// maxWord is the length of words that Distance compares, without what they begin and end with
// alike.
const maxWord = 31

// Distance counts the letters that must be added, removed, replaced, or swapped with their
// neighbour to make b of a. Case does not count. Words too long to compare are as far apart as the
// longer is long.
func Distance(a, b string) int {
	for len(a) > 0 && len(b) > 0 && a[0]|0x20 == b[0]|0x20 {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1]|0x20 == b[len(b)-1]|0x20 {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if len(a) > maxWord || len(b) > maxWord {
		return max(len(a), len(b))
	}
	var rows [3][maxWord + 1]uint8 // of the last letters of a
	for i := range len(a) + 1 {
		row, above, before := &rows[i%3], &rows[(i+2)%3], &rows[(i+1)%3]
		row[0] = uint8(i)
		for j := 1; j <= len(b); j++ {
			if i == 0 {
				row[j] = uint8(j)
				continue
			}
			var cost uint8 = 1
			if a[i-1]|0x20 == b[j-1]|0x20 {
				cost = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			if i > 1 && j > 1 && a[i-1]|0x20 == b[j-2]|0x20 && a[i-2]|0x20 == b[j-1]|0x20 {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return int(rows[len(a)%3][len(b)])
}
