package selection

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
)

// kind says what a pattern is compared with.
type kind int

const (
	kindPath kind = iota // the import path
	kindDir              // the package's directory
	kindMain             // the default set: main module and workspace
	kindStd              // the standard library
	kindCmd              // the go distribution's commands
	kindAll              // everything
)

// keywords are the patterns that name a set. A directory of the same name is
// written ./main.
var keywords = map[string]kind{
	"main": kindMain,
	"std":  kindStd,
	"cmd":  kindCmd,
	"all":  kindAll,
}

// pattern is one element of FTRACE_PACKAGES.
type pattern struct {
	text    string // as given, without the !
	exclude bool
	kind    kind
	glob    string // kindPath: an import path; kindDir: an absolute directory
}

// normal is the same for patterns that mean the same.
func (p pattern) normal() string {
	s := p.glob
	if s == "" {
		s = p.text
	}
	if p.exclude {
		return "!" + s
	}
	return s
}

// defaultPatterns is what FTRACE_PACKAGES means when it is not set.
var defaultPatterns = []pattern{{text: "main", kind: kindMain}}

// parsePatterns reads FTRACE_PACKAGES. Directories are relative to dir. No
// patterns at all is the result for "off".
func parsePatterns(list, dir string) ([]pattern, error) {
	var patterns []pattern
	off := ""
	count := 0
	for text := range strings.SplitSeq(list, ",") {
		text = strings.TrimSpace(text)
		if text == "" {
			continue
		}
		count++
		if name := strings.TrimSpace(strings.TrimPrefix(text, "!")); name == "off" || name == "none" {
			off = text
			continue
		}
		p, err := parsePattern(text, dir)
		if err != nil {
			return nil, err
		}
		if p.exclude && len(patterns) == 0 {
			patterns = append(patterns, defaultPatterns...)
		}
		patterns = append(patterns, p)
	}
	switch {
	case off == "" && count == 0:
		return defaultPatterns, nil
	case off != "" && (count > 1 || strings.HasPrefix(off, "!")):
		return nil, patternError(off, "must stand alone", "it selects no package at all")
	}
	return patterns, nil
}

func parsePattern(text, dir string) (pattern, error) {
	p := pattern{text: text}
	if rest, ok := strings.CutPrefix(text, "!"); ok {
		p.exclude = true
		p.text = strings.TrimLeftFunc(rest, unicode.IsSpace)
	}
	if k, ok := keywords[p.text]; ok {
		p.kind = k
		return p, nil
	}
	if isDirectoryPattern(p.text) {
		return directoryPattern(p, dir)
	}
	if problem, hint := checkImportPath(p.text); problem != "" {
		return p, patternError(text, problem, hint)
	}
	p.glob = p.text
	return p, nil
}

// isDirectoryPattern tells ./x, ../x and /x from import paths, as the go
// command does. A leading "..." is a wildcard.
func isDirectoryPattern(text string) bool {
	if filepath.IsAbs(text) {
		return true
	}
	first, _, _ := strings.Cut(filepath.ToSlash(text), "/")
	return first == "." || first == ".."
}

func directoryPattern(p pattern, dir string) (pattern, error) {
	p.kind = kindDir
	name := filepath.FromSlash(p.text)
	if !filepath.IsAbs(name) {
		if dir == "" {
			return p, patternError(p.text, "can't be resolved", "the go command's working directory is not known")
		}
		name = filepath.Join(dir, name)
	}
	p.glob = cleanDir(name)
	return p, nil
}

// checkImportPath returns what is wrong with an import path pattern.
func checkImportPath(path string) (problem, hint string) {
	const notPattern = "is not a package pattern"
	switch {
	case path == "":
		return notPattern, "a pattern must follow the !"
	case strings.Contains(path, "@"):
		return notPattern, "leave out the version"
	case strings.Contains(path, "*"):
		return notPattern, "the wildcard is ..."
	case strings.Contains(path, `\`):
		return notPattern, "use / between the elements"
	case strings.HasSuffix(path, "/"):
		return notPattern, fmt.Sprintf("did you mean %s...?", path)
	}
	for element := range strings.SplitSeq(path, "/") {
		if element == "" || element == "." || element == ".." {
			return notPattern, "an import path has no empty, . or .. element"
		}
	}
	// The characters that the language allows to be refused in import paths.
	if i := strings.IndexFunc(path, func(r rune) bool {
		return !unicode.IsPrint(r) || r == ' ' || strings.ContainsRune("!\"#$%&'()*,:;<=>?[]^`{|}\uFFFD", r)
	}); i >= 0 {
		r := []rune(path[i:])[0]
		return notPattern, fmt.Sprintf("%q can't be in an import path", r)
	}
	return "", ""
}

// literalRoot returns the last path before the first wildcard: x/y for x/y/...
// and also for x/y/z...; without a wildcard it is all of glob.
func literalRoot(glob string) string {
	before, _, wild := strings.Cut(glob, "...")
	if !wild {
		return glob
	}
	i := strings.LastIndexByte(before, '/')
	if i == 0 {
		return "/"
	}
	return before[:max(i, 0)]
}

func isWild(glob string) bool { return strings.Contains(glob, "...") }

// matchGlob matches as the go command does: ... stands for any string, a final
// /... also for nothing, and no wildcard matches a path element "vendor".
func matchGlob(glob, name string) bool {
	if !isWild(glob) {
		return glob == name
	}
	if vendorElements(name) > vendorElements(glob) {
		return false
	}
	if root, ok := strings.CutSuffix(glob, "/..."); ok && matchParts(root, name) {
		return true
	}
	return matchParts(glob, name)
}

func matchParts(glob, name string) bool {
	before, rest, wild := strings.Cut(glob, "...")
	if !wild {
		return glob == name
	}
	name, ok := strings.CutPrefix(name, before)
	if !ok {
		return false
	}
	// Each inner part is best taken where it is found first: what follows it can
	// only have more room.
	for {
		part, more, wild := strings.Cut(rest, "...")
		if !wild {
			return strings.HasSuffix(name, rest)
		}
		_, after, found := strings.Cut(name, part)
		if !found {
			return false
		}
		name, rest = after, more
	}
}

func vendorElements(path string) int {
	if !strings.Contains(path, "vendor") {
		return 0
	}
	return strings.Count("/"+strings.ReplaceAll(path, "/", "//")+"/", "/vendor/")
}

func patternError(text, problem, hint string) error {
	message := fmt.Sprintf("FTRACE_PACKAGES: pattern %q %s", text, problem)
	if hint != "" {
		message += "; " + hint
	}
	return errors.New(message)
}
