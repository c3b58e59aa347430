package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/version"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/inject"
)

// A workspace is a folder with a module that imports all packages outside the standard library that
// the core changes, and with the copies of GOROOT.
type workspace struct {
	dir       string
	root      string // of the repository
	module    string
	tools     string                   // the toolchain that compiles tools: the newest, since none reads the sources of later releases
	originals map[string][]byte        // of files that are changed
	added     map[string]bool          // files
	planted   map[string][]inject.File // more files for packages, of a test
}

// newWorkspace makes the module, and vendors what it imports. The versions of the libraries are
// those that programs in examples are tested with.
func newWorkspace(ctx context.Context, dir string, toolchains, imports []string) (*workspace, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	root, err := output(ctx, "", nil, "go", "list", "-m", "-f", "{{.Dir}}")
	if err != nil {
		return nil, err
	}
	root = strings.TrimSpace(root)
	w := &workspace{dir: dir, root: root, module: filepath.Join(dir, "module"), originals: map[string][]byte{}, added: map[string]bool{}}
	if err := os.Mkdir(w.module, 0o777); err != nil {
		return nil, err
	}
	newest := "" // release
	for _, toolchain := range toolchains {
		release, err := output(ctx, "", []string{"GOTOOLCHAIN=" + toolchain}, "go", "env", "GOVERSION")
		if err != nil {
			return nil, err
		}
		if release = strings.TrimSpace(release); version.Compare(release, newest) > 0 {
			newest, w.tools = release, toolchain
		}
	}
	if version.Compare(newest, "go1.26") < 0 {
		w.tools = "auto" // staticcheck needs Go 1.26
	}
	if err := w.require(ctx, "examples/protocol", "examples/testdata/spans"); err != nil {
		return nil, err
	}
	source := "package main\n\nimport (\n"
	for _, importPath := range imports {
		importable, _, _ := strings.Cut(importPath, "/internal/")
		source += fmt.Sprintf("\t_ %q\n", importable)
	}
	source += ")\n\nfunc main() {}\n"
	if err := os.WriteFile(filepath.Join(w.module, "main.go"), []byte(source), 0o666); err != nil {
		return nil, err
	}
	for _, args := range [][]string{
		{"mod", "edit", "-replace=github.com/ftrace-wrap/ftrace-wrap=" + root},
		{"list", "-mod=mod", "-deps", "."}, // has go.mod say which versions the modules have together
		{"mod", "vendor"},
	} {
		if _, err := output(ctx, w.module, nil, "go", args...); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// require has the module require what all of these modules of the repository do.
func (w *workspace) require(ctx context.Context, modules ...string) error {
	var sums []byte
	for i, dir := range modules {
		dir = filepath.Join(w.root, dir)
		text, err := os.ReadFile(filepath.Join(dir, "go.sum"))
		if err != nil {
			return err
		}
		sums = append(sums, text...)
		if i == 0 {
			if err := copyFile(filepath.Join(w.module, "go.mod"), filepath.Join(dir, "go.mod")); err != nil {
				return err
			}
			continue
		}
		listed, err := output(ctx, dir, nil, "go", "list", "-m", "-f", "{{if not .Main}}-require={{.Path}}@{{.Version}}{{end}}", "all")
		if err != nil {
			return err
		}
		if _, err := output(ctx, w.module, nil, "go", append([]string{"mod", "edit"}, strings.Fields(listed)...)...); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(w.module, "go.sum"), sums, 0o666)
}

// A checkedPackage is what "go list" tells of a package.
type checkedPackage struct {
	ImportPath, Dir, Name string
	Standard              bool
	GoFiles, SFiles       []string
}

// check vets packages for a target with a toolchain, staticchecks those of static, and adds what is
// found.
func (w *workspace) check(ctx context.Context, toolchain, target string, packages, static []string, all *findings) error {
	started := time.Now()
	answer, err := output(ctx, w.module, []string{"GOTOOLCHAIN=" + toolchain}, "go", "env", "GOROOT", "GOVERSION")
	if err != nil {
		return err
	}
	goroot, release, _ := strings.Cut(strings.TrimSpace(answer), "\n")
	goos, goarch, ok := strings.Cut(target, "/")
	if !ok {
		return fmt.Errorf("want GOOS/GOARCH, such as linux/amd64")
	}
	copied := filepath.Join(w.dir, strings.Join([]string{release, goos, goarch}, "-"))
	std, _ := inject.Packages()
	if err := linkTree(goroot, copied, std); err != nil {
		return err
	}
	env := []string{
		"GOROOT=" + copied, "GOTOOLCHAIN=local", "PATH=" + filepath.Join(copied, "bin") + string(os.PathListSeparator) + os.Getenv("PATH"),
		"GOOS=" + goos, "GOARCH=" + goarch, "CGO_ENABLED=0", "GOFLAGS=-tags=ftrace_core", "GOWORK=off",
	}
	files, err := w.patch(ctx, env, release, goos, goarch)
	if err != nil {
		return err
	}
	run := all.run(release+" "+target, w.module, files)
	crossvet, err := w.tool(ctx, "crossvet", w.root, "./scripts/crossvet")
	if err != nil {
		return err
	}
	// Package runtime does what vet calls a possible misuse of unsafe.Pointer all over.
	args := []string{"-tests=false", "-without", "unsafeptr"}
	for _, p := range packages {
		args = append(args, "-p", p)
	}
	vetted, err := output(ctx, w.module, env, crossvet, append(args, target)...)
	run.add(vetted, err)
	if len(static) > 0 {
		staticcheck, err := w.tool(ctx, "staticcheck", w.dir, "honnef.co/go/tools/cmd/staticcheck@"+staticcheckVersion)
		if err != nil {
			return err
		}
		checked, err := output(ctx, w.module, env, staticcheck, append([]string{"-tests=false"}, static...)...)
		run.static = true
		if len(static) < len(packages) {
			run.within = copied
		}
		run.add(checked, err)
	}
	fmt.Fprintf(os.Stderr, "%s %s: %d files in %d packages, %s\n", release, target, len(files), len(packages), time.Since(started).Round(time.Second))
	return ctx.Err()
}

// patch writes what the core makes of all packages to their folders, and returns the files and
// lines that are ours.
func (w *workspace) patch(ctx context.Context, env []string, release, goos, goarch string) (map[string]ours, error) {
	std, others := inject.Packages()
	args := append([]string{"list", "-json=ImportPath,Dir,Name,Standard,GoFiles,SFiles"}, append(std, others...)...)
	listed, err := output(ctx, w.module, env, "go", args...)
	if err != nil {
		return nil, err
	}
	changed := map[string]ours{}
	for d := json.NewDecoder(strings.NewReader(listed)); ; {
		var p checkedPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return changed, nil
		} else if err != nil {
			return nil, err
		}
		if err := w.patchPackage(p, release, goos, goarch, changed); err != nil {
			return nil, err
		}
	}
}

// patchPackage writes what the core makes of one package.
func (w *workspace) patchPackage(p checkedPackage, release, goos, goarch string, changed map[string]ours) error {
	var files []inject.File
	for _, name := range p.GoFiles {
		name = filepath.Join(p.Dir, name)
		if w.added[name] {
			continue // for another target
		}
		source, ok := w.originals[name]
		if !ok {
			var err error
			if source, err = os.ReadFile(name); err != nil {
				return err
			}
		}
		files = append(files, inject.File{Name: name, Source: source})
	}
	texts, added, err := inject.Patch(p.ImportPath, release, goos, goarch, files)
	if err != nil {
		return err
	}
	var spliced strings.Builder
	for i, text := range texts {
		name, original := files[i].Name, files[i].Source
		w.originals[name] = original
		changed[name] = oursIn(original, text)
		for n, line := range slices.Collect(bytes.Lines(text)) {
			if changed[name].has(n + 1) {
				spliced.Write(line)
			}
		}
		if err := replaceFile(name, text); err != nil {
			return err
		}
	}
	for _, file := range p.SFiles {
		text := inject.Assembly(file)
		if p.ImportPath != "runtime" || text == "" {
			continue
		}
		name := filepath.Join(p.Dir, file)
		original, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		patched := append(bytes.Clone(original), text...)
		changed[name] = oursIn(original, patched)
		if err := replaceFile(name, patched); err != nil {
			return err
		}
	}
	added = append(added, w.planted[p.ImportPath]...)
	used, err := roots(p.Name, added, spliced.String())
	if err != nil {
		return err
	}
	for _, f := range append(added, used) {
		name := filepath.Join(p.Dir, f.Name)
		w.added[name] = true
		changed[name] = ours{all: true, name: sourceOf(p, f)}
		if err := replaceFile(name, f.Source); err != nil {
			return err
		}
	}
	return nil
}

// sourceOf returns the path of the guest's file that f was made of, or f's own.
func sourceOf(p checkedPackage, f inject.File) string {
	if f.Origin != "" {
		return f.Origin
	}
	return p.ImportPath + "/" + f.Name
}

// tool returns the path of a tool, installed from dir.
func (w *workspace) tool(ctx context.Context, command, dir, path string) (string, error) {
	bin := filepath.Join(w.dir, "bin")
	name := filepath.Join(bin, command)
	if _, err := os.Stat(name); err == nil {
		return name, nil
	}
	_, err := output(ctx, dir, []string{"GOTOOLCHAIN=" + w.tools, "GOBIN=" + bin}, "go", "install", path)
	return name, err
}

// linkTree makes dst a copy of src, made of symbolic links, where the folders of packages are real:
// files can be added to them, and replaced.
func linkTree(src, dst string, packages []string) error {
	if err := os.MkdirAll(dst, 0o777); err != nil {
		return err
	}
	folders := map[string]bool{".": true}
	for _, p := range packages {
		for dir := filepath.Join("src", filepath.FromSlash(p)); dir != "."; dir = filepath.Dir(dir) {
			folders[dir] = true
		}
	}
	for dir := range folders {
		entries, err := os.ReadDir(filepath.Join(src, dir))
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Join(dst, dir), 0o777); err != nil {
			return err
		}
		for _, e := range entries {
			name := filepath.Join(dir, e.Name())
			if folders[name] {
				continue
			}
			if err := os.Symlink(filepath.Join(src, name), filepath.Join(dst, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// replaceFile writes a file in the place of the link or file of that name. What a link points to
// stays as it is.
func replaceFile(name string, text []byte) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.WriteFile(name, text, 0o666)
}

func copyFile(dst, src string) error {
	text, err := os.ReadFile(src)
	if err != nil {
		return err
	}
	return os.WriteFile(dst, text, 0o666)
}

// output runs a command in dir, and returns what it writes to standard output, and to standard
// error as well where it fails.
func output(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	if i := slices.IndexFunc(env, func(e string) bool { return strings.HasPrefix(e, "GOROOT=") }); i >= 0 && name == "go" {
		cmd.Path = filepath.Join(strings.TrimPrefix(env[i], "GOROOT="), "bin", "go")
		cmd.Err = nil
	}
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String() + stderr.String(), &commandError{strings.Join(append([]string{name}, args...), " "), stdout.String() + stderr.String(), err}
	}
	return stdout.String(), nil
}

// A commandError is that of a command that failed, with what it wrote.
type commandError struct {
	command, output string
	err             error
}

func (e *commandError) Error() string { return fmt.Sprintf("%s: %v\n%s", e.command, e.err, e.output) }
func (e *commandError) Unwrap() error { return e.err }
