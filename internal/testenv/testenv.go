// Package testenv has what tests of several packages share: the commands of this module, built once
// in the same way for all of them, and what is tested only where everything is.
package testenv

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// All reports whether all tests are to run. Without ALL_TESTS=1 in the environment go test ./...
// takes a few minutes, and what takes longer is skipped; .ci/run sets it.
func All() bool { return os.Getenv("ALL_TESTS") != "" }

// Race reports whether scripts are to build with the race detector too, which compiles the standard
// library anew. ALL_TESTS=norace runs all tests but for that.
func Race() bool { return All() && os.Getenv("ALL_TESTS") != "norace" }

// NeedAll skips the test unless all tests are to run.
func NeedAll(t testing.TB) {
	t.Helper()
	if !All() {
		t.Skip("takes long: ALL_TESTS=1 runs it")
	}
}

// Target returns settings of the go command, as NAME=VALUE, that let scripts build for the system
// that TEST_GOOS names, and the processor that TEST_GOARCH names, with cgo if TEST_CC names a C
// compiler for it. Without these there are none. See [NeedTarget] for what runs such programs.
func Target() []string {
	goos, arch := os.Getenv("TEST_GOOS"), os.Getenv("TEST_GOARCH")
	if goos == "" && arch == "" {
		return nil
	}
	settings := []string{"CGO_ENABLED=0"}
	if cc := os.Getenv("TEST_CC"); cc != "" {
		settings = []string{"CGO_ENABLED=1", "CC=" + cc}
	}
	if arch != "" {
		settings = append(settings, "GOARCH="+arch)
	}
	if goos != "" {
		settings = append(settings, "GOOS="+goos)
	}
	switch goos {
	case "windows":
		settings = append(settings, wine()...)
	case "darwin":
		settings = append(settings, "GOARCH=amd64") // for scripts/macos
	}
	return settings
}

// ForLinux reports whether scripts build for Linux.
func ForLinux() bool { return runtime.GOOS == "linux" && !ForWindows() && !ForMacOS() }

// ForWindows reports whether scripts build for Windows.
func ForWindows() bool { return os.Getenv("TEST_GOOS") == "windows" || runtime.GOOS == "windows" }

// ForMacOS reports whether scripts build for macOS.
func ForMacOS() bool { return os.Getenv("TEST_GOOS") == "darwin" || runtime.GOOS == "darwin" }

// NeedTarget returns if this system runs programs for the target. If not it skips the test; with CI
// in the environment it fails. After scripts/emulate Linux runs programs for arm64, after
// scripts/wine those for Windows, after scripts/macos those for macOS. Until the test ends one for
// Windows waits for input: the services that wine begins for the first one take ten times as long
// as a program that finds them.
func NeedTarget(t testing.TB) {
	t.Helper()
	goos := os.Getenv("TEST_GOOS")
	if goos == runtime.GOOS {
		return
	}
	switch goos {
	case "darwin":
		needInterpreter(t, "macos", true, "macOS: scripts/macos has it do so")
		return
	case "windows":
		needInterpreter(t, "wine", os.Getenv("WINEPREFIX") != "", "Windows: WINEPREFIX=DIRECTORY scripts/wine has it do so")
	default:
		return
	}
	first := exec.Command(filepath.Join(os.Getenv("WINEPREFIX"), "drive_c/windows/system32/cmd.exe"))
	first.Env = append(os.Environ(), wine()...)
	input, err := first.StdinPipe()
	if err == nil {
		err = first.Start()
	}
	if err != nil {
		t.Fatalf("a program for Windows: %v", err)
	}
	t.Cleanup(func() {
		input.Close()
		first.Wait()
	})
}

// needInterpreter is for programs that Linux runs by an interpreter with this name, if that is set
// up.
func needInterpreter(t testing.TB, name string, set bool, lacks string) {
	t.Helper()
	if _, err := os.Stat("/proc/sys/fs/binfmt_misc/" + name); err == nil && set {
		return
	}
	lacks = "this system does not run programs for " + lacks
	if os.Getenv("CI") != "" {
		t.Fatal(lacks)
	}
	t.Skip(lacks)
}

// wine returns wine's settings. It looks for its server in TMPDIR, which is to be the same for all.
func wine() []string {
	return []string{"WINEPREFIX=" + os.Getenv("WINEPREFIX"), "WINEDEBUG=-all", "LC_ALL=C.UTF-8", "TMPDIR=" + os.TempDir()}
}

// Need returns if the programs are there. If not it skips the test; with CI in the environment it
// fails.
func Need(t testing.TB, programs ...string) {
	t.Helper()
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatalf("%v: .ci/run installs it", err)
			}
			t.Skipf("%v: it comes with apt-get install %s", err, debian[name])
		}
	}
}

// Programs fails the test, where CI is in the environment and the system is Linux, for each program
// without which a script in a directory leaves something out.
func Programs(t testing.TB, scripts string) {
	t.Helper()
	if os.Getenv("CI") == "" || runtime.GOOS != "linux" {
		t.Skip("scripts are skipped without them")
	}
	files, err := filepath.Glob(filepath.Join(scripts, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d scripts, %v", scripts, len(files), err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range condition.FindAllSubmatch(source, -1) {
			name := string(m[1])
			if name == "dlv-works" { // the script makes it
				continue
			}
			if _, err := exec.LookPath(name); err != nil {
				t.Errorf("%s: %v: .ci/run installs it", filepath.Base(file), err)
			}
		}
	}
}

var condition = regexp.MustCompile(`(?m)^\[!?exec:([^]]+)\]`)

// debian has the packages of programs.
var debian = map[string]string{
	"mariadb": "mariadb-client", "mariadbd": "mariadb-server-core", "mariadb-install-db": "mariadb-server-core",
	"bash": "bash", "zsh": "zsh", "fish": "fish", "tmux": "tmux",
	"chromium": "chromium", "prometheus-mysqld-exporter": "prometheus-mysqld-exporter", "redis-server": "redis-server", "openssl": "openssl",
	"groff": "groff-base",
}

// Build builds commands of this module, ftrace-wrap or ftrace, and returns the directory with them.
// All tests build the same files: the hash of ftrace-wrap is in the keys of what is compiled with
// it, so what one test has compiled the others find. So no test binary is ftrace-wrap itself.
func Build(t testing.TB, commands ...string) (dir string) {
	t.Helper()
	root := Root(t)
	watch(t, root)
	dir = t.TempDir()
	for _, name := range commands {
		// Without the stamp of version control a commit does not make another ftrace-wrap.
		cmd := exec.Command("go", "build", "-buildvcs=false", "-o", filepath.Join(dir, name+Exe()), "./cmd/"+name)
		cmd.Dir, cmd.Env = root, append(Environ(), "GOFLAGS=")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("building %s: %v\n%s", name, err, out)
		}
	}
	return dir
}

// Toolexec returns the flag that has the go command use the ftrace-wrap that Build has put into
// dir, whatever its name.
func Toolexec(t testing.TB, dir string) string {
	t.Helper()
	flag, err := words.Toolexec(filepath.Join(dir, "ftrace-wrap"+Exe()))
	if err != nil {
		t.Fatalf("%v: set TMPDIR to another directory", err)
	}
	return flag
}

// Root returns the root of this module, in which or below which tests run.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if text, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil && strings.HasPrefix(string(text), "module "+module+"\n") {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatalf("the test does not run in module %s", module)
		}
		dir = parent
	}
}

const module = "github.com/ftrace-wrap/ftrace-wrap"

// watch opens the directories of the sources. The go command remembers which files a test opens,
// but not what go build reads for it: it would take the result of an older ftrace-wrap for that of
// the present one.
func watch(t testing.TB, root string) {
	t.Helper()
	err := filepath.WalkDir(root, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		switch name := d.Name(); {
		case name == "testdata", name == "bench", name == "docs", name == "examples", strings.HasPrefix(name, "."):
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Environ is the environment without settings of ftrace-wrap.
func Environ() []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "FTRACE") {
			env = append(env, v)
		}
	}
	return env
}

// Exe ends the names of programs.
func Exe() string {
	if runtime.GOOS == "windows" {
		return ".exe"
	}
	return ""
}
