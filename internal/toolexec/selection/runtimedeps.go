package selection

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// runtimeSupport are the packages of race, msan, asan and cgo builds that call into
// runtime from C, or run where no goroutine is. What they import in turn is
// ordinary: runtime/cgo's handles use sync.
var runtimeSupport = []string{"runtime/cgo", "runtime/race", "runtime/msan", "runtime/asan"}

// RuntimeDeps returns the import paths of the packages that can never be
// instrumented, because the tracer is part of runtime: runtime itself, all that it
// imports directly or not, and the packages that stand in for C code.
//
// It takes the imports of all platforms: a package that only another one needs
// is as low-level, and the answer doesn't depend on GOOS, GOARCH or tags. It
// parses 600 files (12 ms), so ask only about packages that are selected and of
// the standard library.
func RuntimeDeps(goroot string) (map[string]bool, error) {
	deps := map[string]bool{"unsafe": true}
	src := filepath.Join(goroot, "src")
	queue := []string{"runtime"}
	deps["runtime"] = true
	for len(queue) > 0 {
		imports, err := packageImports(filepath.Join(src, queue[0]))
		if err != nil {
			return nil, err
		}
		queue = queue[1:]
		for path := range imports {
			if !deps[path] && path != "C" {
				deps[path] = true
				queue = append(queue, path)
			}
		}
	}
	for _, path := range runtimeSupport {
		deps[path] = true
	}
	return deps, nil
}

// packageImports returns what the non-test files of a package import.
func packageImports(dir string) (map[string]bool, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	imports := make(map[string]bool)
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, parser.ImportsOnly)
		if err != nil {
			return nil, err
		}
		if file.Name.Name == "main" {
			continue // a generator
		}
		for _, spec := range file.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return nil, err
			}
			imports[path] = true
		}
	}
	return imports, nil
}
