package inject

import (
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// What the core has of Unix' numbers, structures and messages is what golang.org/x/sys/unix has of
// them, which was made from the systems' own headers.
func TestConstants(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}", "golang.org/x/sys/unix").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	dir := strings.TrimSpace(string(out))
	for _, target := range Targets {
		goos, goarch, _ := strings.Cut(target, "/")
		if goos == "windows" {
			continue
		}
		t.Run(target, func(t *testing.T) {
			system := unixPackage(t, dir, goos, goarch)
			own := corePackage(t, goos, goarch)
			checkConstants(t, own, system)
			for name, theirs := range map[string]string{"ftraceStatT": "Stat_t", "ftraceStatfsT": "Statfs_t", "ftraceFlockT": "Flock_t"} {
				if s := own.structure(name); s != nil {
					t.Run(name, func(t *testing.T) { checkStruct(t, s, system.structure(theirs), goarch) })
				} else if name == "ftraceStatT" || goos == "darwin" {
					t.Errorf("there is no %s", name)
				}
			}
			checkErrors(t, own, system)
		})
	}
}

// A checked is a package as far as it could be checked, and its files.
type checked struct {
	scope *types.Scope
	info  *types.Info
	files []*ast.File
}

// corePackage returns room os.
func corePackage(t *testing.T, goos, goarch string) *checked {
	files, err := runtimeFiles(Releases[len(Releases)-1], goos, goarch)
	if err != nil {
		t.Fatal(err)
	}
	sources := map[string][]byte{}
	for _, f := range files {
		if strings.HasPrefix(f.Name, "ftrace_os_") {
			sources[f.Name] = f.Source
		}
	}
	return check(t, sources)
}

// unixPackage returns what is generated of package unix.
func unixPackage(t *testing.T, dir, goos, goarch string) *checked {
	sources := map[string][]byte{}
	for _, suffix := range []string{goos, goos + "_" + goarch} {
		for _, kind := range []string{"zerrors", "ztypes", "zsysnum"} {
			name := kind + "_" + suffix + ".go"
			if text, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
				sources[name] = text
			}
		}
	}
	return check(t, sources)
}

// check checks files. What they refer to elsewhere is unknown.
func check(t *testing.T, sources map[string][]byte) *checked {
	t.Helper()
	set := token.NewFileSet()
	c := &checked{info: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}}
	for name, text := range sources {
		f, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		c.files = append(c.files, f)
	}
	config := types.Config{Error: func(error) {}, Importer: importer.ForCompiler(set, "source", nil)}
	p, _ := config.Check("checked", set, c.files, c.info)
	c.scope = p.Scope()
	return c
}

// value returns a constant's value.
func (c *checked) value(name string) (value int64, ok bool) {
	if named, is := c.scope.Lookup(name).(*types.Const); is {
		return constant.Int64Val(constant.ToInt(named.Val()))
	}
	return 0, false
}

// structure returns a type's structure, nil if there is none of that name.
func (c *checked) structure(name string) *types.Struct {
	if named := c.scope.Lookup(name); named != nil {
		return named.Type().Underlying().(*types.Struct)
	}
	return nil
}

// spelled are the names of constants that are not the core's in capitals.
var spelled = map[string]string{"WorkingDir": "AT_FDCWD", "ClockProcess": "CLOCK_PROCESS_CPUTIME_ID", "SysPwrite": "SYS_PWRITE64",
	"DupCloexec": "F_DUPFD_CLOEXEC", "MapAnonymous": "MAP_ANON", "MapNoReserve": "MAP_NORESERVE", "SetLock": "F_SETLK", "WriteLock": "F_WRLCK", "EventVnode": "EVFILT_VNODE",
	"NoteAttrib": "NOTE_ATTRIB", "LimitFileSize": "RLIMIT_FSIZE", "LimitNone": "RLIM_INFINITY"}

// checkConstants compares the ways to open a file, errors, and the numbers of system calls.
func checkConstants(t *testing.T, own, system *checked) {
	theirs := map[string]string{} // by the name without underscores
	for _, name := range system.scope.Names() {
		theirs[strings.ReplaceAll(name, "_", "")] = name
	}
	compared := 0
	for _, name := range own.scope.Names() {
		if _, is := own.scope.Lookup(name).(*types.Const); !is {
			continue
		}
		short := strings.TrimPrefix(name, "ftrace")
		wants := spelled[short]
		capitals := func(prefix string) bool {
			rest, ok := strings.CutPrefix(short, prefix)
			return ok && rest != "" && rest[0] >= 'A' && rest[0] <= 'Z'
		}
		switch {
		case wants != "":
		case capitals("O"), capitals("Sys"), capitals("E") && strings.ToUpper(short) == short:
			wants = theirs[strings.ToUpper(short)]
		default:
			continue
		}
		got, ok := own.value(name)
		if !ok {
			t.Errorf("%s has no value", name)
			continue
		}
		if short == "OPath" && got == 0 && wants == "" {
			continue // this system has none
		}
		want, ok := system.value(wants)
		if !ok || got != want {
			t.Errorf("%s is %#x, want %#x, which is %s", name, got, want, wants)
		}
		compared++
	}
	if compared < 14 {
		t.Errorf("%d constants were compared", compared)
	}
}

// checkStruct compares a structure. The core does not name all fields.
func checkStruct(t *testing.T, own, system *types.Struct, goarch string) {
	sizes := types.SizesFor("gc", goarch)
	read := func(s *types.Struct) (at map[string][2]int64, size int64) {
		var fields []*types.Var
		for field := range s.Fields() {
			fields = append(fields, field)
		}
		at = map[string][2]int64{}
		for i, offset := range sizes.Offsetsof(fields) {
			at[strings.ToLower(fields[i].Name())] = [2]int64{offset, sizes.Sizeof(fields[i].Type())}
		}
		delete(at, "_")
		return at, sizes.Sizeof(s)
	}
	got, size := read(own)
	want, wantSize := read(system)
	if size != wantSize || len(got) == 0 {
		t.Errorf("it has %d bytes and %d fields, want %d bytes", size, len(got), wantSize)
	}
	for name, at := range got {
		if at != want[name] {
			t.Errorf("%s is at and has %d bytes, want %d", name, at, want[name])
		}
	}
}

// checkErrors compares what errors mean.
func checkErrors(t *testing.T, own, system *checked) {
	want := errorTexts(t, system, "errorList", 2)
	for number, text := range errorTexts(t, own, "ftraceErrors", 1) {
		if number == 6 {
			continue // it is said for files
		}
		if got := strings.Replace(want[number], "disc", "disk", 1); got != text {
			t.Errorf("error %d is %q, want %q", number, text, got)
		}
	}
}

// errorTexts returns the errors in a table, whose rows have the text in a column.
func errorTexts(t *testing.T, c *checked, table string, column int) map[int64]string {
	texts := map[int64]string{}
	for _, f := range c.files {
		ast.Inspect(f, func(n ast.Node) bool {
			spec, is := n.(*ast.ValueSpec)
			if !is || spec.Names[0].Name != table {
				return true
			}
			for _, row := range spec.Values[0].(*ast.CompositeLit).Elts {
				cells := row.(*ast.CompositeLit).Elts
				number, ok := constant.Int64Val(constant.ToInt(c.info.Types[cells[0]].Value))
				text, err := strconv.Unquote(cells[column].(*ast.BasicLit).Value)
				if !ok || err != nil {
					t.Errorf("a row of %s can't be read: %v", table, err)
				}
				texts[number] = text
			}
			return false
		})
	}
	if len(texts) == 0 {
		t.Errorf("there is no table %s", table)
	}
	return texts
}
