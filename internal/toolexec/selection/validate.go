package selection

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/rule"
)

// Validate reports the first pattern that can't match any package of this build.
//
// It judges by directories and by the modules that go.mod names, without loading
// packages, so it lets pass what names a dependency but none of its packages.
func (s *Selection) Validate() error {
	known := s.knownModules()
	for _, p := range s.patterns {
		var err error
		switch p.kind {
		case kindPath:
			err = s.validatePath(p, known)
		case kindDir:
			err = s.validateDir(p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

const noPackage = "matches no package of this build"

// known is what the module files say of the modules of the build.
type known struct {
	dirs     map[string]string // module path to directory, of main modules
	imported []string          // paths of dependencies
	targets  map[string]string // path of a module that replaces another, to the other's
	complete bool              // there are no other modules
}

func (s *Selection) knownModules() known {
	k := known{
		dirs:     make(map[string]string),
		targets:  make(map[string]string),
		complete: len(s.modules.main) > 0,
	}
	for _, file := range s.modules.main {
		k.dirs[file.path] = file.dir
		parsed := file.parse()
		// Before Go 1.17 go.mod did not name the indirect dependencies.
		if parsed == nil || parsed.Go == nil || !atLeast117(parsed.Go.Version) {
			k.complete = false
			continue
		}
		for _, require := range parsed.Require {
			k.imported = append(k.imported, require.Mod.Path)
		}
	}
	for _, file := range s.modules.files() {
		for _, r := range file.replacements() {
			k.imported = append(k.imported, r.old)
			if !r.dir && r.new != r.old {
				k.targets[r.new] = r.old
			}
		}
	}
	return k
}

func atLeast117(version string) bool {
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	if end := strings.IndexFunc(minor, func(r rune) bool { return r < '0' || r > '9' }); end >= 0 {
		minor = minor[:end]
	}
	n, err := strconv.Atoi(minor)
	return major != "1" || err == nil && n >= 17
}

// paths returns the paths of all modules, sorted.
func (k *known) paths() []string {
	paths := slices.Clone(k.imported)
	for path := range k.dirs {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

func (s *Selection) validatePath(p pattern, k known) error {
	root := literalRoot(p.glob)
	if p.glob == commandLine || strings.HasPrefix(p.glob, "...") {
		return nil
	}
	if !dotted(p.glob) && s.inGoroot(p.glob) {
		return nil
	}
	paths := k.paths()
	if isWild(p.glob) && slices.ContainsFunc(paths, func(path string) bool { return spans(p.glob, path) }) {
		return nil
	}
	if module := innermost(paths, root); module != "" {
		if dir, isMain := k.dirs[module]; isMain {
			return validateInMain(p, module, dir)
		}
		return nil
	}
	if !k.complete && (dotted(p.glob) || s.inGOPATH(p.glob)) {
		return nil
	}
	return patternError(p.text, noPackage, s.hint(p, k))
}

// dotted tells module paths from the standard library's packages, mostly.
func dotted(glob string) bool {
	first, _, _ := strings.Cut(glob, "/")
	return strings.Contains(strings.ReplaceAll(first, "...", ""), ".")
}

// spans reports whether a pattern covers all of a module: its part before the
// wildcard begins the module's path.
func spans(glob, path string) bool {
	literal, _, _ := strings.Cut(glob, "...")
	return strings.HasPrefix(path+"/", literal)
}

// inGoroot reports whether a pattern matches packages of the Go distribution.
func (s *Selection) inGoroot(glob string) bool {
	return s.env.GOROOT != "" && matchesBelow(filepath.Join(s.env.GOROOT, "src"), "", glob)
}

func (s *Selection) inGOPATH(glob string) bool {
	for _, dir := range filepath.SplitList(s.env.GOPATH) {
		if dir != "" && matchesBelow(filepath.Join(dir, "src"), "", glob) {
			return true
		}
	}
	return false
}

// matchesBelow reports whether dir, whose import path is path, or a directory below
// it is a package that matches.
func matchesBelow(dir, path, glob string) bool {
	root := literalRoot(glob)
	rel := root
	if path != "" {
		rel, _ = below(root, path)
	}
	return findPackage(join(cleanDir(dir), rel), isWild(glob), func(sub string) bool {
		return matchGlob(glob, join(root, sub))
	})
}

func validateInMain(p pattern, module, dir string) error {
	if matchesBelow(dir, module, p.glob) {
		return nil
	}
	rel, _ := below(literalRoot(p.glob), module)
	return patternError(p.text, noPackage, noPackageIn(join(dir, rel), isWild(p.glob)))
}

func noPackageIn(dir string, deep bool) string {
	switch {
	case !isDir(dir):
		return fmt.Sprintf("there is no directory %s", dir)
	case deep:
		return fmt.Sprintf("there are no matching Go files below %s", dir)
	default:
		return fmt.Sprintf("there are no Go files in %s", dir)
	}
}

func (s *Selection) validateDir(p pattern) error {
	root := literalRoot(p.glob)
	if !matchesBelow(root, root, p.glob) {
		return patternError(p.text, noPackage, noPackageIn(root, isWild(p.glob)))
	}
	if len(s.modules.main) == 0 {
		return nil
	}
	if problem := s.outOfBuild(root, isWild(p.glob)); problem != "" {
		return patternError(p.text, noPackage, problem)
	}
	return nil
}

// outOfBuild says why packages in or, if deep, below a directory can't be part of
// the build: it is in none of its modules.
func (s *Selection) outOfBuild(dir string, deep bool) string {
	roots := append(s.modules.roots(), s.outside...)
	for _, file := range s.modules.files() {
		for _, r := range file.replacements() {
			if r.dir {
				roots = append(roots, r.new)
			}
		}
	}
	if s.modules.work != nil {
		roots = append(roots, join(s.modules.work.dir, "vendor"))
	}
	if deep && slices.ContainsFunc(roots, func(root string) bool { return within(root, dir) }) {
		return ""
	}
	root := innermost(roots, dir)
	if root == "" {
		return "the directory is in no module that go.mod or go.work names"
	}
	nearest := cleanDir(findUp(dir, "go.mod", ""))
	if slices.Contains(s.outside, root) || len(nearest) <= len(root) {
		return ""
	}
	return fmt.Sprintf("the module in %s is in neither go.mod nor go.work", nearest)
}

// hint guesses what was meant by an import path.
func (s *Selection) hint(p pattern, k known) string {
	wild := strings.TrimPrefix(p.glob, literalRoot(p.glob))
	for target, old := range k.targets {
		if rel, ok := below(literalRoot(p.glob), target); ok {
			return fmt.Sprintf("that module replaces another one: did you mean %s%s?", join(old, rel), wild)
		}
	}
	if dir := filepath.Join(s.env.Dir, filepath.FromSlash(literalRoot(p.glob))); s.env.Dir != "" && isDir(dir) {
		return fmt.Sprintf("did you mean ./%s?", p.glob)
	}
	candidates := k.paths()
	if !dotted(p.glob) {
		candidates = append(candidates, s.stdPackages()...)
	}
	if similar := mostSimilar(literalRoot(p.glob), candidates); similar != "" {
		return fmt.Sprintf("did you mean %s%s?", similar, wild)
	}
	return "is the module in go.mod?"
}

// stdPackages lists the directories of the standard library. Only a build that fails
// pays for it.
func (s *Selection) stdPackages() []string {
	if s.env.GOROOT == "" {
		return nil
	}
	src := filepath.Join(s.env.GOROOT, "src")
	var found []string
	_ = filepath.WalkDir(src, func(name string, entry os.DirEntry, err error) error {
		rel, relErr := filepath.Rel(src, name)
		if errors.Join(err, relErr) != nil || !entry.IsDir() {
			return nil //nolint:nilerr // What can't be read is no suggestion.
		}
		if rel = filepath.ToSlash(rel); rel == "cmd" || rel == "vendor" || entry.Name() == "testdata" {
			return filepath.SkipDir
		}
		found = append(found, rel)
		return nil
	})
	return found
}

// mostSimilar returns the candidate that two typing errors or less make of the
// path or of its beginning, completed with the rest of the path.
func mostSimilar(path string, candidates []string) string {
	best, bestDistance := "", 3
	for _, candidate := range candidates {
		head, rest := cutElements(path, strings.Count(candidate, "/")+1)
		if rest != "" && !dotted(path) {
			continue // packages of the standard library are all known
		}
		distance := rule.Distance(head, candidate)
		if head != candidate && distance < bestDistance && 2*distance < len(candidate) {
			best, bestDistance = join(candidate, rest), distance
		}
	}
	return best
}

// cutElements splits a path after n elements.
func cutElements(path string, n int) (head, rest string) {
	for i := range len(path) {
		if path[i] != '/' {
			continue
		}
		if n--; n == 0 {
			return path[:i], path[i+1:]
		}
	}
	return path, ""
}
