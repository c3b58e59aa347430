package source

import (
	"strconv"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/funcname"
	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// Instrument returns a function's name as an instrument: call/net/http/Client.Do for
// net/http.(*Client).Do, probe/mysql/query-start for a static probe, wait/synch/mutex for a kind of
// waits, statement/sql/select and stage/http/server/GET / for kinds of statements and stages.
func (f *Function) Instrument() string {
	if f.Probe {
		return "probe/" + f.Package + "/" + f.Name
	}
	if f.Wait || f.Span {
		return f.Package + "/" + f.Name
	}
	return "call/" + f.Package + "/" + plainReceiver(f.Name)
}

// FullName returns the name as stack traces have it.
func (f *Function) FullName() string { return f.Package + "." + f.Name }

// Family returns what the name of a kind of waits has from the family on: /mutex/ for
// wait/synch/mutex, /rwlock/read for wait/synch/rwlock/read.
func (f *Function) Family() string {
	family := f.Name[strings.IndexByte(f.Name, '/')+1:]
	if !strings.Contains(family, "/") {
		family += "/"
	}
	return "/" + family
}

// plainReceiver turns (*Client).Do into Client.Do. No type has two methods of the same name, so
// names stay different.
func plainReceiver(name string) string {
	if rest, ok := strings.CutPrefix(name, "(*"); ok {
		if receiver, method, ok := strings.Cut(rest, ")"); ok {
			return receiver + method
		}
	}
	return name
}

// Type returns the type to which a method belongs, "" for functions.
func (f *Function) Type() string {
	name := plainReceiver(f.Name)
	if name == f.Name && !strings.HasPrefix(f.Name, "(") {
		// T.Method, but not F.func1, a function literal in F.
		receiver, method, ok := cutReceiver(name)
		if !ok || compilers().MatchString(method) {
			return ""
		}
		return receiver
	}
	receiver, _, _ := cutReceiver(name)
	return receiver
}

// compilers matches names that the compiler gives to functions within others.
var compilers = words.Regexp(`^(func|gowrap|deferwrap)[0-9]`)

// Receives reports whether the function's first parameter is a receiver that is a pointer.
func (f *Function) Receives() bool {
	return strings.HasPrefix(f.Name, "(*") && !strings.Contains(f.Method(), ".")
}

// Method returns the name without the type: Do for (*Client).Do.
func (f *Function) Method() string {
	name := plainReceiver(f.Name)
	if t := f.Type(); t != "" {
		return name[len(t)+1:]
	}
	return name
}

// cutReceiver cuts a name at its first dot outside of type arguments.
func cutReceiver(name string) (receiver, method string, ok bool) {
	depth := 0
	for i, c := range name {
		switch {
		case c == '[':
			depth++
		case c == ']':
			depth--
		case c == '.' && depth == 0:
			return name[:i], name[i+1:], true
		}
	}
	return name, "", false
}

// Source returns where the function is, file:line.
func (f *Function) Source() string {
	if f.File == "" {
		return ""
	}
	return f.File + ":" + strconv.Itoa(f.Line)
}

// InstrumentOf returns the name of a function as an instrument, given its full name.
func InstrumentOf(full string) string {
	pkg, name := funcname.Split(full)
	if name == "" {
		return "call/" + full
	}
	f := Function{Package: pkg, Name: name}
	return f.Instrument()
}
