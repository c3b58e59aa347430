package selection

import (
	"bytes"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Selection is the set of packages that are instrumented.
type Selection struct {
	env      Environment
	patterns []pattern
	modules  modules

	outside  []string // GOROOT and the module caches: nothing in them is of a main module
	replaced []string // directories of modules that replace others and are not main ones
	mains    []string // main modules that lie where only dependencies should
}

// Package is what is known about a package in its compile step.
type Package struct {
	ImportPath string // TOOLEXEC_IMPORTPATH, or without the variant in brackets
	Dir        string // where its sources are
	Std        bool   // part of the Go distribution (-std)
}

// Resolve reads FTRACE_PACKAGES and the module files. It reports patterns that
// are malformed; whether they can match anything is the question of [Selection.Validate].
func Resolve(env Environment) (*Selection, error) {
	patterns, err := parsePatterns(env.Patterns, env.Dir)
	if err != nil {
		return nil, err
	}
	s := &Selection{env: env, patterns: patterns}
	if len(patterns) == 0 {
		return s, nil
	}
	s.modules = findModules(&env)
	s.outside = env.moduleCaches()
	if env.GOROOT != "" {
		s.outside = append(s.outside, cleanDir(env.GOROOT))
	}
	s.replaced = s.replacedDirs()
	s.mains = s.exceptionalMains()
	return s, nil
}

// replacedDirs returns the local directories that replace modules. One that is
// itself a main module stays one.
func (s *Selection) replacedDirs() []string {
	roots := s.modules.roots()
	var dirs []string
	for _, file := range s.modules.files() {
		for _, r := range file.replacements() {
			if r.dir && !slices.Contains(roots, r.new) && isFile(join(r.new, "go.mod")) {
				dirs = append(dirs, r.new)
			}
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// exceptionalMains returns the main modules that their directory gives no
// right to be one: go test in the module cache, below a directory named vendor,
// in a module that replaces another. Normally there are none, and which
// module is the main one is then no input of Contains.
func (s *Selection) exceptionalMains() []string {
	var dirs []string
	for _, dir := range s.modules.roots() {
		if !s.inMain(dir) {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// Key is what the build cache's action key must contain: selections with the
// same key agree on every package that the go command thinks is the same one.
//
// What another project has in common, the standard library above all, can
// only be shared if the key names no directory. So they are in it only if they
// matter: local replacements and exceptional main modules for the default set,
// and where main modules are for patterns of directories, because under -trimpath
// the go command's action IDs don't say it.
func (s *Selection) Key() string {
	if len(s.patterns) == 0 {
		return "off"
	}
	var words []string
	usesMain, usesDirs := false, false
	for _, p := range s.patterns {
		words = append(words, p.normal())
		usesMain = usesMain || p.kind == kindMain
		usesDirs = usesDirs || p.kind == kindDir
	}
	key := keyList("", words)
	if usesMain || usesDirs {
		key += keyList(" replaced=", s.replaced)
	}
	if usesDirs {
		key += keyList(" roots=", s.modules.roots())
	} else if usesMain {
		key += keyList(" main=", s.mains)
	}
	return key
}

// keyList quotes what could be taken for a separator.
func keyList(name string, words []string) string {
	if len(words) == 0 {
		return ""
	}
	quoted := make([]string, len(words))
	for i, word := range words {
		if strings.ContainsAny(word, ", =\"\n") {
			word = strconv.Quote(word)
		}
		quoted[i] = word
	}
	return name + strings.Join(quoted, ",")
}

// Contains reports whether the package is instrumented. It reads no files.
func (s *Selection) Contains(pkg Package) bool {
	if len(s.patterns) == 0 {
		return false
	}
	if pkg.Dir != "" {
		pkg.Dir = cleanDir(pkg.Dir)
	}
	if s.isTestMain(pkg) {
		return false
	}
	pkg.ImportPath = ownImportPath(pkg.ImportPath)
	for _, p := range slices.Backward(s.patterns) {
		if s.matches(p, pkg) {
			return !p.exclude
		}
	}
	return false
}

// MayImport reports whether packages of the main module or the workspace may import packages of a
// module: it is one of these, or they require it. Without module files it is not known, and true.
func (s *Selection) MayImport(module string) bool {
	for _, file := range s.modules.main {
		if file.path == module || bytes.Contains(file.data, []byte(module)) {
			return true
		}
	}
	return len(s.modules.main) == 0
}

// isTestMain recognises the main package that go test generates, x.test. A
// module or directory may have such a name too.
func (s *Selection) isTestMain(pkg Package) bool {
	return strings.HasSuffix(pkg.ImportPath, ".test") &&
		path.Base(pkg.ImportPath) != path.Base(pkg.Dir) &&
		!s.modules.hasPath(pkg.ImportPath)
}

// ownImportPath removes what the go command adds to a package's import path:
// "x [x.test]" is x compiled with its test files, "x_test [x.test]" its
// external test package, "x [y]" is x compiled with the profile for command y.
func ownImportPath(importPath string) string {
	importPath, variant, ok := strings.Cut(importPath, " [")
	if !ok {
		return importPath
	}
	tested, ok := strings.CutSuffix(variant, ".test]")
	if ok && importPath == tested+"_test" {
		return tested
	}
	return importPath
}

func (s *Selection) matches(p pattern, pkg Package) bool {
	switch p.kind {
	case kindAll:
		return true
	case kindStd:
		return pkg.Std && !within(pkg.ImportPath, "cmd")
	case kindCmd:
		return pkg.Std && within(pkg.ImportPath, "cmd")
	case kindMain:
		return !pkg.Std && (pkg.ImportPath == commandLine || s.inMain(pkg.Dir))
	case kindDir:
		return s.matchesDir(p.glob, pkg.Dir)
	default:
		return matchGlob(p.glob, pkg.ImportPath)
	}
}

// commandLine is the import path of the package that consists of the files on
// the command line.
const commandLine = "command-line-arguments"

// matchesDir matches directories. Like the go command's own, a wildcard stays
// in the module it starts in, except that it reaches all main modules.
func (s *Selection) matchesDir(glob, dir string) bool {
	if !matchGlob(glob, dir) {
		return false
	}
	replaced := s.replacedModule(dir)
	return replaced == "" || within(literalRoot(glob), replaced)
}

// inMain reports whether a directory belongs to the main module or the
// workspace. As a compile step for a dependency in the build cache must not
// depend on who uses it, this asks for what dependencies are known by.
func (s *Selection) inMain(dir string) bool {
	if s.replacedModule(dir) != "" {
		return false
	}
	if root := innermost(s.mains, dir); root != "" {
		rel, _ := below(dir, root)
		return !isDependencyPath(rel)
	}
	return innermost(s.outside, dir) == "" && !isDependencyPath(dir)
}

// replacedModule returns the directory of the local replacement that dir
// belongs to, "" if it is of none.
func (s *Selection) replacedModule(dir string) string {
	replaced := innermost(s.replaced, dir)
	if replaced == "" || len(innermost(s.mains, dir)) > len(replaced) {
		return ""
	}
	return replaced
}

// innermost returns the longest of the directories that dir is within.
func innermost(roots []string, dir string) string {
	found := ""
	for _, root := range roots {
		if len(root) > len(found) && within(dir, root) {
			found = root
		}
	}
	return found
}

// isDependencyPath reports whether a path has an element that only copies of
// other modules have: vendor, or a version as in the module cache.
func isDependencyPath(dir string) bool {
	for element := range strings.SplitSeq(dir, "/") {
		if element == "vendor" {
			return true
		}
		if _, version, ok := strings.Cut(element, "@v"); ok && version != "" && '0' <= version[0] && version[0] <= '9' {
			return true
		}
	}
	return false
}
