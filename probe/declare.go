package probe

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
)

// A hook is what probes begin with: nil, or what the core is to be called with, which writes it,
// and has its address for ever.
type hook struct{ on any }

// Enabled reports whether the probe is on: whether Fire does anything now.
func (h *hook) Enabled() bool { return h.on != nil }

func (h *hook) place() *any { return &h.on }

// typeOf is an argument's static type; nil: any.
type typeOf = reflect.Type

func of[T any]() typeOf { return reflect.TypeFor[T]() }

// known has the probes by their names.
var known = struct {
	sync.Mutex
	probes map[string]declaration
}{probes: map[string]declaration{}}

// A declaration is a probe, a *Probe2[string, int] or the like, and its arguments.
type declaration struct {
	probe     any
	signature string
}

// declared declares p, or returns the probe of these names and arguments that there is.
func declared[P interface{ place() *any }](provider, name string, types []typeOf, args []string, p P) P {
	if wrong := check(provider, name, args); wrong != "" {
		panic("probe: " + wrong)
	}
	names, signature := describe(types, args)
	full := provider + ":::" + name
	known.Lock()
	defer known.Unlock()
	if d, ok := known.probes[full]; ok {
		if p, ok := d.probe.(P); ok && d.signature == signature {
			return p
		}
		panic(fmt.Sprintf("probe: %s is declared as %s%s, and was as %s%s", full, name, signature, name, d.signature))
	}
	known.probes[full] = declaration{p, signature}
	file, line := caller()
	declare(provider, file, fmt.Sprintf("%d 0 %s %s;;func%s\n", line, name, names, signature), p.place(), 1, strings.Join(args, " "), nil)
	return p
}

// describe returns the arguments as the core's tables have them, and as Go does.
func describe(types []typeOf, args []string) (names, signature string) {
	var short, long []string
	for i, name := range args {
		static, dynamic := "any", "!"
		if t := types[i]; t != nil {
			static = strings.ReplaceAll(t.String(), "interface {}", "any")
			if t.Kind() != reflect.Interface {
				dynamic = ""
			}
		}
		short = append(short, name+dynamic)
		long = append(long, name+" "+static)
	}
	return strings.Join(short, ","), "(" + strings.Join(long, ", ") + ")"
}

// caller returns where the package's user declares a probe.
func caller() (file string, line int) {
	var pcs [8]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs[:])])
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, "github.com/ftrace-wrap/ftrace-wrap/probe.") {
			return f.File, f.Line
		}
		if !more {
			return "", 0
		}
	}
}

// reserved are the providers that are not for programs: those that always are, and D's own.
var reserved = []string{"tcp", "udp", "call", "dtrace", "profile", "tick", "interval", "probe"}

// check says what is wrong with names, "" if nothing is.
func check(provider, name string, args []string) string {
	for _, r := range reserved {
		if provider == r {
			return fmt.Sprintf("provider %q is not for programs", provider)
		}
	}
	if !isName(provider, false) {
		return fmt.Sprintf("%q is no name of a provider: letters, digits and _, 64 at most, no digit first", provider)
	}
	if !isName(name, true) {
		return fmt.Sprintf("%q is no name of a probe of provider %s: letters, digits, _ and -, 64 at most, a letter or _ first", name, provider)
	}
	for i, arg := range args {
		if !isName(arg, false) {
			return fmt.Sprintf("%q is no name of an argument of probe %s:::%s: letters, digits and _, 64 at most, no digit first", arg, provider, name)
		}
		for _, other := range args[:i] {
			if arg == other {
				return fmt.Sprintf("probe %s:::%s has two arguments %s", provider, name, arg)
			}
		}
	}
	return ""
}

func isName(s string, dashes bool) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		letter := c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || (c < '0' || c > '9') && (c != '-' || !dashes)) {
			return false
		}
	}
	return true
}
