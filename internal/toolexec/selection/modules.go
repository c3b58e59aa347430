package selection

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/mod/modfile"
)

// modules is what the module files say about a build. The zero value is a build
// without any: GOPATH mode, or files on the command line.
type modules struct {
	main []moduleFile // the main module, or those that go.work uses
	work *moduleFile  // go.work, if there is one
}

// moduleFile is a go.mod or go.work. It is parsed only when needed: a compile
// step mostly gets by with a search for the word "replace".
type moduleFile struct {
	dir  string // what relative directories in it are relative to
	path string // the module path
	data []byte
}

// findModules reads the module files of the build. What can't be read is left
// out: the go command itself has something to say about that.
func findModules(env *Environment) modules {
	if env.Dir == "" || env.GO111MODULE == "off" || env.GOMOD == os.DevNull {
		return modules{}
	}
	if name := findWork(env); name != "" {
		return readWork(name)
	}
	root := findUp(env.Dir, "go.mod", "")
	if root == "" {
		return modules{}
	}
	name := filepath.Join(root, "go.mod")
	if alternative := env.modFile(); alternative != "" {
		name = alternative
		if !filepath.IsAbs(name) {
			name = filepath.Join(env.Dir, name)
		}
	}
	return modules{main: []moduleFile{readModule(root, name)}}
}

func findWork(env *Environment) string {
	switch env.GOWORK {
	case "off":
		return ""
	case "", "auto":
		if dir := findUp(env.Dir, "go.work", env.GOROOT); dir != "" {
			return filepath.Join(dir, "go.work")
		}
		return ""
	}
	return env.GOWORK
}

// findUp returns the directory nearest to dir, upwards, that has the file. It
// doesn't leave the directory stop.
func findUp(dir, file, stop string) string {
	for dir = filepath.Clean(dir); ; {
		if isFile(filepath.Join(dir, file)) {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir || stop != "" && parent == filepath.Clean(stop) {
			return ""
		}
		dir = parent
	}
}

func readModule(dir, name string) moduleFile {
	data, _ := os.ReadFile(name)
	return moduleFile{dir: cleanDir(dir), path: modfile.ModulePath(data), data: data}
}

func readWork(name string) modules {
	data, err := os.ReadFile(name)
	if err != nil {
		return modules{}
	}
	work := &moduleFile{dir: cleanDir(filepath.Dir(name)), data: data}
	found := modules{work: work}
	for _, use := range directives(work.parse(), "use") {
		dir := resolveDir(work.dir, use[0])
		found.main = append(found.main, readModule(dir, filepath.Join(filepath.FromSlash(dir), "go.mod")))
	}
	return found
}

// files returns all module files that take part in the build.
func (m *modules) files() []moduleFile {
	if m.work == nil {
		return m.main
	}
	return append([]moduleFile{*m.work}, m.main...)
}

// roots returns the directories of the main modules.
func (m *modules) roots() []string {
	var dirs []string
	for _, file := range m.main {
		dirs = append(dirs, file.dir)
	}
	return dirs
}

func (m *modules) hasPath(path string) bool {
	for _, file := range m.main {
		if file.path == path {
			return true
		}
	}
	return false
}

// parse returns nil for a file that is not one. The lax parser is for go.mod
// files of later Go releases; it reads the syntax of go.work as well.
func (f *moduleFile) parse() *modfile.File {
	anyVersion := func(_, version string) (string, error) { return version, nil }
	parsed, err := modfile.ParseLax(join(f.dir, "go.mod"), f.data, anyVersion)
	if err != nil {
		return nil
	}
	return parsed
}

// replacement is one replace directive.
type replacement struct {
	old string // a module path
	new string // a module path, or a clean absolute directory
	dir bool
}

// replacements returns the replace directives of a file.
func (f *moduleFile) replacements() []replacement {
	if !bytes.Contains(f.data, []byte("replace")) {
		return nil
	}
	var found []replacement
	for _, words := range directives(f.parse(), "replace") {
		for i, word := range words {
			if word != "=>" || i == 0 || i+1 == len(words) {
				continue
			}
			r := replacement{old: words[0], new: words[i+1]}
			if modfile.IsDirectoryPath(r.new) {
				r.dir = true
				r.new = resolveDir(f.dir, r.new)
			}
			found = append(found, r)
		}
	}
	return found
}

// directives returns the arguments of each directive of this name. The lax
// parser keeps replace and use in the syntax tree only.
func directives(file *modfile.File, verb string) [][]string {
	if file == nil {
		return nil
	}
	var found [][]string
	add := func(words []string) {
		if len(words) == 0 {
			return
		}
		unquoted := make([]string, len(words))
		for i, word := range words {
			unquoted[i] = unquote(word)
		}
		found = append(found, unquoted)
	}
	for _, statement := range file.Syntax.Stmt {
		switch statement := statement.(type) {
		case *modfile.Line:
			if statement.Token[0] == verb {
				add(statement.Token[1:])
			}
		case *modfile.LineBlock:
			if len(statement.Token) == 1 && statement.Token[0] == verb {
				for _, line := range statement.Line {
					add(line.Token)
				}
			}
		}
	}
	return found
}

// unquote removes the quotes, of either kind, of a module file's string.
func unquote(word string) string {
	if s, err := strconv.Unquote(word); err == nil {
		return s
	}
	return word
}

func resolveDir(base, dir string) string {
	dir = filepath.FromSlash(dir)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(filepath.FromSlash(base), dir)
	}
	return cleanDir(dir)
}
