package inspect

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/ftrace-wrap/ftrace-wrap/internal/escape"
	"github.com/ftrace-wrap/ftrace-wrap/internal/paths"
	"github.com/ftrace-wrap/ftrace-wrap/internal/redact"
	"github.com/ftrace-wrap/ftrace-wrap/internal/screen"
	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
	"github.com/ftrace-wrap/ftrace-wrap/rewrite"
)

// List writes every function that a build would hook, how, and for others why not. The packages
// are those that patterns match, ./... if there are none, with their tests if tests is set. They
// are written as JSON if asJSON is set.
func List(w *screen.Writer, tests, asJSON bool, buildFlags, patterns []string) error {
	pattern, ok := redact.Parse(os.Getenv("FTRACE_REDACT"))
	if !ok {
		return fmt.Errorf("FTRACE_REDACT=%s: give parts of names with | between, or off", os.Getenv("FTRACE_REDACT"))
	}
	l, err := newLoader()
	if err != nil {
		return err
	}
	l.tests, l.buildFlags = tests, buildFlags
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	loaded, problems := l.load(patterns...)
	if asJSON {
		err = writeJSON(w.As(screen.JSON), loaded, pattern)
	} else {
		err = writeList(w, loaded, pattern)
	}
	switch {
	case problems != nil:
		return problems
	case err != nil:
		return fmt.Errorf("writing the list: %v", err)
	}
	return nil
}

// writeList writes the packages' functions in columns, with what the pattern makes secret, and a
// summary.
func writeList(w io.Writer, loaded []*loadedPackage, pattern string) error {
	counts := map[rewrite.How]int{}
	total, out := 0, 0
	for _, p := range loaded {
		fmt.Fprintln(w, heading(p))
		columns := tabwriter.NewWriter(w, 0, 1, 2, ' ', 0)
		for _, fn := range p.result.Funcs {
			how, reason := p.outcome(fn)
			counts[how]++
			total++
			line := fmt.Sprintf("  %s.%s\t%s\t%s:%d", p.symbol, fn.Name, how, escape.String(paths.Short(fn.File)), fn.Line)
			switch secrets := secrets(pattern, fn); {
			case reason != "":
				line += "\t" + reason
			case len(secrets) > 0:
				line += "\t" + strings.Join(secrets, "=*** ") + "=***"
			}
			fmt.Fprintln(columns, line)
		}
		if err := columns.Flush(); err != nil {
			return err
		}
		fmt.Fprintln(w)
		if !p.instrumented() {
			out++
		}
	}
	_, err := fmt.Fprintf(w, "%s in %s: %d inline, %d outline, %d deferred, %d skipped", words.Count(total, "function"), words.Count(len(loaded), "package"),
		counts[rewrite.Inline], counts[rewrite.Outline], counts[rewrite.Deferred], counts[rewrite.Skipped])
	if err == nil && out > 0 {
		_, err = fmt.Fprintf(w, "; a build leaves %s alone", words.Count(out, "package"))
	}
	if err == nil {
		_, err = fmt.Fprintln(w)
	}
	return err
}

// heading is the line above a package's functions.
func heading(p *loadedPackage) string {
	switch {
	case p.refused != "":
		return p.variant + ": never instrumented: " + p.refused
	case !p.selected:
		return p.variant + ": not selected: " + p.unselected()
	}
	return p.variant
}

// outcome says how a function is hooked, and if it is not, why. One of a package that is not
// selected is shown as it would be if it were.
func (p *loadedPackage) outcome(fn rewrite.Func) (how rewrite.How, reason string) {
	if p.refused != "" {
		return rewrite.Skipped, p.refused
	}
	return fn.How, fn.Reason
}

// secrets returns the names of parameters and results that traces hide: the name of a result, or
// ret0 for the first that has none.
func secrets(pattern string, fn rewrite.Func) (found []string) {
	name := strings.ReplaceAll(fn.Name, "[...]", "")
	names := redact.Names{Pattern: pattern, Function: name[strings.LastIndexByte(name, '.')+1:], Params: fn.Params}
	for name, n, ok := names.Next(); ok; name, n, ok = names.Next() {
		if name == "" {
			name = fmt.Sprint("ret", n)
		}
		found = append(found, name)
	}
	return found
}

// listedPackage and listedFunc are what list -json writes, a package each.
type listedPackage struct {
	ImportPath string       `json:"importPath"`
	Variant    string       `json:"variant,omitempty"` // "x [x.test]"
	Selected   bool         `json:"selected"`          // a build instruments it
	Reason     string       `json:"reason,omitempty"`  // why not
	Funcs      []listedFunc `json:"funcs"`
}

type listedFunc struct {
	Name   string      `json:"name"` // with the package, as traces have it
	How    rewrite.How `json:"how"`
	Reason string      `json:"reason,omitempty"`
	File   string      `json:"file"`
	Line   int         `json:"line"`

	Secrets []string `json:"secrets,omitempty"` // names whose values are hidden; ret0 is the first result without one
}

// writeJSON writes one JSON object a package, like go list -json.
func writeJSON(w io.Writer, loaded []*loadedPackage, pattern string) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "\t")
	encoder.SetEscapeHTML(false)
	for _, p := range loaded {
		listed := listedPackage{ImportPath: p.importPath, Selected: p.instrumented(), Reason: p.refused, Funcs: []listedFunc{}}
		if strings.Contains(p.variant, " ") {
			listed.Variant = p.variant
		}
		if p.refused == "" && !p.selected {
			listed.Reason = p.unselected()
		}
		for _, fn := range p.result.Funcs {
			how, reason := p.outcome(fn)
			listed.Funcs = append(listed.Funcs, listedFunc{Name: p.symbol + "." + fn.Name, How: how, Reason: reason, File: fn.File, Line: fn.Line, Secrets: secrets(pattern, fn)})
		}
		if err := encoder.Encode(listed); err != nil {
			return err
		}
	}
	return nil
}
