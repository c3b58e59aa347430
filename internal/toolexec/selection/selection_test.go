package selection

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree writes files below a new directory and returns it.
func tree(t testing.TB, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// at returns the environment of a go command in a directory of a tree.
func at(root, dir, patterns string) Environment {
	return Environment{
		Dir:        filepath.Join(root, dir),
		GOROOT:     filepath.Join(root, "goroot"),
		GOMODCACHE: filepath.Join(root, "cache"),
		GOPATH:     filepath.Join(root, "gopath"),
		Patterns:   patterns,
	}
}

func mustResolve(t testing.TB, env Environment) *Selection {
	t.Helper()
	s, err := Resolve(env)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const goFile = "package p\n"

// app is a module with everything that a build can have around it.
var app = map[string]string{
	"app/go.mod": `module example.com/app
go 1.25
require (
	github.com/spf13/cobra v1.8.0
	gopkg.in/yaml.v3 v3.0.1 // indirect
	example.com/dep v0.0.0
	example.com/inner v0.0.0
	plain v0.0.0
)
replace example.com/dep => ../dep
replace (
	example.com/inner v0.0.0 => ./inner
	"example.com/nomod" => "./nomod"
	example.com/forked => github.com/fork/forked v1.0.0
)
`,
	"app/main.go":                      goFile,
	"app/sub/sub.go":                   goFile,
	"app/docs/x.txt":                   "",
	"app/inner/go.mod":                 "module example.com/inner\n",
	"app/inner/x.go":                   goFile,
	"app/nomod/x.go":                   goFile,
	"app/stray/go.mod":                 "module example.com/stray\n",
	"app/stray/x.go":                   goFile,
	"app/vendor/gopkg.in/yaml.v3/x.go": goFile,
	"dep/go.mod":                       "module example.com/dep\n",
	"dep/x/x.go":                       goFile,
	"other/x.go":                       goFile,
	"goroot/src/net/http/x.go":         goFile,
	"goroot/src/net/http/pprof/x.go":   goFile,
	"goroot/src/os/x.go":               goFile,
	"goroot/src/encoding/json/x.go":    goFile,
	"goroot/src/cmd/go/main.go":        goFile,
	"gopath/src/legacy/x/x.go":         goFile,
}

func TestContains(t *testing.T) {
	root := tree(t, app)
	// name is the import path, or the import path = the directory.
	packages := map[string]Package{
		"app":       {ImportPath: "example.com/app", Dir: "app"},
		"app.test":  {ImportPath: "example.com/app.test", Dir: "app"},
		"app[t]":    {ImportPath: "example.com/app [example.com/app.test]", Dir: "app"},
		"app_test":  {ImportPath: "example.com/app_test [example.com/app.test]", Dir: "app"},
		"app[pgo]":  {ImportPath: "example.com/app [example.com/app/cmd]", Dir: "app"},
		"sub":       {ImportPath: "example.com/app/sub", Dir: "app/sub"},
		"sub_test":  {ImportPath: "example.com/app/sub_test [example.com/app/sub.test]", Dir: "app/sub"},
		"sub.test":  {ImportPath: "example.com/app/sub.test", Dir: "/tmp/go-build1/b001"},
		"x.test":    {ImportPath: "example.com/app/x.test", Dir: "app/x.test"},
		"foo_test":  {ImportPath: "example.com/app/foo_test", Dir: "app/foo_test"},
		"inner":     {ImportPath: "example.com/inner", Dir: "app/inner"},
		"nomod":     {ImportPath: "example.com/nomod", Dir: "app/nomod"},
		"dep":       {ImportPath: "example.com/dep/x", Dir: "dep/x"},
		"yaml":      {ImportPath: "gopkg.in/yaml.v3", Dir: "app/vendor/gopkg.in/yaml.v3"},
		"cobra":     {ImportPath: "github.com/spf13/cobra", Dir: "cache/github.com/spf13/cobra@v1.8.0"},
		"elsewhere": {ImportPath: "github.com/spf13/pflag", Dir: "old/mod/github.com/spf13/pflag@v1.0.0"},
		"unversion": {ImportPath: "github.com/x/y", Dir: "gopath/pkg/mod/x"},
		"files":     {ImportPath: "command-line-arguments", Dir: "other"},
		"files[t]":  {ImportPath: "command-line-arguments [command-line-arguments.test]", Dir: "other"},
		"files.t":   {ImportPath: "command-line-arguments.test", Dir: "other"},
		"http":      {ImportPath: "net/http", Dir: "goroot/src/net/http", Std: true},
		"http_test": {ImportPath: "net/http_test [net/http.test]", Dir: "goroot/src/net/http", Std: true},
		"pprof":     {ImportPath: "net/http/pprof", Dir: "goroot/src/net/http/pprof", Std: true},
		"os":        {ImportPath: "os", Dir: "goroot/src/os", Std: true},
		"xnet":      {ImportPath: "vendor/golang.org/x/net", Dir: "goroot/src/vendor/golang.org/x/net", Std: true},
		"cmdgo":     {ImportPath: "cmd/go", Dir: "goroot/src/cmd/go", Std: true},
		"misc":      {ImportPath: "misc", Dir: "goroot/misc"},
	}
	const mainSet = "app app[t] app_test app[pgo] sub sub_test x.test foo_test nomod files files[t]"
	const std = "http http_test pprof os xnet"
	tests := []struct{ patterns, want string }{
		{"", mainSet},
		{"main", mainSet},
		{"off", ""},
		{"std", std},
		{"cmd", "cmdgo"},
		{"all", mainSet + " " + std + " cmdgo inner dep yaml cobra elsewhere unversion misc"},
		{"main,net/http", mainSet + " http http_test"},
		{"net/http/...,!net/http", "pprof"},
		{"!example.com/app/sub", "app app[t] app_test app[pgo] x.test foo_test nomod files files[t]"},
		{"example.com/app", "app app[t] app_test app[pgo]"},
		{"example.com/app/...,!./...", ""},
		{"./...", "app app[t] app_test app[pgo] sub sub_test x.test foo_test nomod"},
		{"./sub", "sub sub_test"},
		{"./inner/...", "inner"},
		{"./inner", "inner"},
		{"../dep/...", "dep"},
		{"../...", "app app[t] app_test app[pgo] sub sub_test x.test foo_test nomod files files[t] cobra elsewhere unversion " + "http http_test pprof os cmdgo misc"},
		{"gopkg.in/...", "yaml"},
		{"./vendor/gopkg.in/...", "yaml"},
		{"github.com/spf13/...,!github.com/spf13/pflag", "cobra"},
		{"command-line-arguments", "files files[t]"},
		{"all,!all", ""},
		{"all,!std,!cmd,!main", "inner dep yaml cobra elsewhere unversion misc"},
		{"std,!std,os", "os"},
	}
	for _, test := range tests {
		s := mustResolve(t, at(root, "app", test.patterns))
		want := make(map[string]bool)
		for name := range strings.FieldsSeq(test.want) {
			if _, ok := packages[name]; !ok {
				t.Fatalf("no package %s", name)
			}
			want[name] = true
		}
		for name, pkg := range packages {
			if !filepath.IsAbs(pkg.Dir) {
				pkg.Dir = filepath.Join(root, pkg.Dir)
			}
			if got := s.Contains(pkg); got != want[name] {
				t.Errorf("%q: %s: got %v, want %v", test.patterns, name, got, want[name])
			}
		}
	}
}

func TestTestMainOfModuleNamedTest(t *testing.T) {
	root := tree(t, map[string]string{"app/go.mod": "module m.test\n"})
	s := mustResolve(t, at(root, "app", ""))
	dir := filepath.Join(root, "app")
	for path, want := range map[string]bool{
		"m.test":                     true,
		"m.test [m.test.test]":       true,
		"m.test_test [m.test.test]":  true,
		"m.test.test":                false,
		"m.test/x":                   true,
		"m.test/x.test":              false,
		"m.test/x [m.test/x.test]":   true,
		"n.test [m.test/x.test]":     true,
		"m.test/x [m.test/cmd.test]": true,
	} {
		if got := s.Contains(Package{ImportPath: path, Dir: dir}); got != want {
			t.Errorf("%s: got %v", path, got)
		}
	}
}

// Which directories are of the main module, in all the shapes of a build.
func TestMainSet(t *testing.T) {
	const mod = "module example.com/x\ngo 1.25\n"
	tests := []struct {
		name  string
		files map[string]string
		env   func(env *Environment)
		dir   string
		yes   string
		no    string
		key   string // with $ for the root
	}{
		{
			name: "no module", dir: "d",
			yes: "d gopath/src/x", no: "gopath/src/x/vendor/y cache/m@v1.0.0 x@v2.0.0/y", key: "main",
		},
		{
			name: "from a subdirectory", dir: "m/a/b",
			files: map[string]string{"m/go.mod": mod, "m/a/b/x.go": goFile},
			yes:   "m m/a m/a/b", no: "m/vendor/x", key: "main",
		},
		{
			name: "replace outside", dir: "m",
			files: map[string]string{"m/go.mod": mod + "replace a => ../a\n", "a/go.mod": "module a\n"},
			yes:   "m ab", no: "a a/b", key: "main replaced=$/a",
		},
		{
			name: "replace by the module around", dir: "a/m",
			files: map[string]string{"a/m/go.mod": mod + "replace a => ../\n", "a/go.mod": "module a\n"},
			yes:   "a/m a/m/x", no: "a a/b a/m/vendor/x", key: "main replaced=$/a main=$/a/m",
		},
		{
			name: "replace without a directory", dir: "m",
			files: map[string]string{"m/go.mod": mod + "replace a => b v1.0.0\n"},
			yes:   "m", key: "main",
		},
		{
			name: "replace in the file of -modfile", dir: "m/sub",
			files: map[string]string{"m/go.mod": mod, "m/x y.mod": mod + "replace a => ./a\n", "m/a/go.mod": "module a\n", "m/sub/x.go": goFile},
			env:   func(env *Environment) { env.GOFLAGS = "-v '-modfile=../x y.mod' -race" },
			yes:   "m m/sub", no: "m/a", key: "main replaced=$/m/a",
		},
		{
			name: "GO111MODULE is off", dir: "m",
			files: map[string]string{"m/go.mod": mod + "replace a => ./a\n", "m/a/go.mod": "module a\n"},
			env:   func(env *Environment) { env.GO111MODULE = "off" },
			yes:   "m m/a", key: "main",
		},
		{
			name: "workspace", dir: "w/a",
			files: map[string]string{
				"w/go.work":  "go 1.25\nuse (\n\t./a\n\t../b // comment\n)\nuse ./c\nreplace d => ./d\nfuture directive\n",
				"w/a/go.mod": mod + "replace b => ../../b\nreplace e => ../e\n", "b/go.mod": "module b\n", "w/c/go.mod": "module c\n",
				"w/d/go.mod": "module d\n", "w/e/go.mod": "module e\n",
			},
			yes: "w/a b w/c", no: "w/d w/e/x w/vendor/x", key: "main replaced=$/w/d,$/w/e",
		},
		{
			name: "GOWORK is off", dir: "w/a",
			files: map[string]string{
				"w/go.work": "go 1.25\nuse ./a\nuse ./b\n", "w/a/go.mod": mod + "replace b => ../b\n", "w/b/go.mod": "module b\n",
			},
			env: func(env *Environment) { env.GOWORK = "off" },
			yes: "w/a", no: "w/b", key: "main replaced=$/w/b",
		},
		{
			name: "GOWORK elsewhere", dir: "a",
			files: map[string]string{
				"w/go.work": "go 1.25\nuse ../a\nuse ../b\n", "a/go.mod": mod + "replace b => ../b\n", "b/go.mod": "module b\n",
			},
			env: func(env *Environment) { env.GOWORK = filepath.Join(filepath.Dir(env.Dir), "w", "go.work") },
			yes: "a b", key: "main",
		},
		{
			name: "workspace module in a replaced one", dir: "w",
			files: map[string]string{
				"w/go.work": "use ./a/m\nreplace a => ./a\n", "w/a/go.mod": "module a\n", "w/a/m/go.mod": mod,
			},
			yes: "w/a/m w/a/m/x", no: "w/a w/a/x", key: "main replaced=$/w/a main=$/w/a/m",
		},
		{
			name: "in the module cache", dir: "cache/x@v1.0.0/sub",
			files: map[string]string{"cache/x@v1.0.0/go.mod": mod, "cache/x@v1.0.0/sub/x.go": goFile},
			yes:   "cache/x@v1.0.0 cache/x@v1.0.0/sub", no: "cache/y@v1.0.0 cache/x@v1.0.0/vendor/y", key: "main main=$/cache/x@v1.0.0",
		},
		{
			name: "below a directory named vendor", dir: "vendor/m",
			files: map[string]string{"vendor/m/go.mod": mod},
			yes:   "vendor/m/x", no: "vendor/m/vendor/x vendor/n", key: "main main=$/vendor/m",
		},
		{
			name: "broken files", dir: "m",
			files: map[string]string{"m/go.mod": "mod((ule\nreplace a => ../a\n", "go.work": "use (\n"},
			yes:   "m a", no: "m/vendor/x", key: "main",
		},
		{
			name: "unknown directory", dir: "",
			env: func(env *Environment) { env.Dir = "" },
			yes: "m", no: "cache/x@v1.0.0 m/vendor/x", key: "main",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			root := tree(t, test.files)
			env := at(root, test.dir, "")
			if test.env != nil {
				test.env(&env)
			}
			s := mustResolve(t, env)
			check := func(dirs string, want bool) {
				for dir := range strings.FieldsSeq(dirs) {
					if got := s.Contains(Package{ImportPath: "x", Dir: filepath.Join(root, dir)}); got != want {
						t.Errorf("%s: got %v, want %v", dir, got, want)
					}
				}
			}
			check(test.yes, true)
			check(test.no, false)
			if got := strings.ReplaceAll(s.Key(), root, "$"); got != test.key {
				t.Errorf("key is %s, want %s", got, test.key)
			}
		})
	}
}

// Modules that have no local replacements have the same key, so that they share
// the objects of the standard library, unless a pattern names a directory.
func TestKeyIsShared(t *testing.T) {
	root := tree(t, map[string]string{
		"a/go.mod": "module a\n", "b/go.mod": "module b\n", "c/go.mod": "module c\nreplace a => ../a\n",
	})
	key := func(dir, patterns string) string { return mustResolve(t, at(root, dir, patterns)).Key() }
	for _, patterns := range []string{"", "std", "main,std,!net/...", "!example.com/..."} {
		if key("a", patterns) != key("b", patterns) {
			t.Errorf("%q: keys differ: %s and %s", patterns, key("a", patterns), key("b", patterns))
		}
	}
	if key("c", "std") != key("a", "std") {
		t.Error("a replacement is in the key of patterns that don't depend on it")
	}
	if key("c", "") == key("a", "") {
		t.Error("a replacement is not in the key")
	}
	// With -trimpath the go command has one action ID for the same module in two places.
	absolute := filepath.Join(root, "a") + "/..."
	if key("a", absolute) == key("b", absolute) {
		t.Error("patterns of directories, but the main module is not in the key")
	}
}

// A compile step's share: most packages are compiled with default patterns.
func BenchmarkCompileStep(b *testing.B) {
	requires := strings.Repeat("\tgithub.com/some/module/with/a/path v1.22.333 // indirect\n", 300)
	for name, mod := range map[string]string{
		"plain":    "module x\ngo 1.25\nrequire (\n" + requires + ")\n",
		"replaced": "module x\ngo 1.25\nrequire (\n" + requires + ")\nreplace a => ../a\n",
	} {
		b.Run(name, func(b *testing.B) {
			root := tree(b, map[string]string{"m/go.mod": mod, "m/x/y/x.go": goFile, "a/go.mod": "module a\n"})
			pkg := Package{ImportPath: "x/y", Dir: filepath.Join(root, "m/x/y")}
			for b.Loop() {
				env := FromOS(filepath.Join(root, "goroot"))
				env.Dir = filepath.Join(root, "m") // the parent is no go command
				s, err := Resolve(env)
				if err != nil || !s.Contains(pkg) {
					b.Fatal(err)
				}
			}
		})
	}
}
