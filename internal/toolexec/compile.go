package toolexec

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/inject"
	"github.com/ftrace-wrap/ftrace-wrap/internal/toolexec/selection"
	"github.com/ftrace-wrap/ftrace-wrap/internal/toolexec/store"
	"github.com/ftrace-wrap/ftrace-wrap/rewrite"
)

// compile runs the compiler for one package, on rewritten copies of its files if the package is to
// be instrumented, or is one that takes in the core.
func compile(tool string, args []string) (status int, err error) {
	c, err := parseCompile(tool, args)
	if err != nil {
		return 0, err
	}
	if len(c.files) == 0 {
		return Exec(tool, args)
	}
	replaced, err := c.replace()
	switch {
	case errors.Is(err, rewrite.ErrSyntax):
		return c.unread(err)
	case err != nil:
		return 0, err
	}
	objects, err := OpenStore()
	if err != nil {
		return 0, err
	}
	return c.run(replaced, objects)
}

// unread compiles a package that does not parse. The compiler words best what is wrong, unless it
// is of a later Go release than this program, and nothing is wrong.
func (c *compileStep) unread(err error) (status int, _ error) {
	if status, err := runTool(c.tool, c.args); status != 0 || err != nil {
		return status, err
	}
	fmt.Fprintf(os.Stderr, "ftrace-wrap: package %s has no hooks: %s. This ftrace-wrap was built by %s; build it by the Go release that you use.\n",
		c.importPath, strings.TrimPrefix(err.Error(), rewrite.ErrSyntax.Error()+": "), runtime.Version())
	return 0, nil
}

// compileStep is one run of the compiler.
type compileStep struct {
	tool       string
	args       []string // all of them
	flags      []string // without the files
	files      []string
	variant    string // the package as the go command names it: import path, and for what is compiled for a test " [x.test]"
	importPath string // the import path alone
	symbol     string // -p
	inlining   bool   // no -l or -N: functions are inlined
	output     string // -o
	asmHeader  string // -asmhdr
	buildID    string // -buildid
	trimpath   string // -trimpath
	profile    string // -pgoprofile
	std        bool   // -std

	instrumented bool // its files were given hooks
}

// parseCompile reads the compiler's arguments.
func parseCompile(tool string, args []string) (*compileStep, error) {
	expanded, err := expandResponseFiles(args)
	if err != nil {
		return nil, err
	}
	c := &compileStep{tool: tool, args: args, inlining: true}
	n := len(expanded)
	for n > 0 && strings.HasSuffix(expanded[n-1], ".go") && !strings.HasPrefix(expanded[n-1], "-") {
		n--
	}
	c.flags, c.files = expanded[:n], expanded[n:]
	if n > 0 && expanded[n-1] == "--" { // it ends the flags, and more may follow
		c.flags = expanded[:n-1]
	}
	for i, arg := range c.flags {
		name, value, ok := strings.Cut(arg, "=")
		if !ok && i+1 < len(c.flags) {
			value = c.flags[i+1]
		}
		switch name {
		case "-p":
			c.symbol = value
		case "-o":
			c.output = value
		case "-asmhdr":
			c.asmHeader = value
		case "-buildid":
			c.buildID = value
		case "-trimpath":
			c.trimpath = value
		case "-pgoprofile":
			c.profile = value
		case "-l", "-N":
			c.inlining = false
		case "-std":
			c.std = true
		}
	}
	c.variant = os.Getenv("TOOLEXEC_IMPORTPATH")
	if c.variant == "" {
		c.variant = c.symbol
	}
	c.importPath, _, _ = strings.Cut(c.variant, " ")
	return c, nil
}

// replace returns the files to compile in place of the package's, or nil if they are to stay. What
// the core changes in a package is changed first, then what came out is instrumented; files that
// the core adds are not.
func (c *compileStep) replace() ([]string, error) {
	patched := inject.Patched(c.importPath, c.std)
	selected, settings, err := c.selected()
	if err != nil || !patched && !selected {
		return nil, err
	}
	files, err := c.read()
	if err != nil {
		return nil, err
	}
	out, err := c.newOutput()
	if err != nil {
		return nil, err
	}
	var added []inject.File
	if patched {
		if added, err = c.patch(out, files); err != nil {
			return nil, err
		}
	}
	if selected {
		if c.instrumented, err = c.rewrite(out, files, settings); err != nil {
			return nil, err
		}
	}
	if !patched && !c.instrumented {
		return nil, out.err
	}
	for _, f := range added {
		out.files = append(out.files, out.write(f.Name, f.Source))
	}
	if c.importPath == "runtime" && c.inlining {
		users, err := c.readProfile()
		if err != nil {
			return nil, err
		}
		c.hint(rewrite.Profile(inject.Profile(added), users), out)
	}
	return out.files, out.err
}

// read returns the package's files.
func (c *compileStep) read() ([]inject.File, error) {
	files := make([]inject.File, len(c.files))
	for i, name := range c.files {
		source, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files[i] = inject.File{Name: absolute(name), Source: source}
	}
	return files, nil
}

// selected reports whether the package is to be instrumented, and with which settings.
func (c *compileStep) selected() (bool, *Settings, error) {
	if inject.Own(c.importPath) || inject.Refused(c.importPath) != "" || strings.ContainsAny(c.files[0], "\r\n") { // no //line directive can name such a file
		return false, nil, nil
	}
	s, err := ReadSettings(c.tool)
	if err != nil {
		return false, nil, err
	}
	if !s.Selection.Contains(selection.Package{ImportPath: c.variant, Dir: c.dir(), Std: c.std}) {
		return false, nil, nil
	}
	if !c.std {
		return true, s, nil
	}
	below, err := selection.RuntimeDeps(s.Goroot)
	return !below[c.importPath], s, err
}

// dir returns the directory of the package's sources. Generated files, such as cgo's, are in the
// work directory.
func (c *compileStep) dir() string {
	work := filepath.Dir(absolute(c.output))
	for _, f := range c.files {
		if dir := filepath.Dir(absolute(f)); dir != work {
			return dir
		}
	}
	return c.lineDir(work)
}

// lineDir returns the directory of the sources of a package all of whose files were generated in
// the work directory, by cgo or cover: their //line directives tell.
func (c *compileStep) lineDir(work string) string {
	for _, f := range c.files {
		source, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		for line := range bytes.Lines(source) {
			rest, ok := bytes.CutPrefix(line, []byte("//line "))
			if !ok {
				continue
			}
			name, _, _ := strings.Cut(string(rest), ".go:")
			if filepath.IsAbs(name) {
				return filepath.Dir(name)
			}
		}
	}
	return work
}

// patch changes the package's files as the core needs them, and returns what it adds.
func (c *compileStep) patch(out *output, files []inject.File) ([]inject.File, error) {
	release, err := c.release()
	if err != nil {
		return nil, err
	}
	changed, added, err := inject.Patch(c.importPath, release, os.Getenv("GOOS"), os.Getenv("GOARCH"), files)
	if err != nil {
		return nil, err
	}
	for i, source := range changed {
		out.files[i] = out.write(filepath.Base(files[i].Name), append(fmt.Appendf(nil, "//line %s:1\n", files[i].Name), source...))
		files[i].Source = source
	}
	return added, nil
}

// release returns the Go release that the compiler is of. It asks the compiler: not all that set
// GOROOT put a file VERSION there.
func (c *compileStep) release() (string, error) {
	out, err := exec.Command(c.tool, "-V=full").Output()
	if err != nil {
		return "", fmt.Errorf("%s -V=full: %v", c.tool, err)
	}
	return releaseIn(strings.TrimPrefix(string(out), "compile version ")), nil
}

// rewrite instruments the package, and reports whether it has hooks then.
func (c *compileStep) rewrite(out *output, sources []inject.File, s *Settings) (bool, error) {
	var files []rewrite.File
	var at []int // place of each in c.files
	for i, f := range sources {
		switch filepath.Base(f.Name) {
		case "_cgo_gotypes.go", "_cgo_import.go":
			continue
		}
		files = append(files, rewrite.File{Name: f.Name, Source: f.Source})
		at = append(at, i)
	}
	users, err := c.readProfile()
	if err != nil {
		return false, err
	}
	opt := rewrite.Options{Profile: users, ImportPath: c.importPath, Symbol: c.symbol, KeepInlinable: s.Keep, Variables: slices.Contains(s.Variables, c.importPath), Shown: c.shown, Unhooked: inject.Unhooked(c.importPath)}
	result, err := rewrite.Package(opt, files)
	if err != nil || result.Register == nil {
		return false, err
	}
	for i, source := range result.Files {
		if source != nil {
			out.files[at[i]] = out.write(fmt.Sprintf("%d_%s", i, filepath.Base(files[i].Name)), source)
		}
	}
	if c.inlining {
		c.hint(result.Profile, out, rewrite.InlineFlag)
	}
	out.files = append([]string{out.write("register.go", result.Register)}, out.files...)
	return true, nil
}

// hint gives the compiler a profile, unless that is nil, and flags.
func (c *compileStep) hint(profile []byte, out *output, flags ...string) {
	if profile != nil {
		c.flags = append(c.flags[:len(c.flags):len(c.flags)], append(flags, "-pgoprofile="+out.write("profile", profile))...)
	}
}

// readProfile returns the user's profile, nil if there is none.
func (c *compileStep) readProfile() ([]byte, error) {
	if c.profile == "" {
		return nil, nil
	}
	return os.ReadFile(c.profile)
}

// shown returns a file's name as the compiler records it: -trimpath has prefixes and what takes
// their place.
func (c *compileStep) shown(name string) string {
	for _, rule := range strings.Split(c.trimpath, ";") {
		prefix, replacement, _ := strings.Cut(rule, "=>")
		rest, ok := strings.CutPrefix(name, prefix)
		if prefix == "" || !ok || rest != "" && rest[0] != '/' && rest[0] != filepath.Separator {
			continue
		}
		if replacement == "" {
			return strings.TrimLeft(rest, `/\`)
		}
		return replacement + rest
	}
	return name
}

// output collects the files of a rewritten package.
type output struct {
	dir   string
	files []string
	err   error
}

// newOutput makes a folder for rewritten files beside the compiler's output, in the step's own work
// directory.
func (c *compileStep) newOutput() (*output, error) {
	dir := filepath.Join(filepath.Dir(c.output), "ftrace-wrap")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	return &output{dir: dir, files: append([]string(nil), c.files...)}, nil
}

func (o *output) write(name string, source []byte) string {
	path := filepath.Join(o.dir, name)
	if err := os.WriteFile(path, source, 0o666); err != nil && o.err == nil {
		o.err = err
	}
	return path
}

// run compiles the package, replaced in place of its files unless nil, or takes what comes out from
// the store. If replaced does not compile the package itself is compiled, so that errors in it are
// reported as always; if there are none the fault is ours.
func (c *compileStep) run(replaced []string, objects *store.Store) (status int, err error) {
	args, files := c.args, c.files
	if replaced != nil {
		args, files = append(c.flags[:len(c.flags):len(c.flags)], replaced...), replaced
	}
	stored := c.lookUp(objects, files)
	switch {
	case stored.restore():
		return 0, nil
	case stored == nil && replaced == nil:
		return Exec(c.tool, args)
	}
	// Several go commands that run at once come to the same packages at the same time: one compiles
	// each of them.
	defer stored.lock()()
	if stored.restore() {
		return 0, nil
	}
	var out, complaints bytes.Buffer // the compiler's, passed on as they are
	cmd := exec.Command(c.tool, args...)
	cmd.Stdout, cmd.Stderr = &out, &complaints
	err = cmd.Run()
	switch {
	case err == nil && out.Len() == 0 && complaints.Len() == 0:
		stored.save()
	case err != nil && c.instrumented:
		if status, err := runTool(c.tool, c.args); status != 0 || err != nil {
			return status, err
		}
		out.WriteString("ftrace-wrap: the instrumented form of package " + c.importPath + " does not compile, the package itself does; this is a fault of ftrace-wrap. FTRACE_PACKAGES='!" +
			c.importPath + "' leaves the package alone.\n")
	}
	os.Stdout.Write(out.Bytes())
	os.Stderr.Write(complaints.Bytes())
	return ExitStatus(err)
}

// absolute returns path made absolute; the compiler does the same to names of files.
func absolute(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	return abs
}

// expandResponseFiles replaces each "@file" by the arguments in the file, one a line, in which a
// backslash quotes.
func expandResponseFiles(args []string) ([]string, error) {
	var out []string
	for _, arg := range args {
		name, ok := strings.CutPrefix(arg, "@")
		if !ok {
			out = append(out, arg)
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			line = strings.TrimRight(line, "\r\n")
			out = append(out, strings.NewReplacer(`\\`, `\`, `\n`, "\n").Replace(line))
		}
	}
	return out, nil
}
