package doctor

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/version"
)

// settings are the variables of the environment that a report has, besides those that begin with
// FTRACE. Others, such as GOPROXY, may have passwords in them.
var settings = []string{
	"CC", "CGO_ENABLED", "GO111MODULE", "GO386", "GOAMD64", "GOARCH", "GOARM64", "GODEBUG", "GOEXPERIMENT", "GOFLAGS", "GOOS", "GOROOT",
	"GOTOOLCHAIN", "GOWORK", "TMPDIR",
}

// Report writes trials as Markdown, with all that was run and printed, for an issue.
func Report(w io.Writer, trials []Trial) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "# ftrace-wrap doctor\n\n")
	indent(b, version.String("ftrace-wrap")+system())
	fmt.Fprintf(b, "\n| | | |\n|---|---|---|\n")
	for _, t := range trials {
		fmt.Fprintf(b, "| %s | %v | %s |\n", t.Name, t.Outcome, strings.NewReplacer("|", `\|`, "\n", " ").Replace(t.Found))
	}
	fmt.Fprintf(b, "\n## Settings\n\n")
	indent(b, set())
	for _, t := range trials {
		if t.Output != "" {
			fmt.Fprintf(b, "\n## %s\n\n", t.Name)
			indent(b, t.Output)
		}
	}
	return b.Flush()
}

// indent writes text as code.
func indent(b *bufio.Writer, text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintf(b, "\t%s\n", strings.TrimRight(line, "\r\n"))
	}
}

// system returns lines about the operating system.
func system() string {
	if runtime.GOOS == "windows" {
		return ""
	}
	out, _ := exec.Command("uname", "-srm").Output()
	return string(out)
}

// set returns a line for each variable of settings that is set.
func set() string {
	var lines []string
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if strings.HasPrefix(name, "FTRACE") || slices.Contains(settings, name) {
			lines = append(lines, v+"\n")
		}
	}
	if lines == nil {
		return "none\n"
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}
