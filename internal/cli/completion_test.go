package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
)

// TestCompletion types the beginnings of commands into shells on a terminal, with a tab at the end,
// and looks at what they make of them.
func TestCompletion(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the commands")
	}
	testenv.Need(t, "tmux")
	bin, dir := testenv.Build(t, "ftrace", "ftrace-wrap"), t.TempDir()
	for _, name := range []string{"recorded.data", "fun.d"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for shell, start := range map[string]string{
		"bash": "bash --noprofile --rcfile rc.bash -i",
		"zsh":  "ZDOTDIR=$PWD zsh -i",
		"fish": "fish --no-config --init-command 'source rc.fish'",
	} {
		t.Run(shell, func(t *testing.T) {
			testenv.Need(t, shell)
			rc, text := "rc."+shell, "for program in ftrace ftrace-wrap; do source <($program completion bash); done\n"
			switch shell {
			case "zsh":
				rc, text = ".zshrc", "autoload -U compinit; compinit -u\n"+strings.Replace(text, "bash", "zsh", 1)
			case "fish":
				text = "set -g fish_autosuggestion_enabled 0\nfor program in ftrace ftrace-wrap; $program completion fish | source; end\n"
			}
			if err := os.WriteFile(filepath.Join(dir, rc), []byte(text+"clear; echo it is ready\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			socket := filepath.Join(dir, shell+".socket")
			tmux := func(args ...string) string {
				t.Helper()
				cmd := exec.Command("tmux", append([]string{"-S", socket, "-f", os.DevNull}, args...)...)
				cmd.Dir = dir
				cmd.Env = append(testenv.Environ(), "HOME="+dir, "TERM=xterm", "LC_ALL=C.UTF-8", "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("tmux %q: %v\n%s", args, err, out)
				}
				return string(out)
			}
			await := func(want string) {
				t.Helper()
				for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
					shown := tmux("capture-pane", "-p")
					if strings.Contains(shown, want) {
						return
					}
					if time.Now().After(deadline) {
						t.Fatalf("%q is not shown, but\n%s", want, shown)
					}
				}
			}
			tmux("new-session", "-d", "-x", "120", "-y", "40", start)
			defer tmux("kill-server")
			await("it is ready")
			for _, c := range []struct{ typed, want string }{
				{"ftrace repl", "ftrace replay"},
				{"ftrace replay -pa", "replay -pager"},
				{"ftrace report -by pack", "-by package"},
				{"ftrace replay -f main.* rec", "replay -f main.* recorded.data/"},
				{"ftrace -qn 'BEGIN { $(touch run) }' -js", "' -json"},
				{"ftrace replay -f $(touch run) -child", "-children"},
				{"ftrace ./fu", "ftrace ./fun.d/"},
				{"ftrace-wrap swe", "ftrace-wrap sweep"},
				{"ftrace-wrap sweep -repo", "sweep -report"},
				{"ftrace-wrap show ./fu", "show ./fun.d/"},
				{"ftrace-wrap completion fi", "completion fish"},
			} {
				tmux("send-keys", "C-u")
				tmux("send-keys", "-l", c.typed)
				tmux("send-keys", "Tab")
				await(c.want)
			}
			if _, err := os.Stat(filepath.Join(dir, "run")); err == nil {
				t.Error("a command within what is typed was run")
			}
		})
	}
}
