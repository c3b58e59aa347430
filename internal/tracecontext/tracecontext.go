// Package tracecontext reads and writes the HTTP headers traceparent and tracestate, by which a
// request says to which trace it belongs: the W3C recommendation Trace Context of 23 November 2021,
// https://www.w3.org/TR/trace-context-1/. What goes along with it is the header baggage:
// https://www.w3.org/TR/baggage/.
//
// This file is also compiled into instrumented programs, into packages runtime and net/http. It
// imports nothing, and its top-level names are renamed on the way.
package tracecontext

// A Context is the place of a request in its trace.
type Context struct {
	Header   string // its traceparent, of version 00, with its own id
	State    string // its tracestate, "" if it has none
	Baggage  string // its baggage, "" if it has none, or that is not to be sent on
	Received string // traceparent as it came into the process, "" if the trace began here
	Known    string // the Span of the nearest parent that others made, "" if there is none
	Foreign  bool   // the program itself has made Header
}

// Where the parts of a traceparent are: 00-<32 digits>-<16 digits>-<2 digits>.
const (
	traceAt = 3
	idAt    = traceAt + 32 + 1
	flagsAt = idAt + 16 + 1
	size    = flagsAt + 2
)

// Trace returns the id of the trace.
func (c *Context) Trace() string { return c.Header[traceAt : idAt-1] }

// ID returns the request's own id.
func (c *Context) ID() string { return c.Header[idAt : flagsAt-1] }

// Span returns both, as they are recorded.
func (c *Context) Span() string { return c.Header[traceAt : flagsAt-1] }

// PassesOn reports whether a traceparent of a request within c is that of a span around it, and so
// not one that the program has made for the request.
func (c *Context) PassesOn(parent string) bool {
	return parent == c.Received || c.Known != "" && len(parent) == size && parent[traceAt:flagsAt-1] == c.Known
}

// Read reads the values of the headers traceparent and tracestate. A bad traceparent is as none,
// and so is more than one. With it tracestate goes, too, and a bad tracestate goes alone.
func Read(parents, states []string) (c Context, ok bool) {
	if len(parents) != 1 || !isParent(parents[0]) {
		return c, false
	}
	c.Header, c.Received = parents[0], parents[0]
	// Of the flags version 00 knows the lowest, and has the others be 0 where it sends them on.
	flags := "00"
	if digit(c.Header[flagsAt+1])&1 != 0 {
		flags = "01"
	}
	if c.Header[:traceAt-1] != "00" || c.Header[flagsAt:] != flags {
		c.Header = "00" + c.Header[traceAt-1:flagsAt] + flags
	}
	c.Known = c.Span()
	for _, s := range states {
		if c.State != "" {
			c.State += ","
		}
		c.State += s
	}
	if !isState(c.State) {
		c.State = ""
	}
	return c, true
}

// baggageMax is how long baggage may be that is sent on.
const baggageMax = 8192

// Baggage returns the values of the header baggage as one. It does not look at what they mean. If
// they are too long, or have what a header can't have, it returns "".
func Baggage(values []string) (all string) {
	for i, s := range values {
		if i > 0 {
			all += ","
		}
		if all += s; len(all) > baggageMax {
			return ""
		}
	}
	for i := range len(all) {
		if c := all[i]; (c < ' ' || c > '~') && c != '\t' {
			return ""
		}
	}
	return trim(all)
}

// Child returns the context of a new request within that of c, or in a new trace if c is the zero
// Context. random returns random numbers.
func (c Context) Child(random func() uint64) Context {
	c.Foreign = false
	if c.Header == "" {
		c.Header = "00-" + digits(random) + digits(random) + "-" + digits(random) + "-01"
	} else {
		c.Header = c.Header[:idAt] + digits(random) + c.Header[flagsAt-1:]
	}
	return c
}

// digits returns a random number that is not 0, as 16 digits.
func digits(random func() uint64) string {
	v := random()
	for v == 0 {
		v = random()
	}
	var b [16]byte
	for i := range b {
		b[i] = "0123456789abcdef"[v>>(60-4*i)&15]
	}
	return string(b[:])
}

// isParent reports whether h is a valid traceparent. Those of future versions may be longer.
func isParent(h string) bool {
	if len(h) < size || h[traceAt-1] != '-' || h[idAt-1] != '-' || h[flagsAt-1] != '-' {
		return false
	}
	version := h[:traceAt-1]
	if version == "ff" || len(h) > size && (version == "00" || h[size] != '-') {
		return false
	}
	trace, id := h[traceAt:idAt-1], h[idAt:flagsAt-1]
	return isHex(version) && isHex(trace) && isHex(id) && isHex(h[flagsAt:size]) && !isZero(trace) && !isZero(id)
}

// digit returns the value of a hexadecimal digit in small letters, 16 if it is none.
func digit(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	}
	return 16
}

func isHex(s string) bool {
	for i := range len(s) {
		if digit(s[i]) > 15 {
			return false
		}
	}
	return true
}

func isZero(s string) bool {
	for i := range len(s) {
		if s[i] != '0' {
			return false
		}
	}
	return true
}

// isState reports whether s is a valid tracestate: at most 32 members key=value with commas
// between, each key once. Members may be empty.
func isState(s string) bool {
	var keys [32]string
	n := 0
	for more := true; more; {
		var member string
		member, s, more = cut(s, ',')
		if member = trim(member); member == "" {
			continue
		}
		key, value, ok := cut(member, '=')
		if !ok || n == len(keys) || !isKey(key) || !isValue(value) {
			return false
		}
		for _, k := range keys[:n] {
			if k == key {
				return false
			}
		}
		keys[n] = key
		n++
	}
	return true
}

// cut cuts s at the first c.
func cut(s string, c byte) (before, after string, found bool) {
	for i := range len(s) {
		if s[i] == c {
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

// trim takes blanks and tabs off both ends.
func trim(s string) string {
	for s != "" && (s[0] == ' ' || s[0] == '\t') {
		s = s[1:]
	}
	for s != "" && (s[len(s)-1] == ' ' || s[len(s)-1] == '\t') {
		s = s[:len(s)-1]
	}
	return s
}

// isKey reports whether key is a name of 256 bytes, or one of 241 with the name of a system of 14
// bytes after an at sign.
func isKey(key string) bool {
	tenant, system, several := cut(key, '@')
	if several {
		return isName(tenant, 241, true) && isName(system, 14, false)
	}
	return isName(key, 256, false)
}

// isName reports whether s is a name of at most that many bytes. With digit it may begin with one.
func isName(s string, most int, digit bool) bool {
	if s == "" || len(s) > most {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z':
		case '0' <= c && c <= '9' && (i > 0 || digit):
		case (c == '_' || c == '-' || c == '*' || c == '/') && i > 0:
		default:
			return false
		}
	}
	return true
}

func isValue(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' || s[i] == '=' {
			return false
		}
	}
	return s != "" && len(s) <= 256
}
