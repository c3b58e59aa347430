// Package inject changes Go's own packages, and some others, so that they take in the tracer. It is
// the host's half of package guest: it runs at build time and never in a user's program.
//
// A package is changed by splices into its sources, by files that are added, or by a definition of
// a client library's protocol. What is pure in the guest comes from packages of its own, renamed:
// see pure.
//
// A release whose sources do not have the places that [Patch] looks for fails the build with a
// message that names it: loud on a new Go release, never silently nothing.
package inject

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/guest"
	"github.com/ftrace-wrap/ftrace-wrap/internal/sqltext"
	"github.com/ftrace-wrap/ftrace-wrap/internal/testtree"
)

// A File is a source file by name and text.
type File struct {
	Name   string
	Source []byte
	Origin string // of a file that was added: the file of this module that it was made from, "" if it was written for the package
}

// Releases are the supported Go releases.
var Releases = []string{"go1.25", "go1.26", "go1.27"}

// Targets are the supported GOOS/GOARCH.
var Targets = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// Supported reports whether version, such as "go1.26.8", belongs to a supported release.
func Supported(version string) bool { return release(version) != "" && !Later(version) }

// Later reports whether version belongs to a release after the supported ones. Patch treats it as
// the newest of these.
func Later(version string) bool {
	minor := func(version string) int {
		rest, _ := strings.CutPrefix(version, "go1.")
		n, _ := strconv.Atoi(rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))])
		return n
	}
	return strings.HasPrefix(version, "go1.") && minor(version) > minor(Releases[len(Releases)-1])
}

func release(version string) string {
	if Later(version) {
		return Releases[len(Releases)-1]
	}
	for _, r := range Releases {
		if rest, ok := strings.CutPrefix(version, r); ok && (rest == "" || strings.IndexByte(".-rb X", rest[0]) >= 0) {
			return r
		}
	}
	return ""
}

// The packages through which programs reach the core. Each gets a file with the links into it,
// which replaces one of that name if there is one. apiPackage imports rulePackage.
const (
	apiPackage      = "github.com/ftrace-wrap/ftrace-wrap/runtime"
	mockPackage     = "github.com/ftrace-wrap/ftrace-wrap/mock"
	probePackage    = "github.com/ftrace-wrap/ftrace-wrap/probe"
	rulePackage     = "github.com/ftrace-wrap/ftrace-wrap/internal/rule"
	protocolPackage = "github.com/ftrace-wrap/ftrace-wrap/protocol"
	namePackage     = "github.com/ftrace-wrap/ftrace-wrap/internal/funcname" // mockPackage, sqlDoublePackage and levelPackage import it

	// By these a program records calls for doubles.
	doublesPackage = mockPackage + "/doubles"
	keptPackage    = "github.com/ftrace-wrap/ftrace-wrap/internal/kept" // mockPackage imports it
	redactPackage  = "github.com/ftrace-wrap/ftrace-wrap/internal/redact"

	// By these, what it says to databases.
	sqlRecordPackage = doublesPackage + "/sqlrecord"
	sqlDoublePackage = mockPackage + "/sqldouble"
	sqlSecretPackage = "github.com/ftrace-wrap/ftrace-wrap/internal/sqlsecret"
	sqlValuePackage  = "github.com/ftrace-wrap/ftrace-wrap/internal/sqlvalue"

	// By this one they steer it with their log's level.
	levelPackage     = "github.com/ftrace-wrap/ftrace-wrap/loglevel"
	levelHTTPPackage = levelPackage + "/levelhttp"
)

// linked has for each of these packages the name of the file, and where package guest has it.
var linked = map[string]struct{ name, guest string }{
	apiPackage:      {"core.go", "link/ftrace.go"},
	mockPackage:     {"core.go", "link/mock.go"},
	probePackage:    {"link.go", "link/probe.go"},
	protocolPackage: {"core.go", "link/protocol.go"},
}

// Own reports whether the package with this import path is the tracer's own part of a program,
// which is not traced.
func Own(importPath string) bool {
	switch importPath {
	case rulePackage, namePackage, levelPackage, levelHTTPPackage, doublesPackage, keptPackage, redactPackage,
		sqlRecordPackage, sqlDoublePackage, sqlSecretPackage, sqlValuePackage:
		return true
	}
	return linked[importPath].name != ""
}

// Patched reports whether Patch changes the package with this import path; std reports whether it
// is in the standard library.
func Patched(importPath string, std bool) bool {
	return std && (splices[importPath] != nil || insertions[importPath] != nil || additions[importPath] != nil) || linked[importPath].name != "" || !std && definitionsOf(importPath) != nil
}

// Patch returns the sources that replace files when importPath is compiled for goos and goarch by
// the Go release called version: the new text of those that change, by index, and files to add. An
// error is a [*ReleaseError] if the files are not as they are in the supported releases.
func Patch(importPath, version, goos, goarch string, files []File) (changed map[int][]byte, added []File, err error) {
	if err := checkTarget(goos, goarch); err != nil {
		return nil, nil, err
	}
	if definitionsOf(importPath) != nil {
		return define(importPath, files)
	}
	changed, misfits, err := insert(importPath, files)
	if err != nil {
		return nil, nil, err
	}
	for _, s := range splices[importPath] {
		if r := release(version); s.from > r || s.to != "" && s.to < r || s.unix && goos == "windows" || s.goos != "" && s.goos != goos {
			continue
		}
		if problem := s.apply(files, changed); problem != "" {
			misfits = append(misfits, Misfit{problem, s.behind + s.cut})
		}
	}
	if misfits != nil {
		return nil, nil, &ReleaseError{version, importPath, misfits}
	}
	switch link := linked[importPath]; {
	case importPath == "runtime":
		added, err = runtimeFiles(version, goos, goarch)
	case link.name != "":
		var f File
		f, err = embedded(link.guest)
		f.Name = link.name
		added = []File{f}
	default:
		added, err = stdFiles(importPath, version, goos, packageName(files))
	}
	if err != nil {
		return nil, nil, err
	}
	for i := range added {
		if at := slices.IndexFunc(files, func(f File) bool { return base(f) == added[i].Name }); at >= 0 {
			changed[at], added = added[i].Source, nil // there is only one
			break
		}
	}
	return changed, added, nil
}

// A ReleaseError says that a package is not as it is in the supported releases.
type ReleaseError struct {
	Version, ImportPath string
	Misfits             []Misfit // one at least
}

// A Misfit is a change that can't be made in a package.
type Misfit struct {
	Problem string
	Place   string // text that a file does not have once, "" if the change is to a function
}

// Error has the first misfit, and how many others there are.
func (e *ReleaseError) Error() string {
	more := ""
	if n := len(e.Misfits) - 1; n > 0 {
		more = fmt.Sprintf(", and %d more", n)
	}
	return fmt.Sprintf("%s is not a Go release that this ftrace-wrap can instrument (%s): package %s: %s%s",
		e.Version, strings.Join(Releases, ", "), e.ImportPath, e.Misfits[0].Problem, more)
}

// Assembly returns functions in assembly code that are added to a file of package runtime, or "".
func Assembly(file string) string { return assembly[file] }

// AllAssembly returns what Assembly has for any file.
func AllAssembly() string { return fmt.Sprintf("%q", assembly) }

var assembly = map[string]string{
	"asm_amd64.s":        mustRead("os/cpu_amd64.s"),
	"asm_arm64.s":        mustRead("os/cpu_arm64.s"),
	"sys_darwin_amd64.s": mustRead("os/darwin.s"),
	"sys_darwin_arm64.s": mustRead("os/darwin.s"),
}

// Hash returns a short text that changes when what is added to Go's packages changes.
func Hash() string {
	hash := sha256.New()
	fmt.Fprintf(hash, "%#v %#v %#v %q %q %q %#v", splices, insertions, definitions, pure, sqltext.Source, testtree.Source, assembly)
	fs.WalkDir(guest.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			fmt.Fprintf(hash, "%q %q", name, mustRead(name))
		}
		return err
	})
	return hex.EncodeToString(hash.Sum(nil)[:8])
}

func checkTarget(goos, goarch string) error {
	if slices.Contains(Targets, goos+"/"+goarch) {
		return nil
	}
	return fmt.Errorf("GOOS=%s GOARCH=%s is not supported: linux, darwin and windows on amd64 and arm64 are", goos, goarch)
}

// base returns the name of a file without its directory.
func base(f File) string { return path.Base(strings.ReplaceAll(f.Name, `\`, "/")) }

// Packages returns the import paths of the packages that Patch changes: those of the standard
// library, and others.
func Packages() (std, others []string) {
	for importPath := range splices {
		std = append(std, importPath)
	}
	for importPath := range insertions {
		std = append(std, importPath)
	}
	for importPath := range linked {
		others = append(others, importPath)
	}
	for importPath := range definitions {
		others = append(others, importPath)
	}
	slices.Sort(std)
	std = slices.Compact(std)
	slices.Sort(others)
	return std, others
}
