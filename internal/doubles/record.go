package doubles

import (
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/types"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/kept"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/redact"
)

type call = kept.Call[*recording.Datum]

// add adds a target with its columns. recv is its receiver, or nil.
func (r *Run) add(t *target, recv *types.Var) {
	if slices.ContainsFunc(r.targets, func(other *target) bool { return slices.Equal(other.names, t.names) }) {
		return
	}
	taken := map[string]bool{}
	add := func(v *types.Var, name string, result bool) *column {
		if n := v.Name(); n != "" && n != "_" {
			name = n
		}
		name = exported(name)
		for base, n := name, 2; taken[name]; n++ {
			name = fmt.Sprint(base, n)
		}
		taken[name] = true
		c := &column{of: v, typ: v.Type(), name: name, result: result}
		t.params = append(t.params, c)
		return c
	}
	s := t.fn.Signature()
	if recv != nil {
		c := add(recv, "recv", false)
		switch recv.Type().Underlying().(type) {
		case *types.Pointer, *types.Interface:
			c.any = "the receiver"
		}
	}
	for v := range s.Params().Variables() {
		c := add(v, "arg", false)
		c.secret = redact.Secret(r.redact, v.Name())
		switch {
		case types.TypeString(v.Type(), nil) == "context.Context":
			c.any = "a context"
		case c.secret:
			c.any = "a secret, by its name"
		}
	}
	n := s.Results().Len()
	for i := range n {
		v := s.Results().At(i)
		isError := types.Identical(v.Type(), types.Universe.Lookup("error").Type())
		name, basic := "result", false
		if isError {
			name = "err"
		}
		if b, ok := v.Type().(*types.Basic); ok {
			basic = b.Info()&types.IsString == 0
		}
		c := add(v, name, true)
		named := v.Name() != "" && v.Name() != "_"
		switch {
		case isError && i == n-1:
		case named:
			c.secret = redact.Secret(r.redact, v.Name())
		default:
			c.secret = !basic && redact.Secret(r.redact, t.fn.Name())
		}
	}
	r.targets = append(r.targets, t)
}

// initialisms are names that Go writes in capitals.
var initialisms = []string{"id", "url", "db", "http", "sql", "api", "uuid", "ip", "json", "html", "uri"}

// exported returns the name of a field for a parameter.
func exported(name string) string {
	if slices.Contains(initialisms, name) {
		return strings.ToUpper(name)
	}
	if name = strings.ToUpper(name[:1]) + name[1:]; !ast.IsExported(name) {
		return "X" + name
	}
	return name
}

func (r *Run) recorded() string { return filepath.Join(r.temp, "calls") }

// Packages returns the packages outside the main module that must have hooks.
func (r *Run) Packages() (list []string) {
	main := map[string]bool{}
	for _, p := range r.seen {
		main[p.PkgPath] = p.Module != nil && p.Module.Main
	}
	for _, t := range r.targets {
		for _, name := range t.names {
			slash := strings.LastIndexByte(name, '/') + 1
			for p := range main {
				if rest, ok := strings.CutPrefix(name, p+"."); ok && len(p) >= slash && !main[p] && !strings.Contains(rest, "/") && !slices.Contains(list, p) {
					list = append(list, p)
				}
			}
		}
	}
	if r.sql {
		list = append(list, sqlPackage, "testing") // by which statements are known by their tests
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Flags returns the flag by which the tests record.
func (r *Run) Flags() []string { return []string{"-overlay=" + filepath.Join(r.temp, "overlay.json")} }

// overlay writes the file that has calls recorded, which the go command takes for one of the
// package.
func (r *Run) overlay() error {
	var b strings.Builder
	imports := map[string]string{} // names by paths
	qualify := func(p *types.Package) string {
		if p == r.pkg.Types {
			return ""
		}
		if imports[p.Path()] == "" {
			imports[p.Path()] = fmt.Sprint("ftrace", len(imports))
		}
		return imports[p.Path()]
	}
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("func init() {\n\tftraceDoubles.Record(%q, ftraceDoubles.Border{\n\t\tPackage: %q,\n\t\tRedact: %q,\n\t\tFunctions: []ftraceDoubles.Function{", r.recorded(), r.pkg.PkgPath, r.redact)
	for _, t := range r.targets {
		var secret, skip []bool
		for _, c := range t.params {
			secret = append(secret, c.secret)
			if !c.result {
				skip = append(skip, c.any != "")
			}
		}
		watch := "Around"
		if t.iface {
			watch = "Every"
		}
		p("\t\t\t{Watch: ftraceDoubles.%s(%s), Secret: %#v, Skip: %#v},", watch, t.expression(qualify), secret, skip)
	}
	p("\t\t},\n\t\tErrors: map[string]*error{")
	for _, of := range r.importable() {
		for _, name := range of.Scope().Names() {
			v, ok := of.Scope().Lookup(name).(*types.Var)
			if !ok || !types.Identical(v.Type(), types.Universe.Lookup("error").Type()) || !v.Exported() && of != r.pkg.Types {
				continue
			}
			p("\t\t\t%q: &%s,", of.Path()+"."+name, strings.TrimPrefix(qualify(of)+"."+name, "."))
		}
	}
	p("\t\t},")
	if r.sql {
		p("\t\tWatch: []func(*ftraceDoubles.Recorder){ftraceSQL.Watch},")
		imports[sqlRecordPackage] = "ftraceSQL"
	}
	p("\t})\n}")
	head := "package " + r.pkg.Name + "\n\nimport (\n\tftraceDoubles \"" + doublesPackage + "\"\n"
	for p, name := range imports {
		head += "\t" + name + " " + strconv.Quote(p) + "\n"
	}
	src, err := format.Source([]byte(head + ")\n\n" + b.String()))
	if err != nil {
		return fmt.Errorf("what records calls is no Go: %v", err)
	}
	made := filepath.Join(r.temp, "record_test.go")
	if err := os.WriteFile(made, src, 0o600); err != nil {
		return err
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(filepath.Dir(r.file), "ftrace_record_doubles_test.go"): made}})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.temp, "overlay.json"), list, 0o600)
}

// expression returns a target as the package names it.
func (t *target) expression(qualify types.Qualifier) string {
	if t.fn.Signature().Recv() == nil {
		return strings.TrimPrefix(qualify(t.fn.Pkg())+"."+t.fn.Name(), ".")
	}
	name := types.TypeString(t.params[0].typ, qualify)
	if strings.HasPrefix(name, "*") {
		name = "(" + name + ")"
	}
	return name + "." + t.fn.Name()
}

// importable returns the packages that the package under test may name: itself, those that it
// imports, those beyond the border, and of other modules what is known by its path's last element.
func (r *Run) importable() []*types.Package {
	list := append([]*types.Package{r.pkg.Types}, r.pkg.Types.Imports()...)
	for _, p := range r.seen {
		foreign := (p.Module == nil || !p.Module.Main) && !strings.Contains("/"+p.PkgPath+"/", "/internal/") && !strings.HasPrefix(p.PkgPath, "vendor/")
		if (foreign && p.ID == p.PkgPath || r.borders[p.PkgPath]) && p.Name == path.Base(p.PkgPath) && !slices.Contains(list, p.Types) {
			list = append(list, p.Types)
		}
	}
	return list
}

// calls reads what was recorded: calls by target, and what was said to databases.
func (r *Run) calls() (found map[*target][]*call, said []*statement, err error) {
	f, err := os.Open(r.recorded())
	if err != nil {
		return nil, nil, fmt.Errorf("no call was recorded: the tests of %s were not among those that ran", r.pkg.PkgPath)
	}
	defer f.Close()
	found = map[*target][]*call{}
	last := map[int]*statement{}
	for from := gob.NewDecoder(f); ; {
		c := &call{}
		if err := from.Decode(c); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, nil, fmt.Errorf("reading what was recorded: %v", err)
		}
		if c.Statement != nil {
			last[c.Statement.Number] = c.Statement
			continue
		}
		t := r.targets[c.Function]
		found[t] = append(found[t], c)
	}
	for _, n := range slices.Sorted(maps.Keys(last)) {
		said = append(said, last[n])
	}
	return found, said, nil
}
