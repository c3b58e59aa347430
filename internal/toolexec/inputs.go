package toolexec

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/toolexec/store"
)

// compilerEnv are the environment variables that have a say in what the compiler makes.
var compilerEnv = []string{
	"GOROOT", "GOOS", "GOARCH", "GOEXPERIMENT", "GOFIPS140", "GO_EXTLINK_ENABLED",
	"GO386", "GOAMD64", "GOARM", "GOARM64", "GOMIPS", "GOMIPS64", "GOPPC64", "GORISCV64", "GOWASM",
}

// compilerDebugEnv are those by which the compiler is debugged. It prints or writes more then than
// the object.
var compilerDebugEnv = []string{"DEBUG_TRACE_INLHEUR", "GOCLOBBERDEADHASH", "GOCOMPILEDEBUG", "GOSSADIR", "GOSSAFUNC", "GSHS_LOGFILE"}

// inputs is a hash of all that a compile step reads. The names of the step's work directory and of
// the files that the go command made, which are different in each build, are not in it, their
// content is.
type inputs struct {
	hash hash.Hash
	work string // the work directory
	some bool   // only some of them: the rest is not known or can't be read
}

// inputsKey returns the hash of what a run of the compiler on files reads, and false if that is not
// known.
func (c *compileStep) inputsKey(files []string) (store.Key, bool) {
	for _, name := range compilerDebugEnv {
		if os.Getenv(name) != "" {
			return store.Key{}, false
		}
	}
	in := &inputs{hash: sha256.New(), work: filepath.Dir(absolute(c.output))}
	in.text("ftrace-wrap object", "1") // another number if what is stored, or what is hashed, becomes another
	in.compiler(c.tool)
	for _, name := range compilerEnv {
		in.text(name, os.Getenv(name))
	}
	in.flags(c.flags)
	for _, name := range files {
		in.source(name, c.shown(name))
	}
	return store.Key(in.hash.Sum(nil)), !in.some
}

// text adds texts, in such a way that others never give the same.
func (in *inputs) text(texts ...string) { fmt.Fprintf(in.hash, "%q\n", texts) }

// file adds the content of a file.
func (in *inputs) file(name string) {
	f, err := os.Open(name)
	if err != nil {
		in.some = true
		return
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	in.check(err)
	in.text(string(h.Sum(nil)))
}

// source adds a Go file, which the compiler records by the name shown. One that names the work
// directory, as copies of what cgo generates do in their //line directives, will not be the same
// again.
func (in *inputs) source(name, shown string) {
	data, err := os.ReadFile(name)
	if err != nil || !filepath.IsAbs(name) || bytes.Contains(data, []byte(in.work)) {
		in.some = true
		return
	}
	sum := sha256.Sum256(data)
	in.text("source", shown, string(sum[:]))
}

// check takes note of an error in reading an input.
func (in *inputs) check(err error) {
	if err != nil {
		in.some = true
	}
}

// compiler adds which compiler it is. Its file is not read: the release, and size and time of the
// file, tell it from others.
func (in *inputs) compiler(tool string) {
	in.file(filepath.Join(goroot(tool), "VERSION"))
	info, err := os.Stat(tool)
	if err != nil {
		in.some = true
		return
	}
	in.text(tool, fmt.Sprint(info.Size()), fmt.Sprint(info.ModTime().UnixNano()))
}

// flags adds the compiler's flags, and the files they name. Those that are for debugging the
// compiler are none that we know.
func (in *inputs) flags(flags []string) {
	hasImports := false
	for len(flags) > 0 {
		flag := flags[0]
		flags = flags[1:]
		name, value, joined := strings.Cut(flag, "=")
		switch name {
		case "-+", "-B", "-N", "-asan", "-complete", "-dwarf", "-dwarfbasentries", "-dwarflocationlists", "-dynlink", "-l", "-linkshared", "-msan",
			"-nolocalimports", "-pack", "-race", "-shared", "-smallframes", "-std": // without a value, or joined to it
			in.text(flag)
			continue
		}
		if !joined {
			if len(flags) == 0 {
				in.some = true
				return
			}
			value, flags = flags[0], flags[1:]
		}
		switch name {
		case "-c": // how many threads: the object is the same
			continue
		case "-o", "-buildid", "-asmhdr": // what comes out
			in.text(name)
		case "-D", "-gendwarfinl", "-goversion", "-installsuffix", "-lang", "-p", "-spectre":
			in.text(name, value)
		case "-trimpath":
			in.text(name, strings.ReplaceAll(value, in.work, "\x00"))
		case "-coveragecfg", "-pgoprofile", "-symabis":
			in.text(name)
			in.file(value)
		case "-embedcfg":
			in.text(name)
			in.embedded(value)
		case "-importcfg":
			in.text(name)
			in.imports(value)
			hasImports = true
		default:
			in.some = true
		}
	}
	if !hasImports { // they are searched for
		in.some = true
	}
}

// imports adds the content of the packages that the importcfg file name lists.
func (in *inputs) imports(name string) {
	f, err := os.Open(name)
	if err != nil {
		in.some = true
		return
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := lines.Text()
		if rest, ok := strings.CutPrefix(line, "packagefile "); ok {
			path, file, _ := strings.Cut(rest, "=")
			id, err := store.ContentID(file)
			in.check(err)
			line = "packagefile " + path + "=" + id
		}
		in.text(line)
	}
	in.check(lines.Err())
}

// embedded adds the content of the files that the embedcfg file name lists.
func (in *inputs) embedded(name string) {
	data, err := os.ReadFile(name)
	if err != nil {
		in.some = true
		return
	}
	var cfg struct {
		Patterns map[string][]string
		Files    map[string]string // name in the program to file
	}
	in.check(json.Unmarshal(data, &cfg))
	for _, pattern := range slices.Sorted(maps.Keys(cfg.Patterns)) {
		in.text(append([]string{"pattern", pattern}, cfg.Patterns[pattern]...)...)
	}
	for _, file := range slices.Sorted(maps.Keys(cfg.Files)) {
		in.text("file", file)
		in.file(cfg.Files[file])
	}
}
