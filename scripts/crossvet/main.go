// Command crossvet vets packages for platforms on which nothing is run, as GOOS=... GOARCH=... go
// vet does. But it compiles nothing. It type-checks all from source, which takes seconds in place
// of minutes.
//
// Usage:
//
//	go run ./scripts/crossvet [-tests=false] [-without ANALYZER] [-p PACKAGE]... GOOS/GOARCH...
//
// It looks at packages of the module in the current directory, all unless -p names some, and at
// their tests. The exit status is 1 if there is something to report, 2 if packages could not be
// loaded.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/analysis/suite/vet"
	"golang.org/x/tools/go/packages"
)

func main() {
	v := vetter{suite: slices.Clone(vet.Suite)}
	flag.BoolVar(&v.tests, "tests", true, "look at tests too")
	flag.Func("p", "look at this `package` (repeatable; default: all of the module)", func(path string) error {
		v.packages = append(v.packages, path)
		return nil
	})
	flag.Func("without", "leave this `analyzer` out (repeatable)", func(name string) error {
		known := len(v.suite)
		v.suite = slices.DeleteFunc(v.suite, func(a *analysis.Analyzer) bool { return a.Name == name })
		if len(v.suite) == known {
			return errors.New("vet has no such analyzer")
		}
		return nil
	})
	flag.Parse()
	if len(v.packages) == 0 {
		v.packages = []string{"./..."}
	}
	status := 0
	for _, target := range flag.Args() {
		found, err := v.check(target)
		if err != nil {
			fmt.Fprintf(os.Stderr, "crossvet: %s: %v\n", target, err)
			os.Exit(2)
		}
		for _, what := range found {
			if flag.NArg() > 1 {
				what = target + ": " + what
			}
			fmt.Println(what)
			status = 1
		}
	}
	os.Exit(status)
}

// A vetter knows what to look at, and for what.
type vetter struct {
	packages []string
	tests    bool
	suite    []*analysis.Analyzer
}

// check returns what is wrong with the packages on a target, as go vet prints it.
func (v *vetter) check(target string) (found []string, err error) {
	system, arch, ok := strings.Cut(target, "/")
	if !ok {
		return nil, errors.New("this is not GOOS/GOARCH")
	}
	loaded, err := packages.Load(&packages.Config{
		Mode:  packages.LoadAllSyntax | packages.NeedModule,
		Env:   append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0"),
		Tests: v.tests,
	}, v.packages...)
	if err != nil {
		return nil, err
	}
	tell := func(what string) {
		if !slices.Contains(found, what) { // a package and the same with its tests have most files in common
			found = append(found, what)
		}
	}
	packages.Visit(loaded, nil, func(p *packages.Package) {
		for _, e := range p.Errors {
			tell("vet: " + e.Error())
		}
	})
	if len(found) > 0 {
		return found, nil
	}
	graph, err := checker.Analyze(v.suite, loaded, nil)
	if err != nil {
		return nil, err
	}
	for _, action := range graph.Roots {
		if action.Err != nil {
			return nil, fmt.Errorf("%s of %s: %w", action.Analyzer.Name, action.Package.PkgPath, action.Err)
		}
		for _, d := range action.Diagnostics {
			tell(fmt.Sprintf("%s: %s", action.Package.Fset.Position(d.Pos), d.Message))
		}
	}
	return found, nil
}
