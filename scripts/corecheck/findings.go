package main

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// ours says which lines of a file are ours.
type ours struct {
	name  string // to report it by; "" for the file's own
	all   bool
	lines map[int]bool
}

func (o ours) has(line int) bool { return o.all || o.lines[line] }

// oursIn returns the lines of patched that differ from those of original, of which none is missing,
// and those that follow.
func oursIn(original, patched []byte) ours {
	o := ours{lines: map[int]bool{}}
	before := bytes.SplitAfter(original, []byte("\n"))
	for i, line := range bytes.SplitAfter(patched, []byte("\n")) {
		if i >= len(before) || !bytes.Equal(line, before[i]) {
			o.lines[i+1] = true
		}
	}
	return o
}

// findings are those of all runs.
type findings struct {
	runs []*findingsOf
}

// findingsOf are those for one release and one target.
type findingsOf struct {
	run    string
	dir    string          // that paths are relative to
	files  map[string]ours // by path
	found  []string
	static bool           // staticcheck ran
	within string         // the folder of the packages that it checked; "": it checked all
	unused map[string]int // findings, by how often
}

// run begins the findings for one release and one target.
func (a *findings) run(name, dir string, files map[string]ours) *findingsOf {
	r := &findingsOf{run: name, dir: dir, files: files, unused: map[string]int{}}
	a.runs = append(a.runs, r)
	return r
}

// finding matches "file.go:1:2: text", which vet prints "vet: " before if a package has errors.
var finding = regexp.MustCompile(`^(?:vet: )?(.+\.(?:go|s)):(\d+)(?::\d+)?: (.*)$`)

// add takes what a tool printed that ended with err. What it does not find in a file, and so can't
// be Go's own, is reported as it is.
func (r *findingsOf) add(output string, err error) {
	understood := false
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		m := finding.FindStringSubmatch(line)
		if m == nil {
			r.found = append(r.found, line)
			understood = true
			continue
		}
		understood = true
		path := m[1]
		if !filepath.IsAbs(path) {
			path = filepath.Join(r.dir, path)
		}
		n, _ := strconv.Atoi(m[2])
		o, changed := r.files[path]
		compiles := !strings.HasPrefix(line, "vet: ") && !strings.HasSuffix(line, "(compile)")
		if compiles && (!changed || !o.has(n)) {
			continue
		}
		name := o.name
		if name == "" {
			name = short(path)
		}
		text := fmt.Sprintf("%s:%d: %s", name, n, m[3])
		if strings.HasSuffix(text, "(U1000)") {
			r.unused[text]++
		} else {
			r.found = append(r.found, text)
		}
	}
	var exit *exec.ExitError
	if err != nil && (!understood || !errors.As(err, &exit)) {
		r.found = append(r.found, err.Error())
	}
}

// short returns the end of a path after "src/" or "vendor/".
func short(path string) string {
	path = filepath.ToSlash(path)
	for _, dir := range []string{"/src/", "/vendor/"} {
		if _, rest, ok := strings.Cut(path, dir); ok {
			return rest
		}
	}
	return path
}

// copies counts the packages that staticcheck has checked and that have the file.
func (r *findingsOf) copies(name string) int {
	n := 0
	for path, o := range r.files {
		if strings.HasPrefix(path, r.within) && (o.name == name || o.name == "" && short(path) == name) {
			n++
		}
	}
	return n
}

// report returns the findings, each once, with the first run that has it.
func (a *findings) report() []string {
	var lines []string
	seen := map[string]bool{}
	note := func(text, run string) {
		if !seen[text] {
			seen[text] = true
			lines = append(lines, text+" ["+run+"]")
		}
	}
	for _, r := range a.runs {
		for _, text := range r.found {
			note(text, r.run)
		}
		for text := range r.unused {
			file, _, _ := strings.Cut(text, ":")
			used := func(other *findingsOf) bool { return other.static && other.copies(file) > other.unused[text] }
			if !slices.ContainsFunc(a.runs, used) {
				note(text, r.run)
			}
		}
	}
	slices.Sort(lines)
	return lines
}
