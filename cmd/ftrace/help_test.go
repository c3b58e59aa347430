package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestHelpOfVerbs: each verb explains itself, in two ways the same, and tells no password.
func TestHelpOfVerbs(t *testing.T) {
	t.Setenv("FTRACE_PASSWORD", "open sesame")
	t.Setenv("FTRACE_READER_PASSWORD", "open sesame")
	for _, c := range commands().Commands {
		help, _ := runVerb(t, "help "+c.Name, "", "")
		same, _ := runVerb(t, c.Name+" -h", "", "")
		if c.Usage == "" || !strings.HasPrefix(help, "usage: ftrace "+c.Name) || help != same || strings.Contains(help, "open sesame") {
			t.Errorf("help %s: %s\n%s -h: %s", c.Name, help, c.Name, same)
		}
	}
}

// TestHelp runs the examples that the texts of the commands have that read recordings, as they are
// printed: none is used wrongly. Where the recording has nothing of what an example asks for, that
// is said.
func TestHelp(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the examples are for a shell")
	}
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, "ftrace")); err != nil { // by that name the test is ftrace
		t.Fatal(err)
	}
	for _, name := range []string{"ftrace.data", "ftrace.data.old", "old.data", "slow.data", "good.data", "good1.data", "good2.data", "good3.data", "bad.data"} {
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS("../../testdata/recordings/parser")); err != nil {
			t.Fatal(err)
		}
	}
	ran := 0
	for _, verb := range []string{"replay", "report", "graph", "show", "waits", "diff", "info", "export", "compact"} {
		help, err := exec.Command(filepath.Join(bin, "ftrace"), "help", verb).Output()
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(help)) {
			example, ok := strings.CutPrefix(strings.TrimSpace(line), "$ ")
			if !ok {
				continue
			}
			example, _, _ = strings.Cut(example, " | ") // programs that may not be there
			cmd := exec.Command("sh", "-c", example)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			out, err := cmd.CombinedOutput()
			ran++
			switch {
			case err == nil && (len(out) > 0 || verb == "export" || strings.Contains(example, "-from")):
			case cmd.ProcessState.ExitCode() == 1 && strings.Contains(string(out), "names no ") && strings.Contains(string(out), " of the recording"):
			case cmd.ProcessState.ExitCode() == 1 && strings.Contains(string(out), "no program of yours called server "):
			default:
				t.Errorf("%s: %v\n%s", example, err, out)
			}
		}
	}
	if ran < 15 {
		t.Errorf("%d examples", ran)
	}
}
