package examples

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
	"github.com/google/go-cmp/cmp"
)

// TestLogging does the same with the programs in logging, which log by several loggers and on several
// goroutines: what they log is to stand in the trace where it stands in expected.txt.
func TestLogging(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles programs")
	}
	testenv.NeedAll(t)
	download := exec.Command("go", "-C", "logging", "mod", "download")
	download.Env = append(testenv.Environ(), "GOFLAGS=")
	if out, err := download.CombinedOutput(); err != nil {
		if os.Getenv("CI") == "" {
			t.Skipf("loggers could not be downloaded: %v\n%s", err, out)
		}
		t.Fatalf("%v\n%s", err, out)
	}
	watch(t, "logging")
	plain, wrapped := t.TempDir(), t.TempDir()
	toolexec := testenv.Toolexec(t, testenv.Build(t, "ftrace-wrap"))
	buildIn(t, "logging", "-o", plain+string(filepath.Separator), "./...")
	buildIn(t, "logging", "-o", wrapped+string(filepath.Separator), toolexec, "./...")

	for _, name := range []string{"slog", "log", "zap", "logrus", "zerolog", "print"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := timeless(run(t, filepath.Join(plain, name)))
			off := timeless(run(t, filepath.Join(wrapped, name)))
			if diff := cmp.Diff(want, off); diff != "" {
				t.Errorf("output when built with ftrace-wrap (-plain +wrapped):\n%s", diff)
			}
			on := run(t, filepath.Join(wrapped, name), "FTRACE=1")
			if diff := cmp.Diff(want.Stdout, on.Stdout); diff != "" {
				t.Errorf("output when traced (-plain +traced):\n%s", diff)
			}
			compare(t, filepath.Join("logging", name, "expected.txt"), normalize(on.Stderr, false))
		})
	}
}

// logTime is what log/slog puts in front of a line.
var logTime = regexp.MustCompile(`(?m)^time=\S+ `)

// timeless takes the times out of lines.
func timeless(p printed) printed {
	return printed{logTime.ReplaceAllString(p.Stdout, ""), logTime.ReplaceAllString(p.Stderr, "")}
}
