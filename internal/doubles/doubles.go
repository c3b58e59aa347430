// Package doubles makes doubles of the calls across a border that a run of a package's tests makes.
//
// In come the package's directory and the border: a package, an interface, a type or a function.
// The border's functions are looked up in the sources (border.go). The go command is given one more
// file of the package's tests, which has package mock/doubles record their calls (record.go). What
// was recorded becomes a file of Go, by package literal (write.go, sql.go). The verb test of
// command ftrace-wrap calls it. It writes that one file, and only if it compiles.
package doubles

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/ftrace-wrap/ftrace-wrap/internal/redact"
)

const (
	ownModule      = "github.com/ftrace-wrap/ftrace-wrap"
	mockPackage    = ownModule + "/mock"
	doublesPackage = mockPackage + "/doubles"

	sqlPackage       = "database/sql" // a border of its own kind, see sql.go
	sqlRecordPackage = doublesPackage + "/sqlrecord"
	sqlDoublePackage = mockPackage + "/sqldouble"
)

// mark is in the first line of files that were made here: those may be replaced.
const mark = "ftrace-wrap test -record-doubles"

// Options say what is recorded, and where it goes.
type Options struct {
	To      string   // the directory of the package whose tests run, or a file in it
	Borders []string // as the user names them
	Build   []string // flags of the go command that say which files belong to packages
}

// A Run is one run of tests that records calls.
type Run struct {
	o       *Options
	file    string // that gets the doubles
	pkg     *packages.Package
	seen    []*packages.Package // that the tests consist of
	targets []*target
	ifaces  []*standIn
	borders map[string]bool       // import paths of packages that are beyond the border
	handles map[types.Object]bool // types of which all methods are replaced
	skipped []string              // what of the border can't be recorded, and why
	sql     bool                  // package database/sql is a border
	redact  string

	temp string
}

// Prepare checks what can be checked before the tests run, and has all made that they need.
func Prepare(o *Options) (r *Run, err error) {
	r = &Run{o: o, borders: map[string]bool{}, handles: map[types.Object]bool{}}
	r.redact, _ = redact.Parse(os.Getenv("FTRACE_REDACT"))
	if err := r.open(); err != nil {
		return nil, err
	}
	if err := r.load(); err != nil {
		return nil, err
	}
	for _, name := range o.Borders {
		if err := r.border(name); err != nil {
			return nil, err
		}
	}
	if r.temp, err = os.MkdirTemp("", "ftrace-wrap-doubles-"); err != nil {
		return nil, fmt.Errorf("making a directory for what is recorded: %v: set TMPDIR to a writable one", err)
	}
	if err := r.overlay(); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// Close removes what was recorded.
func (r *Run) Close() { os.RemoveAll(r.temp) }

// open decides which file gets the doubles. One that is there must have been made here.
func (r *Run) open() (err error) {
	if r.file, err = filepath.Abs(r.o.To); err != nil {
		return err
	}
	if info, err := os.Stat(r.file); err == nil && info.IsDir() {
		r.file = filepath.Join(r.file, "doubles_test.go")
	} else if !strings.HasSuffix(r.file, "_test.go") {
		return fmt.Errorf("-record-doubles %s: it is neither the directory of a package nor a file whose name ends in _test.go", r.o.To)
	}
	src, err := os.ReadFile(r.file)
	switch first, _, _ := bytes.Cut(src, []byte("\n")); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("-record-doubles: %v", err)
	case !bytes.Contains(first, []byte(mark)):
		return fmt.Errorf("-record-doubles: %s was not made by it, and stays as it is: name another file", r.file)
	}
	return nil
}

// loadMode has all packages read from their sources, so that names that are not exported are known.
const loadMode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
	packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedModule

// load reads the package and its tests.
func (r *Run) load() error {
	dir := filepath.Dir(r.file)
	all, err := packages.Load(&packages.Config{Mode: loadMode, Dir: dir, BuildFlags: r.o.Build, Tests: true}, ".", doublesPackage)
	if err != nil {
		return fmt.Errorf("loading the package in %s: %v", dir, err)
	}
	path := ""
	var tests *packages.Package
	for _, p := range all {
		switch {
		case p.PkgPath == doublesPackage && len(p.Errors) > 0:
			return fmt.Errorf("the module of %s does not require %s, which replays what is recorded: go get %[2]s", dir, mockPackage)
		case p.PkgPath == doublesPackage || strings.HasPrefix(p.PkgPath, doublesPackage+"_") || p.PkgPath == doublesPackage+".test":
		case strings.HasSuffix(p.ID, ".test"):
			tests = p
		default:
			if len(p.Errors) > 0 {
				return fmt.Errorf("loading %s: %v", p.PkgPath, p.Errors[0])
			}
			if p.ID == p.PkgPath {
				path = p.PkgPath
			}
		}
	}
	if tests == nil {
		return fmt.Errorf("-record-doubles: the package in %s has no tests that could make calls", dir)
	}
	var inside, outside *packages.Package
	packages.Visit([]*packages.Package{tests}, nil, func(p *packages.Package) {
		if p != tests {
			r.seen = append(r.seen, p)
		}
		switch p.PkgPath {
		case path:
			inside = p
		case path + "_test":
			outside = p
		}
	})
	r.pkg = inside
	if outside != nil && (inside == nil || inside.ID == path) { // all tests are of the package with _test in its name
		r.pkg = outside
	}
	if r.pkg == nil {
		return fmt.Errorf("-record-doubles: the package in %s has no tests that could make calls", dir)
	}
	return nil
}

// use returns the name of the function that puts doubles in force: it is made of the file's name.
func (r *Run) use() string {
	base := strings.TrimSuffix(filepath.Base(r.file), "_test.go")
	name := "use"
	for part := range strings.FieldsFuncSeq(base, func(c rune) bool { return !ast.IsExported(strings.ToUpper(string(c))) && (c < '0' || c > '9') }) {
		name += strings.ToUpper(part[:1]) + part[1:]
	}
	return name
}
