package inject

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/decimal"
	"github.com/ftrace-wrap/ftrace-wrap/internal/escape"
	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
	"github.com/ftrace-wrap/ftrace-wrap/internal/guest"
	"github.com/ftrace-wrap/ftrace-wrap/internal/jsonline"
	"github.com/ftrace-wrap/ftrace-wrap/internal/ownfile"
	"github.com/ftrace-wrap/ftrace-wrap/internal/redact"
	"github.com/ftrace-wrap/ftrace-wrap/internal/rule"
	"github.com/ftrace-wrap/ftrace-wrap/internal/sqltext"
	"github.com/ftrace-wrap/ftrace-wrap/internal/testtree"
	"github.com/ftrace-wrap/ftrace-wrap/internal/tracecontext"
)

// guestFolder is where package guest has its files.
const guestFolder = "internal/guest/"

// outside are the folders of package guest whose files do not become part of package runtime.
var outside = []string{"std", "lib", "link"}

// pure are the packages that also become part of package runtime, as a file each, where their names
// have the prefix "ftrace_NAME_". Each imports nothing but unsafe, so that it is compiled, tested
// and fuzzed on its own as well.
var pure = []struct {
	name   string
	source []byte
}{
	{"rule", rule.Source},
	{"decimal", decimal.Source},
	{"jsonline", jsonline.Source},
	{"protocol", protocolSource},
	{"ownfile", ownfile.Source},
	{"redact", redact.Source},
	{"escape", escape.Source},
	{"format", format.Source},
	{"tracecontext", tracecontext.Source},
}

// runtimeFiles returns the guest's files for a target, and those of pure packages, sorted by name.
func runtimeFiles(version, goos, goarch string) ([]File, error) {
	rooms, err := guest.Files.ReadDir(".")
	if err != nil {
		return nil, err
	}
	var added []File
	for _, room := range rooms {
		if !room.IsDir() || slices.Contains(outside, room.Name()) {
			continue
		}
		entries, err := guest.Files.ReadDir(room.Name())
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if path.Ext(e.Name()) != ".go" || !forTarget(e.Name(), goos, goarch) {
				continue
			}
			f, err := embedded(room.Name() + "/" + e.Name())
			if err != nil {
				return nil, err
			}
			f.Name = "ftrace_" + room.Name() + "_" + e.Name()
			if e.Name() == room.Name()+".go" {
				f.Name = "ftrace_" + e.Name()
			}
			if release(version) == "go1.25" {
				f.Source = []byte(before126.Replace(string(f.Source)))
			}
			added = append(added, f)
		}
	}
	for _, p := range pure {
		source, err := renamed(p.source, "runtime", "ftrace_"+p.name+"_")
		if err != nil {
			return nil, fmt.Errorf("package %s: %v", p.name, err)
		}
		added = append(added, File{Name: "ftrace_pure_" + p.name + ".go", Source: source})
	}
	slices.SortFunc(added, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return added, nil
}

// before126 gives what makes system calls, and calls libSystem, the names from before Go 1.26.
var before126 = strings.NewReplacer(
	"internal/runtime/syscall/linux", "internal/runtime/syscall",
	"syscall_rawsyscalln(", "syscall_rawSyscall6(",
)

// forTarget reports whether a file's name is for this system and processor, by the go command's
// rules. What is for Linux and macOS is in files of unix, and what is for all systems but Linux in
// other.go.
func forTarget(name, goos, goarch string) bool {
	for _, part := range strings.Split(strings.TrimSuffix(name, ".go"), "_") {
		switch part {
		case "linux", "darwin", "windows":
			if part != goos {
				return false
			}
		case "amd64", "arm64":
			if part != goarch {
				return false
			}
		case "unix":
			if goos == "windows" {
				return false
			}
		case "other":
			if goos == "linux" {
				return false
			}
		}
	}
	return true
}

// An addition is the guest's files for one of Go's packages.
type addition struct {
	files   []string
	goos    []string // the systems that they are for, nil for all
	release string   // the only release that they are for, "" for all
	but     string   // the release that they are not for
}

// additions are the ones for the packages below std.
var additions = map[string][]addition{
	"internal/runtime/maps": {
		{files: []string{"std/maps/map.go"}},
		{files: []string{"std/maps/maptype.go"}, but: "go1.25"},
		{files: []string{"std/maps/maptype_go1.25.go"}, release: "go1.25"},
	},
	"internal/sync": {{files: []string{"std/isync/locks.go"}}},
	"sync":          {{files: []string{"std/sync/locks.go"}}},
	"syscall": {
		{files: []string{"std/syscall/write.go"}, goos: []string{"linux", "darwin"}},
		{files: []string{"std/syscall/streams_linux.go"}, goos: []string{"linux"}},
		{files: []string{"std/syscall/write_windows.go"}, goos: []string{"windows"}},
	},
	"internal/poll":             {{files: []string{"std/poll/console_windows.go"}, goos: []string{"windows"}}},
	"context":                   {{files: []string{"std/context/errors.go"}}},
	"log":                       {{files: []string{"std/log/log.go"}}},
	"log/slog":                  {{files: []string{"std/slog/slog.go"}}},
	"net":                       {{files: []string{"std/net/probes.go", "std/net/args.go", "std/net/socket.go"}, goos: []string{"linux"}}, {files: []string{"std/net/operation.go", "std/net/errors.go"}}},
	"net/http":                  {{files: []string{"link/spanlinks.go", placeFile, "std/http/spans.go", "std/http/trace.go", "std/http/errors.go"}}},
	"database/sql":              {{files: []string{"link/spanlinks.go", "std/sql/spans.go", "std/sql/comment.go", "std/sql/errors.go"}}},
	"os":                        {{files: []string{"std/os/moved.go"}, goos: []string{"linux"}}, {files: []string{"std/os/operation.go", "std/os/trace.go", "std/os/errors.go"}}},
	"testing":                   {{files: []string{"std/testing/failed.go"}}},
	"testing/internal/testdeps": {{files: []string{"std/testdeps/testdeps.go"}}},
}

// stdFiles returns the files that are added to one of Go's packages other than runtime.
func stdFiles(importPath, version, goos, pkg string) ([]File, error) {
	var added []File
	var own File
	var err error
	switch importPath {
	case "database/sql":
		own, err = sqlText(pkg)
	case "net/http":
		own, err = traceContext(pkg)
	case "testing":
		own, err = pureFile("testtree", testtree.Source, pkg, "ftrace_tree_")
	}
	if err != nil {
		return nil, err
	}
	if own.Source != nil {
		added = append(added, own)
	}
	for _, a := range additions[importPath] {
		r := release(version)
		if a.goos != nil && !slices.Contains(a.goos, goos) || a.release != "" && a.release != r || a.but == r {
			continue
		}
		for _, name := range a.files {
			f, err := embedded(name)
			if err != nil {
				return nil, err
			}
			f.Source = into(f.Source, pkg)
			added = append(added, f)
		}
	}
	return added, nil
}

// into returns a file that several packages get as one of pkg.
func into(source []byte, pkg string) []byte {
	return bytes.Replace(source, []byte("\npackage definition\n"), []byte("\npackage "+pkg+"\n"), 1)
}

// traceContext returns package tracecontext as a file of pkg.
func traceContext(pkg string) (File, error) {
	return pureFile("tracecontext", tracecontext.Source, pkg, "ftrace_tracecontext_")
}

// sqlText returns package sqltext as a file of pkg.
func sqlText(pkg string) (File, error) {
	return pureFile("sqltext", sqltext.Source, pkg, "ftrace")
}

// pureFile returns the pure package called name as a file of pkg. It is of a newer version of the
// language than its package may be.
func pureFile(name string, source []byte, pkg, prefix string) (File, error) {
	source, err := renamed(source, pkg, prefix)
	source = append([]byte("//go:build go1.22\n\n"), source...)
	return File{Name: "ftrace_" + name + ".go", Origin: "internal/" + name + "/" + name + ".go", Source: source}, err
}

// embedded returns a file of package guest, with the name that it has in other packages.
func embedded(name string) (File, error) {
	source, err := guest.Files.ReadFile(name)
	return File{"ftrace_" + path.Base(name), source, guestFolder + name}, err
}

// mustRead returns the text of a file of package guest.
func mustRead(name string) string {
	source, err := guest.Files.ReadFile(name)
	if err != nil {
		panic(err) // it is in this program
	}
	return string(source)
}
