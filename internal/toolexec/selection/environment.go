package selection

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// Environment is what decides about the selection outside of the module files.
// The variables are those of the go command of the same names.
type Environment struct {
	Dir         string // the go command's working directory, see [GoDir]
	GOROOT      string
	GOMODCACHE  string
	GOPATH      string
	GOWORK      string
	GOFLAGS     string // only -modfile matters; one given on the command line may be appended
	GO111MODULE string
	GOMOD       string // the null device: there is no main module, whatever Dir has; the front end sets it
	Patterns    string // FTRACE_PACKAGES
}

// FromOS returns the Environment of this process, a child of the go command.
// A variable that is not set is looked up in the file that go env -w writes.
func FromOS(goroot string) Environment {
	file := goEnvFile()
	get := func(name string) string {
		if value := os.Getenv(name); value != "" {
			return value
		}
		return file[name]
	}
	env := Environment{
		Dir:         GoDir(),
		GOROOT:      goroot,
		GOMODCACHE:  get("GOMODCACHE"),
		GOPATH:      get("GOPATH"),
		GOWORK:      get("GOWORK"),
		GOFLAGS:     get("GOFLAGS"),
		GO111MODULE: get("GO111MODULE"),
		GOMOD:       os.Getenv("GOMOD"),
		Patterns:    os.Getenv("FTRACE_PACKAGES"),
	}
	if env.GOPATH == "" {
		if home, err := os.UserHomeDir(); err == nil {
			env.GOPATH = filepath.Join(home, "go")
		}
	}
	return env
}

// goEnvFile reads the go command's own settings. Most builds have none: the go
// command passes all but GOWORK on in the environment (see its MkEnv).
func goEnvFile() map[string]string {
	name := os.Getenv("GOENV")
	if name == "off" {
		return nil
	}
	if name == "" {
		dir, err := os.UserConfigDir()
		if err != nil {
			return nil
		}
		name = filepath.Join(dir, "go", "env")
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	settings := make(map[string]string)
	for line := range strings.Lines(string(data)) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if ok && !strings.HasPrefix(key, "#") {
			settings[key] = value
		}
	}
	return settings
}

// GoDir returns the working directory of the go command, whose child this
// process must be.
//
// The go command runs compile and every -V=full in its own directory, and the
// name that os.Getwd gives there (from $PWD, symbolic links and all) is the one
// it uses itself to name package directories. It runs asm, cgo and vet in the
// package's directory: these find the go command's with Linux's /proc, and
// elsewhere GoDir returns their own, which is wrong.
func GoDir() string {
	own, err := os.Getwd()
	if err != nil {
		own = ""
	}
	if runtime.GOOS != "linux" {
		return own
	}
	parent, err := os.Readlink("/proc/" + strconv.Itoa(os.Getppid()) + "/cwd")
	if err != nil || sameDir(own, parent) {
		return own
	}
	return parent
}

func sameDir(a, b string) bool {
	if a == b {
		return true
	}
	ai, err := os.Stat(a)
	if err != nil {
		return false
	}
	bi, err := os.Stat(b)
	return err == nil && os.SameFile(ai, bi)
}

// modFile returns the value of -modfile in GOFLAGS, "" if there is none.
func (env *Environment) modFile() string {
	file := ""
	for _, flag := range words.GoFlags(env.GOFLAGS) {
		flag, ok := strings.CutPrefix(flag, "-")
		if !ok {
			continue
		}
		if value, ok := strings.CutPrefix(strings.TrimPrefix(flag, "-"), "modfile="); ok {
			file = value
		}
	}
	return file
}

// moduleCaches returns the directories that hold only downloaded modules.
func (env *Environment) moduleCaches() []string {
	var dirs []string
	if env.GOMODCACHE != "" {
		dirs = append(dirs, cleanDir(env.GOMODCACHE))
	}
	for _, dir := range filepath.SplitList(env.GOPATH) {
		if dir != "" {
			dirs = append(dirs, cleanDir(filepath.Join(dir, "pkg", "mod")))
		}
	}
	return dirs
}
