package selection

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"
)

func TestValidate(t *testing.T) {
	root := tree(t, app)
	tests := []struct{ pattern, problem string }{
		{"", ""},
		{"off", ""},
		{"main,std,cmd,all", ""},
		{"...", ""},
		{".../http", ""},
		{"command-line-arguments", ""},

		// The standard library.
		{"net/http", ""},
		{"net/http/...", ""},
		{"net/...", ""},
		{"net/h...", ""},
		{"encoding/.../json", `"encoding/.../json" matches no package of this build; is the module in go.mod?`},
		{"enc.../json", ""},
		{"cmd/go/...", ""},
		{"net/htp/...", `"net/htp/..." matches no package of this build; did you mean net/http/...?`},
		{"net/htp/pprof", `"net/htp/pprof" matches no package of this build; did you mean net/http/pprof?`},
		{"std,!nte/http", `"nte/http" matches no package of this build; did you mean net/http?`},
		{"oz", `"oz" matches no package of this build; is the module in go.mod?`},
		{"nothing/like/that/...", `"nothing/like/that/..." matches no package of this build; is the module in go.mod?`},
		{"net", `"net" matches no package of this build; is the module in go.mod?`}, // no Go files in our GOROOT
		{"sub/...", `"sub/..." matches no package of this build; did you mean ./sub/...?`},

		// The main module.
		{"example.com/app", ""},
		{"example.com/app/...", ""},
		{"example.com/app/sub", ""},
		{"example.com/app/s...", ""},
		{"example.com/...", ""},
		{"example.com/ap...", ""},
		{"example.com/app/sbu", `"example.com/app/sbu" matches no package of this build; there is no directory $/app/sbu`},
		{"example.com/app/docs", `"example.com/app/docs" matches no package of this build; there are no Go files in $/app/docs`},
		{"example.com/app/docs/...", `"example.com/app/docs/..." matches no package of this build; there are no matching Go files below $/app/docs`},

		// Dependencies.
		{"github.com/spf13/cobra", ""},
		{"github.com/spf13/cobra/doc/...", ""},
		{"github.com/spf13/...", ""},
		{"github.com/...", ""},
		{"github...", ""},
		{"gopkg.in/yaml.v3", ""},
		{"example.com/dep/...", ""},
		{"example.com/forked/...", ""},
		{"plain/x/...", ""},
		{"github.com/spf13", `"github.com/spf13" matches no package of this build; is the module in go.mod?`},
		{"github.com/spf13/cobre/...", `"github.com/spf13/cobre/..." matches no package of this build; did you mean github.com/spf13/cobra/...?`},
		{"github.com/spf31/cobra/doc", `"github.com/spf31/cobra/doc" matches no package of this build; did you mean github.com/spf13/cobra/doc?`},
		{"github.com/spf13/viper/...", `"github.com/spf13/viper/..." matches no package of this build; is the module in go.mod?`},
		{"example.com/appendix", `"example.com/appendix" matches no package of this build; is the module in go.mod?`},
		{"github.com/fork/forked/x/...", `"github.com/fork/forked/x/..." matches no package of this build; that module replaces another one: did you mean example.com/forked/x/...?`},

		// Directories.
		{"./...", ""},
		{".", ""},
		{"./sub", ""},
		{"../...", ""},
		{"../dep/...", ""},
		{"../dep/x", ""},
		{"./inner/...", ""},
		{"./nomod", ""},
		{"./vendor/gopkg.in/...", ""},
		{"../goroot/src/net/...", ""},
		{"./none/...", `"./none/..." matches no package of this build; there is no directory $/app/none`},
		{"./docs", `"./docs" matches no package of this build; there are no Go files in $/app/docs`},
		{"./docs/...", `"./docs/..." matches no package of this build; there are no matching Go files below $/app/docs`},
		{"../other", `"../other" matches no package of this build; the directory is in no module that go.mod or go.work names`},
		{"./stray/...", `"./stray/..." matches no package of this build; the module in $/app/stray is in neither go.mod nor go.work`},
	}
	for _, test := range tests {
		err := mustResolve(t, at(root, "app", test.pattern)).Validate()
		got := ""
		if err != nil {
			got = strings.ReplaceAll(err.Error(), filepath.ToSlash(root), "$")
		}
		want := test.problem
		if want != "" {
			want = "FTRACE_PACKAGES: pattern " + want
		}
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", test.pattern, got, want)
		}
	}
}

// Builds whose modules are not all known.
func TestValidateIncomplete(t *testing.T) {
	root := tree(t, app)
	for _, files := range []map[string]string{
		{"old/go.mod": "module old\ngo 1.16\n", "old/x.go": goFile, "old/sub/x.go": goFile},
		{"nogo/go.mod": "module old\n", "nogo/sub/x.go": goFile},
	} {
		old := tree(t, files)
		for name := range maps.Keys(files) {
			dir := strings.Split(name, "/")[0]
			env := at(root, "", "")
			env.Dir = filepath.Join(old, dir)
			for pattern, ok := range map[string]bool{
				"github.com/x/y/...": true, "old/...": true, "old/sub": true, "old/none": false, "net/htp": false,
			} {
				env.Patterns = pattern
				if err := mustResolve(t, env).Validate(); (err == nil) != ok {
					t.Errorf("%s: %s: %v", dir, pattern, err)
				}
			}
		}
	}
	for pattern, ok := range map[string]bool{
		"github.com/x/y/...": true, "./...": true, "legacy/x": true, "legacy/...": true, "legacy/y": false, "net/htp": false, "./none": false,
	} {
		env := at(root, "other", pattern)
		if err := mustResolve(t, env).Validate(); (err == nil) != ok {
			t.Errorf("no go.mod: %s: %v", pattern, err)
		}
	}
}

func TestValidateWorkspace(t *testing.T) {
	root := tree(t, map[string]string{
		"go.work":                   "go 1.25\nuse ./a\nuse ./b\nreplace example.com/r => ./r\n",
		"a/go.mod":                  "module example.com/a\ngo 1.25\nrequire example.com/x v1.0.0\n",
		"a/x.go":                    goFile,
		"b/go.mod":                  "module example.com/b\ngo 1.25\nrequire (\n\texample.com/y v1.0.0\n\texample.com/a v1.0.0\n)\n",
		"b/sub/x.go":                goFile,
		"c/go.mod":                  "module example.com/c\n",
		"c/x.go":                    goFile,
		"r/go.mod":                  "module example.com/r\n",
		"r/x.go":                    goFile,
		"vendor/example.com/y/x.go": goFile,
		"goroot/src/net/http/x.go":  goFile,
	})
	for pattern, ok := range map[string]bool{
		"example.com/x/...": true, "example.com/y": true, "example.com/r/z": true, "example.com/b/sub": true,
		"example.com/a": true, "example.com/a/none": false, "example.com/b/none": false, "example.com/c": false,
		"../b/...": true, "../...": true, "../r": true, "../c": false, "../vendor/example.com/...": true, "../goroot/src/net/http": true,
	} {
		if err := mustResolve(t, at(root, "a", pattern)).Validate(); (err == nil) != ok {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}

// With the real toolchain: every package of the standard library is a pattern.
func TestValidateStandardLibrary(t *testing.T) {
	env := Environment{Dir: t.TempDir(), GOROOT: goOutput(t, "env", "GOROOT"), GOWORK: "off"}
	for path := range strings.FieldsSeq(goOutput(t, "list", "std")) {
		for _, suffix := range []string{"", "/..."} {
			env.Patterns = path + suffix
			if err := mustResolve(t, env).Validate(); err != nil {
				t.Error(err)
			}
		}
	}
	for typo, want := range map[string]string{
		"net/htp/...": "net/http/...", "encodin/json": "encoding/json", "crypt/...": "crypto/...", "sycn": "sync", "ftm": "fmt",
	} {
		env.Patterns = typo
		err := mustResolve(t, env).Validate()
		if err == nil || !strings.HasSuffix(err.Error(), "; did you mean "+want+"?") {
			t.Errorf("%s: %v", typo, err)
		}
	}
}

func TestAtLeast117(t *testing.T) {
	for version, want := range map[string]bool{
		"1.16": false, "1.9": false, "1": false, "1.17": true, "1.18rc1": true, "1.25.3": true, "2.0": true,
	} {
		if got := atLeast117(version); got != want {
			t.Errorf("%s: %v", version, got)
		}
	}
}

func BenchmarkValidate(b *testing.B) {
	root := tree(b, map[string]string{"m/go.mod": "module x\ngo 1.25\nrequire a.b/c v1.0.0\n", "m/x/y/x.go": goFile})
	env := Environment{Dir: filepath.Join(root, "m"), GOROOT: goOutput(b, "env", "GOROOT"), Patterns: "./...,net/http/...,a.b/c/..."}
	for b.Loop() {
		if err := mustResolve(b, env).Validate(); err != nil {
			b.Fatal(err)
		}
	}
}
