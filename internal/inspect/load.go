// Package inspect shows what a build with ftrace-wrap would do, without one.
//
// In come patterns of packages, or a file. They are loaded and rewritten as the compile step does
// it (load.go). Out comes a list of all functions with how each is hooked (list.go), or the source
// that is compiled in place of the user's (show.go). Command ftrace-wrap calls it for its verbs
// list and show. It compiles nothing, and writes no files.
package inspect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/ftrace-wrap/ftrace-wrap/internal/gocmd"
	"github.com/ftrace-wrap/ftrace-wrap/internal/inject"
	"github.com/ftrace-wrap/ftrace-wrap/internal/paths"
	"github.com/ftrace-wrap/ftrace-wrap/internal/toolexec"
	"github.com/ftrace-wrap/ftrace-wrap/internal/toolexec/selection"
	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
	"github.com/ftrace-wrap/ftrace-wrap/rewrite"
)

// loadedPackage is a package and what a build would make of it.
type loadedPackage struct {
	importPath string // without the mark of test variants
	variant    string // the go command's name of it: with the mark
	symbol     string
	files      []rewrite.File
	result     *rewrite.Result
	selected   bool   // by FTRACE_PACKAGES
	refused    string // why it is never instrumented, or ""
}

// instrumented reports whether a build would instrument the package.
func (p *loadedPackage) instrumented() bool { return p.selected && p.refused == "" }

// unselected says in which way FTRACE_PACKAGES leaves the package out.
func (p *loadedPackage) unselected() string {
	if patterns := os.Getenv("FTRACE_PACKAGES"); patterns != "" {
		return "FTRACE_PACKAGES=" + patterns + " does not select it"
	}
	return "FTRACE_PACKAGES is not set, which selects the main module and workspace only"
}

// loader finds packages.
type loader struct {
	settings   *toolexec.Settings
	belowCore  map[string]bool // packages that runtime depends on
	buildFlags []string
	tests      bool
}

// newLoader reads the environment.
func newLoader() (*loader, error) {
	goroot, err := gocmd.Goroot(context.Background())
	if err != nil {
		return nil, err
	}
	s, err := toolexec.ReadSettings(filepath.Join(goroot, "pkg", "tool", "any", "compile"))
	if err != nil {
		return nil, err
	}
	env := selection.FromOS(goroot)
	if env.Dir, err = os.Getwd(); err != nil { // we are no child of the go command
		return nil, fmt.Errorf("finding the current directory: %v: change to one that exists", err)
	}
	s.Goroot = goroot
	if s.Selection, err = selection.Resolve(env); err != nil {
		return nil, err
	}
	if err := s.Selection.Validate(); err != nil {
		return nil, err
	}
	below, err := selection.RuntimeDeps(goroot)
	if err != nil {
		return nil, fmt.Errorf("reading the standard library: %v: check GOROOT", err)
	}
	return &loader{settings: s, belowCore: below}, nil
}

// load finds and rewrites the packages that patterns match.
func (l *loader) load(patterns ...string) ([]*loadedPackage, error) {
	found, err := packages.Load(&packages.Config{
		Mode:       packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedForTest,
		BuildFlags: l.buildFlags,
		Tests:      l.tests,
	}, patterns...)
	if err != nil {
		return nil, fmt.Errorf("loading %s: %v", strings.Join(patterns, " "), err)
	}
	var problems []error
	var loaded []*loadedPackage
	for _, p := range found {
		if len(p.Errors) > 0 {
			problems = append(problems, fmt.Errorf("loading %s: %s: make it build first", p.PkgPath, strings.TrimPrefix(p.Errors[0].Error(), "-: ")))
			continue
		}
		if l.superseded(p, found) || len(p.CompiledGoFiles) == 0 || p.PkgPath == "unsafe" {
			continue
		}
		one, err := l.rewrite(p)
		if errors.Is(err, rewrite.ErrSyntax) {
			problems = append(problems, fmt.Errorf("loading %s: %s: make it build first; if it does, build ftrace-wrap by the Go release that you use, not by %s",
				p.PkgPath, strings.TrimPrefix(err.Error(), rewrite.ErrSyntax.Error()+": "), runtime.Version()))
			continue
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %v", p.PkgPath, err))
			continue
		}
		loaded = append(loaded, one)
	}
	if len(found) == 0 {
		problems = append(problems, fmt.Errorf("%s: matches no packages: go list %[1]s says more", strings.Join(patterns, " ")))
	}
	return loaded, errors.Join(problems...)
}

// superseded reports whether a package has nothing of its own to show: the main package that go
// test generates, and the plain form of a package that is also there with its test files.
func (l *loader) superseded(p *packages.Package, all []*packages.Package) bool {
	if p.Name == "main" && strings.HasSuffix(p.ID, ".test") && l.tests {
		return slices.ContainsFunc(all, func(o *packages.Package) bool { return o.PkgPath == strings.TrimSuffix(p.ID, ".test") })
	}
	return p.ForTest == "" && slices.ContainsFunc(all, func(o *packages.Package) bool { return o.ForTest == p.PkgPath && o.PkgPath == p.PkgPath })
}

// rewrite does to a package what the compile step would.
func (l *loader) rewrite(p *packages.Package) (*loadedPackage, error) {
	one := &loadedPackage{importPath: p.PkgPath, variant: p.ID, symbol: p.PkgPath}
	if p.Name == "main" {
		one.symbol = "main"
		if p.ForTest != "" {
			one.symbol = p.PkgPath
		}
	}
	dir := ""
	if len(p.GoFiles) > 0 {
		dir = filepath.Dir(p.GoFiles[0])
	}
	for _, name := range p.CompiledGoFiles {
		source, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if !strings.HasSuffix(name, ".go") { // written by cgo, in the build cache
			if name = cgoSource(source); name == "" {
				continue
			}
		}
		one.files = append(one.files, rewrite.File{Name: name, Source: source})
	}
	std := dir != "" && paths.Within(dir, filepath.Join(l.settings.Goroot, "src"))
	one.refused = l.refusal(p.PkgPath, std)
	one.selected = l.settings.Selection.Contains(selection.Package{ImportPath: p.ID, Dir: dir, Std: std})
	var err error
	one.result, err = rewrite.Package(rewrite.Options{
		ImportPath: p.PkgPath, Symbol: one.symbol, KeepInlinable: l.settings.Keep, Unhooked: inject.Unhooked(p.PkgPath),
	}, one.files)
	return one, err
}

// cgoSource returns the name of the file that cgo translated to the given one, or "" if it is one
// that cgo made up.
func cgoSource(source []byte) string {
	if m := cgoLine().FindSubmatch(source); m != nil {
		return string(m[1])
	}
	return ""
}

// cgoLine is the directive in front of a translated file. It gives a column; those in other files
// of cgo's don't.
var cgoLine = words.Regexp(`(?m)^//line (.+\.go):1:1$`)

// refusal says why a package is never instrumented.
func (l *loader) refusal(importPath string, std bool) string {
	switch {
	case std && l.belowCore[importPath]:
		return "package runtime depends on it"
	case inject.Own(importPath):
		return "it takes in a part of the tracer"
	}
	return inject.Refused(importPath)
}
