package doubles

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/ftrace-wrap/ftrace-wrap/internal/literal"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// callsMax is how many calls of a function become doubles.
const callsMax = 1000

// lineMax is how long a call may be that stands in one line.
const lineMax = 110

// A writer writes the file.
type writer struct {
	literal.Writer
	r       *Run
	out     io.Writer // for the user
	hidden  bool      // the value that is being written has a secret
	partial bool      // and a struct that lacks what only its package can set
	b       strings.Builder
	taken   map[string]bool
	left    map[*target][]string // how many calls were left out, and why
}

// Write makes the file of what was recorded, and says what is in it and what is not. It reports
// whether the file was written.
func (r *Run) Write(stdout io.Writer) (written bool, err error) {
	calls, said, err := r.calls()
	if err != nil {
		return false, err
	}
	w := &writer{r: r, out: stdout, taken: map[string]bool{}}
	w.Pkg, w.Imports, w.Names = r.pkg.Types, map[string]string{}, map[string]string{}
	w.Others = r.importable()
	w.Hidden = func() bool { w.hidden = true; return true }
	w.StandIn = w.standsIn
	statements, sent, err := w.statements(said)
	if err != nil {
		return false, err
	}
	src, n, functions, err := w.file(calls, statements)
	switch {
	case err != nil:
		return false, err
	case src == nil:
		fmt.Fprintf(stdout, "No doubles: none of the calls across %s can be one\n", words.Or(r.o.Borders))
		return false, nil
	}
	if err := r.check(src); err != nil {
		return false, err
	}
	if err := os.WriteFile(r.file, src, 0o644); err != nil {
		return false, fmt.Errorf("writing the doubles: %v", err)
	}
	var what []string
	if n > 0 {
		what = append(what, words.Count(n, "call")+" of "+words.Count(functions, "function"))
	}
	if sent > 0 {
		what = append(what, words.Count(sent, "statement"))
	}
	fmt.Fprintf(stdout, "%s: %s: tests that call %s(t) replay them\n", relative(r.file), strings.Join(what, " and "), r.use())
	return true, nil
}

func relative(name string) string {
	if dir, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(dir, name); err == nil && filepath.IsLocal(rel) {
			return rel
		}
	}
	return name
}

// check reports whether the file compiles as one of the package.
func (r *Run) check(src []byte) error {
	all, err := packages.Load(&packages.Config{
		Mode: loadMode, Dir: filepath.Dir(r.file), BuildFlags: r.o.Build, Tests: true, Overlay: map[string][]byte{r.file: src},
	}, ".")
	if err != nil {
		return fmt.Errorf("checking the doubles: %v", err)
	}
	for _, p := range all {
		if len(p.Errors) > 0 {
			return fmt.Errorf("%s does not compile with the doubles, and so it is as it was before: %v", relative(r.file), p.Errors[0])
		}
	}
	return nil
}

// standsIn reports whether a struct may lack what only its package can set: all its methods are
// replaced.
func (w *writer) standsIn(t types.Type) bool {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || !w.r.handles[named.Obj()] {
		return false
	}
	w.partial = true
	return true
}

func (w *writer) p(format string, args ...any) { fmt.Fprintf(&w.b, format+"\n", args...) }

// file returns the file, and how many calls of how many functions it has. statements is the
// function that returns what was said to databases, or "". The file is nil if there would be
// nothing in it.
func (w *writer) file(calls map[*target][]*call, statements string) (src []byte, n, functions int, err error) {
	var replays, never []string
	w.left = map[*target][]string{}
	mock := w.Need(mockPackage, "mock")
	var lists strings.Builder
	for _, t := range w.r.targets {
		w.b.Reset()
		name, made := "", 0
		if len(calls[t]) > 0 {
			if name, made, err = w.list(t, calls[t]); err != nil {
				return nil, 0, 0, err
			}
		}
		if made == 0 {
			never = append(never, t.names...)
			continue
		}
		n += made
		lists.WriteString(w.b.String())
		replays = append(replays, fmt.Sprintf("%s.Replay(t, %s, %s, opts...)", mock, t.expression(w.qualify), name))
	}
	for _, why := range w.r.skipped {
		fmt.Fprintf(w.out, "left out: %s\n", why)
	}
	functions = len(replays)
	if statements != "" {
		replays = append(replays, fmt.Sprintf("%s.Replay(t, %s, opts...)", w.Need(sqlDoublePackage, "sqldouble"), w.r.statementsName()))
	}
	if len(replays) == 0 {
		return nil, 0, 0, nil
	}
	w.b.Reset()
	testing := w.Need("testing", "testing")
	w.p("// %s replays calls across a border, until the test ends:\n// %s.", w.r.use(), strings.Join(w.r.o.Borders, ", "))
	w.p("// A call that was not recorded is an error of the test. With the option %s.Lenient() it is logged,\n// and goes to the real function.", mock)
	w.p("func %s(t %s.TB, opts ...%s.Option) {\n\tt.Helper()", w.r.use(), testing, mock)
	for _, replay := range replays {
		w.p("\t%s", replay)
	}
	if len(never) > 0 {
		w.p("\t// No call of these was recorded, or none could be kept. What is replaced after this is replaced.")
		for _, t := range w.r.targets {
			for _, why := range w.left[t] {
				if !slices.Contains(never, t.names[0]) {
					continue
				}
				w.p("\t// %s: left out %s", t.shown, strings.ReplaceAll(why, "\n", " "))
			}
		}
		w.p("\t%s.Never(t, %s, opts...)", mock, strings.ReplaceAll(strconv.Quote(strings.Join(never, ";")), ";", "\"+\n\t\t\";"))
	}
	w.p("}\n\n%s%s", lists.String(), statements)
	for _, s := range w.r.ifaces {
		if err := w.standIn(s); err != nil {
			return nil, 0, 0, err
		}
	}
	body := w.b.String()
	w.b.Reset()
	w.p("// Doubles that %s made. Recording again replaces this file.\n", mark)
	w.p("package %s\n\nimport (", w.r.pkg.Name)
	used, err := qualifiers(body)
	if err != nil {
		return nil, 0, 0, err
	}
	var paths []string
	for p, name := range w.Names { // more than the file needs, if calls were left out
		if used[name] {
			paths = append(paths, p)
		}
	}
	std := func(p string) int { return min(strings.IndexByte(strings.Split(p, "/")[0], '.'), 0) } // -1 if it is
	slices.SortFunc(paths, func(a, b string) int { return cmp.Or(cmp.Compare(std(a), std(b)), cmp.Compare(a, b)) })
	for i, p := range paths {
		if i > 0 && std(p) != std(paths[i-1]) {
			w.p("")
		}
		if name := w.Names[p]; name != path.Base(p) {
			w.p("\t%s %q", name, p)
		} else {
			w.p("\t%q", p)
		}
	}
	w.p(")\n\n%s", body)
	src, err = format.Source([]byte(w.b.String()))
	if err != nil {
		return nil, 0, 0, fmt.Errorf("the doubles are no Go: %v\n%s", err, w.b.String())
	}
	return src, n, functions, nil
}

// qualifiers returns the names by which declarations qualify others.
func qualifiers(declarations string) (names map[string]bool, err error) {
	file, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+declarations, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("the doubles are no Go: %v\n%s", err, declarations)
	}
	names = map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := s.X.(*ast.Ident); ok {
				names[id.Name] = true
			}
		}
		return true
	})
	return names, nil
}

// qualify returns the name by which the file knows a package.
func (w *writer) qualify(p *types.Package) string {
	if p == w.Pkg {
		return ""
	}
	return w.Need(p.Path(), p.Name())
}

// list writes the type of a function's recorded calls, and the function that returns them.
func (w *writer) list(t *target, calls []*call) (name string, n int, err error) {
	left := map[string]int{}
	var reasons []string
	leave := func(why string) {
		if left[why]++; left[why] == 1 {
			reasons = append(reasons, why)
		}
	}
	calls = slices.DeleteFunc(calls, func(c *call) bool {
		lacks := len(c.Args) != t.inputs() || c.Lack == "" && len(c.Args)+len(c.Results) != len(t.params)
		if lacks {
			leave("it was not recorded as a whole")
		}
		return lacks
	})
	w.compared(t, calls)
	type row struct {
		args, all       string
		secret, partial bool
	}
	var all, rows []row
	broken := map[string]bool{} // arguments with which a call is left out, so that the others' order is not known
	for _, c := range calls {
		w.hidden, w.partial = false, false
		args, text, why := w.row(t, c)
		if why == "" {
			all = append(all, row{args, text, w.hidden, w.partial})
			continue
		}
		leave(why)
		broken[args] = true
	}
	last, repeated := map[string]row{}, map[string]int{}
	for _, r := range all {
		before, again := last[r.args]
		switch {
		case broken[r.args]:
			leave("another one with the same arguments is left out")
		case again && before.all == r.all: // as all that follow the last one are
			repeated[r.args]++
		default:
			for range repeated[r.args] {
				rows = append(rows, before)
			}
			rows = append(rows, r)
			last[r.args], repeated[r.args] = r, 0
		}
	}
	if len(rows) > callsMax {
		leave(fmt.Sprintf("%d of them differ, and at most %d are kept", len(rows), callsMax))
		rows = nil
	}
	for _, why := range reasons {
		fmt.Fprintf(w.out, "left out: %s of %s: %s\n", words.Count(left[why], "call"), t.shown, why)
		w.left[t] = append(w.left[t], words.Count(left[why], "call")+": "+why)
	}
	if len(rows) == 0 {
		return "", 0, nil
	}
	secret := slices.ContainsFunc(rows, func(r row) bool { return r.secret })
	partial := slices.ContainsFunc(rows, func(r row) bool { return r.partial })
	name = w.name(t)
	w.p("// A %s is a call of %s: its arguments, then its results.", strings.TrimSuffix(name, "s"), t.shown)
	w.p("type %s struct {", strings.TrimSuffix(name, "s"))
	for _, c := range t.params {
		typ, err := w.columnType(c)
		if err != nil {
			return "", 0, fmt.Errorf("%s: %s: %v", t.shown, c.name, err)
		}
		comment := ""
		if c.any != "" {
			comment = " // " + c.any + ", which is not compared"
		}
		w.p("\t%s %s%s", c.name, typ, comment)
	}
	w.p("}\n\n// %s returns the calls in the order in which they were made.", name)
	for _, why := range w.left[t] {
		w.p("// Left out: %s.", strings.ReplaceAll(why, "\n", " "))
	}
	if secret {
		w.p("// Secrets are redacted: they are %s, or zero.", strconv.Quote(recording.Hidden))
	}
	if partial {
		w.p("// Structs lack the fields that only their package can set.")
	}
	w.p("func %s() []%s {\n\treturn []%s{", name, strings.TrimSuffix(name, "s"), strings.TrimSuffix(name, "s"))
	for _, r := range rows {
		if len(r.all) <= lineMax && !strings.Contains(r.all, "\n") {
			w.p("\t\t{%s},", strings.ReplaceAll(r.all, "\x00", ", "))
		} else {
			w.p("\t\t{\n\t\t\t%s,\n\t\t},", strings.ReplaceAll(r.all, "\x00", ",\n\t\t\t"))
		}
	}
	w.p("\t}\n}\n")
	return name, len(rows), nil
}

// compared decides which arguments are compared: not those that have a secret in them in one call,
// or can't be written in any.
func (w *writer) compared(t *target, calls []*call) {
	for i, c := range t.params {
		if c.result || c.any != "" || isUsed(c.typ) {
			continue
		}
		var why error
		failed := 0
		for _, call := range calls {
			w.hidden = false
			_, _, err := w.Literal(c.typ, call.Args[i], true)
			if w.hidden {
				c.any = "an argument with a secret in it"
				break
			}
			if err != nil {
				why = err
				failed++
			}
		}
		if failed == len(calls) && failed > 0 && c.any == "" {
			c.any = fmt.Sprintf("an argument that can't be written (%v)", why)
			fmt.Fprintf(w.out, "not compared: argument %s of %s: %v\n", c.of.Name(), t.shown, why)
		}
	}
}

// isUsed reports whether a function would use an argument of this type, in place of looking at it.
// A double would not.
func isUsed(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Signature, *types.Chan:
		return true
	}
	return false
}

// row returns a call as fields of a composite literal, separated by NUL, its arguments also alone;
// or why it can't be one. Arguments that can't be written are "?".
func (w *writer) row(t *target, c *call) (args, all, why string) {
	var fields []string
	for i, d := range slices.Concat(c.Args, c.Results) {
		col := t.params[i]
		if i == len(c.Args) {
			args = strings.Join(fields, "\x00")
		}
		if col.any != "" {
			continue
		}
		text, zero, err := w.value(col, d)
		switch {
		case err == nil && !zero:
			fields = append(fields, col.name+": "+text)
		case err != nil && col.result:
			return args, "", fmt.Sprintf("%s: %v", col.name, err)
		case err != nil:
			return "?", "", fmt.Sprintf("%s: %v", col.name, err)
		}
	}
	if len(c.Results) == 0 {
		args = strings.Join(fields, "\x00")
	}
	return args, strings.Join(fields, "\x00"), c.Lack
}

// value returns an argument or a result. A result that is an interface of the border becomes its
// stand-in.
func (w *writer) value(c *column, d *recording.Datum) (text string, zero bool, err error) {
	if c.result && !d.Nil {
		for _, s := range w.r.ifaces {
			if types.Identical(c.typ, s.iface) {
				return s.name + "{}", false, nil
			}
		}
	}
	return w.Literal(c.typ, d, true)
}

func (w *writer) columnType(c *column) (string, error) {
	if c.any != "" {
		return w.Need(mockPackage, "mock") + ".Any", nil
	}
	return w.TypeName(c.typ)
}

// name returns the name of the function that returns a target's calls: storeGetCalls.
func (w *writer) name(t *target) string {
	name := t.fn.Name()
	if t.fn.Signature().Recv() != nil {
		recv := strings.TrimPrefix(types.TypeString(t.params[0].typ, func(*types.Package) string { return "" }), "*")
		name = recv + strings.ToUpper(name[:1]) + name[1:]
	} else if t.fn.Pkg() != w.Pkg {
		name = t.fn.Pkg().Name() + name
	}
	name = strings.ToLower(name[:1]) + name[1:]
	for base, n := name, 2; w.taken[name]; n++ {
		name = fmt.Sprint(base, n)
	}
	w.taken[name] = true
	return name + "Calls"
}

// standIn writes a type that implements an interface.
func (w *writer) standIn(s *standIn) error {
	iface := types.TypeString(s.iface, func(p *types.Package) string {
		if p == w.Pkg {
			return ""
		}
		return p.Name()
	})
	w.p("// A %s is a %s for tests that have no real one: %s answers its calls.", s.name, iface, w.r.use())
	w.p("type %s struct{}\n", s.name)
	for m := range s.iface.Underlying().(*types.Interface).Methods() {
		signature, err := w.TypeName(m.Signature())
		if err != nil {
			return fmt.Errorf("%s: %v", m.FullName(), err)
		}
		w.p("func (%s) %s%s {\n\tpanic(%q)\n}\n", s.name, m.Name(), strings.TrimPrefix(signature, "func"), s.name+" has no real "+m.Name())
	}
	return nil
}
