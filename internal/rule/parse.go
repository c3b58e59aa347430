package rule

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
