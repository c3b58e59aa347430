package source

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// Statements are what a program sent to its servers: the statements that the core knows of, or else
// what the probes mysql:::query-start, query-done,
// redis:::command-start and command-done show. A recording has the latter if the probes were armed
// (probe/mysql/query-*;probe/redis/command-*). So has a running process as long as it records to
// rings.
type Statements struct {
	Current []Statement // under way; for connections without any, the last one
	History []Statement // the last of each connection, in the order in which they ended
	Long    []Statement // the last of all
	Digests []StatementSummary
	Events  []StatementSummary // by instrument
}

// A Statement is one that was sent to a server.
type Statement struct {
	Event
	Name       string // of its instrument, "": see Instrument
	Failed     bool
	Protocol   string // mysql, redis
	Connection uint64
	Text       string // as much as was recorded
	Normal     string // without values
	Digest     string // a number for Normal in full
	Code       int64  // the error's number, 0: no error
	Message    string
	Rows       uint64 // that the server sent
	Affected   uint64
}

// Instrument returns statement/sql/select and the like: the class of a statement by its first word.
// For Redis that is statement/redis/get.
func (s *Statement) Instrument() string {
	if s.Name != "" {
		return s.Name
	}
	kind := "statement/" + s.Protocol + "/"
	if s.Protocol == "mysql" {
		kind = "statement/sql/"
	}
	word := strings.TrimLeft(cmp.Or(s.Normal, s.Text), " \t\r\n(")
	end := strings.IndexFunc(word, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '_' })
	if end >= 0 {
		word = word[:end]
	}
	return kind + cmp.Or(strings.ToLower(word), "error")
}

// Named is as [Event.Named].
func (s *Statement) Named(*Snapshot) string { return s.Instrument() }

// HasFailed reports whether the statement ended by an error.
func (s *Statement) HasFailed() bool { return s.Failed || s.Code != 0 || s.Message != "" }

// A StatementSummary covers all ended statements that have the same digest, or the same instrument.
type StatementSummary struct {
	Summary
	Event    string // instrument
	Digest   string
	Normal   string
	Sample   string // the text of one
	Rows     uint64
	Affected uint64
	First    int64
	Last     int64
}

// Add adds a statement that has ended.
func (t *StatementSummary) Add(s *Statement) {
	if t.Count == 0 {
		t.Event, t.Digest, t.Normal, t.Sample, t.First = s.Instrument(), s.Digest, s.Normal, s.Text, s.Start
	}
	lasted := s.End - s.Start
	one := Summary{Count: 1, Sum: lasted, Min: lasted, Max: lasted}
	if s.Timed {
		one.Timed = 1
	}
	t.Merge(&one)
	t.Rows += s.Rows
	t.Affected += s.Affected
	t.Last = s.End
	if s.HasFailed() {
		t.Errors++
	}
}

// statementPass collects statements while a recording is read through.
type statementPass struct {
	options     RecordingOptions
	connections map[connectionKey]*connectionStatements
	long        history[Statement]
	digests     map[string]*StatementSummary
	events      map[string]*StatementSummary
	lost        int64
}

func newStatementPass(options RecordingOptions) statementPass {
	return statementPass{options: options, long: history[Statement]{most: options.HistoryLong}, connections: map[connectionKey]*connectionStatements{}, digests: map[string]*StatementSummary{}, events: map[string]*StatementSummary{}}
}

type connectionKey struct {
	protocol string
	number   uint64
}

// connectionStatements are the statements of a connection. Redis can have several at once.
type connectionStatements struct {
	connectionKey
	running []Statement
	history []Statement
}

// tellsOfStatements reports whether a static probe fires where a statement begins or ends.
func tellsOfStatements(provider, name string) bool {
	switch provider {
	case "mysql":
		return name == "query-start" || name == "query-done"
	case "redis":
		return name == "command-start" || name == "command-done"
	}
	return false
}

// statement handles a probe that fired.
func (p *pass) statement(st *passStack, t *passThread, e *recording.Event) {
	f := p.r.Function(e.Function)
	if f == nil || e.Layout == 0 || !tellsOfStatements(f.Package, f.Name) {
		return
	}
	args := map[string]string{}
	for _, v := range p.printer.Values(e, f.Params) {
		args[v.Name] = plainText(v.Text)
	}
	b, at, ticks := t.block, p.at(e.Ticks), e.Ticks
	var tell func(*statementPass)
	if strings.HasSuffix(f.Name, "-start") {
		t.calls++
		begun := Event{Thread: t.ID, ID: t.calls, Level: int(e.Depth), Timed: true, Inside: true, Start: at}
		if n := len(st.Calls); n > 0 {
			begun.Nesting = st.Calls[n-1].Data.View.id
		}
		tell = func(to *statementPass) {
			b.place(&begun)
			to.begins(f.Package, args, begun)
		}
	} else {
		thread, calls := t.ID, t.calls
		tell = func(to *statementPass) { to.ends(f.Package, args, thread, b.before+calls, at, ticks) }
	}
	if p.part {
		p.sent = append(p.sent, tell)
	} else {
		tell(&p.statements)
	}
}

// numberIn returns the number that an argument of a probe is, 0 if it is none.
func numberIn(args map[string]string, name string) uint64 {
	n, _ := strconv.ParseUint(args[name], 10, 64)
	return n
}

// connection returns the statements of the connection that a probe is about.
func (p *statementPass) connection(protocol string, args map[string]string) *connectionStatements {
	key := connectionKey{protocol, numberIn(args, "connection")}
	c := p.connections[key]
	if c == nil {
		c = &connectionStatements{connectionKey: key}
		p.connections[key] = c
	}
	return c
}

// begins takes in a statement that begins.
func (p *statementPass) begins(protocol string, args map[string]string, begun Event) {
	c := p.connection(protocol, args)
	c.running = append(c.running, Statement{Event: begun, Protocol: protocol, Connection: c.number, Text: cmp.Or(args["query"], args["text"]), Normal: args["command"]})
}

// ends takes in that a connection's first statement ends, on a thread that has begun so many calls.
func (p *statementPass) ends(protocol string, args map[string]string, thread, calls uint64, at int64, ticks uint64) {
	c := p.connection(protocol, args)
	if len(c.running) == 0 {
		return // it began before the recording
	}
	s := c.running[0]
	c.running = c.running[1:]
	s.Inside, s.End = false, at
	if s.Thread == thread {
		s.EndID = calls
	}
	s.Normal = cmp.Or(args["normal"], s.Normal)
	s.Digest = cmp.Or(args["digest"], s.Normal)
	if code, err := strconv.ParseInt(args["error"], 10, 64); err == nil {
		s.Code, s.Message = code, args["message"]
	} else {
		s.Message = args["error"]
	}
	s.Rows, s.Affected = numberIn(args, "rows"), numberIn(args, "affected")
	c.history = append(c.history, s)
	if len(c.history) > p.options.History {
		c.history = c.history[1:]
	}
	*p.long.add(nil, nil, ticks) = s
	for _, by := range []struct {
		sums map[string]*StatementSummary
		key  string
	}{{p.digests, s.Protocol + " " + s.Digest}, {p.events, s.Instrument()}} {
		t := by.sums[by.key]
		if t == nil {
			if len(by.sums) >= p.options.Instances {
				p.lost++
				continue
			}
			t = new(StatementSummary)
			by.sums[by.key] = t
		}
		t.Add(&s)
	}
}

// snapshot makes the tables from what was collected.
func (p *statementPass) snapshot() Statements {
	var s Statements
	for _, key := range slices.SortedFunc(maps.Keys(p.connections), func(a, b connectionKey) int {
		return cmp.Or(cmp.Compare(a.protocol, b.protocol), cmp.Compare(a.number, b.number))
	}) {
		c := p.connections[key]
		s.Current = append(s.Current, c.running...)
		if n := len(c.history); len(c.running) == 0 && n > 0 {
			s.Current = append(s.Current, c.history[n-1])
		}
		s.History = append(s.History, c.history...)
	}
	for _, r := range p.long.last() {
		s.Long = append(s.Long, r.of)
	}
	for _, key := range slices.Sorted(maps.Keys(p.digests)) {
		s.Digests = append(s.Digests, *p.digests[key])
	}
	for _, key := range slices.Sorted(maps.Keys(p.events)) {
		s.Events = append(s.Events, *p.events[key])
	}
	return s
}

// plainText returns the value that was printed: strings without quotes, with "..." where they were
// cut.
func plainText(printed string) string {
	end := strings.LastIndexByte(printed, '"')
	if len(printed) < 2 || printed[0] != '"' || end == 0 {
		return printed
	}
	text, err := strconv.Unquote(printed[:end+1])
	if err != nil {
		return printed
	}
	if end+1 < len(printed) {
		text += "..."
	}
	return text
}

// plainError returns the message in an error as recordings show it: *errors.errorString("text").
func plainError(printed string) string {
	if open := strings.Index(printed, `("`); open >= 0 && strings.HasSuffix(printed, ")") {
		return plainText(printed[open+1 : len(printed)-1])
	}
	return printed
}
