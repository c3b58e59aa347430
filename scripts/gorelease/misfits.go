package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/ftrace-wrap/ftrace-wrap/internal/inject"
	"github.com/ftrace-wrap/ftrace-wrap/internal/rule"
)

// A misfit is a change that can't be made in a package of a release.
type misfit struct {
	inject.Misfit
	importPath string
	targets    []string
	known, now string // the text around the place in a known release, and what is like it now; "" where there is none
}

func (m *misfit) write(w io.Writer) {
	fmt.Fprintf(w, "\n%s: %s (%s)\n", m.importPath, m.Problem, strings.Join(m.targets, ", "))
	for _, t := range []struct{ title, text string }{{"was", m.known}, {"is perhaps", m.now}} {
		if t.text != "" {
			fmt.Fprintf(w, "  %s:\n%s", t.title, t.text)
		}
	}
}

// misfits tries all changes in the packages of a release, for all targets.
func misfits(ctx context.Context, t, known toolchain) ([]*misfit, error) {
	var found []*misfit
	for _, target := range inject.Targets {
		packages, err := t.sources(ctx, target)
		if err != nil {
			return nil, err
		}
		goos, goarch, _ := strings.Cut(target, "/")
		for _, p := range packages {
			var wrong *inject.ReleaseError
			_, _, err := inject.Patch(p.importPath, t.version, goos, goarch, p.files)
			if err != nil && !errors.As(err, &wrong) {
				return nil, fmt.Errorf("package %s for %s: %w", p.importPath, target, err)
			}
			if wrong == nil {
				continue
			}
			for _, m := range wrong.Misfits {
				same := func(f *misfit) bool { return f.importPath == p.importPath && f.Misfit == m }
				if at := slices.IndexFunc(found, same); at >= 0 { // perhaps of this target: two changes have one place
					if !slices.Contains(found[at].targets, target) {
						found[at].targets = append(found[at].targets, target)
					}
					continue
				}
				found = append(found, &misfit{m, p.importPath, []string{target}, "", like(m.Place, p.files)})
			}
		}
	}
	if len(found) == 0 {
		return nil, nil
	}
	return found, know(ctx, known, found)
}

// know sets the text that the places have in a known release.
func know(ctx context.Context, known toolchain, found []*misfit) error {
	for _, target := range inject.Targets {
		packages, err := known.sources(ctx, target)
		if err != nil {
			return err
		}
		for _, m := range found {
			for _, p := range packages {
				if p.importPath == m.importPath && m.known == "" && m.Place != "" {
					m.known = where(m.Place, p.files)
				}
			}
		}
	}
	return nil
}

// sources are the Go files of a package.
type sources struct {
	importPath string
	files      []inject.File
}

// sources returns the packages of the standard library that are changed.
func (t toolchain) sources(ctx context.Context, target string) ([]sources, error) {
	std, _ := inject.Packages()
	goos, goarch, _ := strings.Cut(target, "/")
	args := append([]string{"list", "-e", "-json=ImportPath,Dir,GoFiles"}, std...)
	listed, err := t.output(ctx, []string{"GOOS=" + goos, "GOARCH=" + goarch, "CGO_ENABLED=0"}, args...)
	if err != nil {
		return nil, err
	}
	var all []sources
	for d := json.NewDecoder(strings.NewReader(listed)); ; {
		var p struct {
			ImportPath, Dir string
			GoFiles         []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		s := sources{importPath: p.ImportPath}
		for _, name := range p.GoFiles {
			name = filepath.Join(p.Dir, name)
			source, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			s.files = append(s.files, inject.File{Name: name, Source: source})
		}
		all = append(all, s)
	}
}

// where returns the text around a place, "" if it is not in the files.
func where(place string, files []inject.File) string {
	for _, f := range files {
		if at := bytes.Index(f.Source, []byte(place)); at >= 0 {
			at += len(place) - len(strings.TrimLeft(place, "\n"))
			return around(f, bytes.Count(f.Source[:at], []byte("\n")))
		}
	}
	return ""
}

// like returns the text around the line that is most like one of a place: the longest of that,
// which says most. It is "" if no line has more than half of its words.
func like(place string, files []inject.File) string {
	longest := ""
	for line := range strings.Lines(place) {
		if line = strings.TrimSpace(line); len(line) > len(longest) {
			longest = line
		}
	}
	wanted := wordsOf(longest)
	most, least, text := len(wanted)/2+1, 0, ""
	for _, f := range files {
		n := -1
		for line := range strings.Lines(string(f.Source)) {
			n++
			has := common(wanted, wordsOf(line))
			if has < most {
				continue
			}
			if d := rule.Distance(longest, strings.TrimSpace(line)); text == "" || has > most || d < least {
				most, least, text = has, d, around(f, n)
			}
		}
	}
	return text
}

// wordsOf returns the names and numbers in a line, sorted, each once.
func wordsOf(line string) []string {
	words := strings.FieldsFunc(line, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	slices.Sort(words)
	return slices.Compact(words)
}

// common returns how many words two lines have in common.
func common(a, b []string) (n int) {
	for _, word := range a {
		if _, ok := slices.BinarySearch(b, word); ok {
			n++
		}
	}
	return n
}

// around returns a line of a file, counted from 0, and four lines before and after it.
func around(f inject.File, line int) string {
	const few = 4
	lines := slices.Collect(strings.Lines(string(f.Source)))
	var b strings.Builder
	for n := max(0, line-few); n < min(len(lines), line+few+1); n++ {
		mark := ' '
		if n == line {
			mark = '>'
		}
		fmt.Fprintf(&b, "  %c %s:%d: %s\n", mark, filepath.Base(f.Name), n+1, strings.TrimRight(lines[n], "\r\n"))
	}
	return b.String()
}
