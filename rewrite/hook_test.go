package rewrite

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
)

// overlay rewrites packages of the standard library and writes them into a temporary directory. It
// returns the results and the file that tells the go command to build them in place of the
// originals.
func overlay(t testing.TB, paths ...string) (results map[string]*Result, file string) {
	t.Helper()
	dir := t.TempDir()
	replace := map[string]string{}
	put := func(name string, source []byte) {
		to := filepath.Join(dir, fmt.Sprintf("%d.go", len(replace)))
		if err := os.WriteFile(to, source, 0o666); err != nil {
			t.Fatal(err)
		}
		replace[name] = to
	}
	results = map[string]*Result{}
	for _, path := range paths {
		_, files := parsePackage(t, path)
		r, err := Package(Options{ImportPath: path, Symbol: path}, files)
		if err != nil {
			t.Fatal(err)
		}
		results[path] = r
		for i, source := range r.Files {
			if source != nil {
				put(files[i].Name, source)
			}
		}
		if r.Register != nil {
			put(filepath.Join(filepath.Dir(files[0].Name), "0register.go"), r.Register)
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, text, 0o666); err != nil {
		t.Fatal(err)
	}
	return results, file
}

// TestHooksStayInlinable checks that what the compiler inlines it still inlines with hooks, and
// that what is to stay out of line does. Those that it no longer inlines were taken for functions
// that it does not inline plainly either, or have a deferred call in their hook.
func TestHooksStayInlinable(t *testing.T) {
	testenv.NeedAll(t)
	paths := []string{"strings", "bytes", "go/ast", "go/token", "text/template/parse", "encoding/json", "net/http"}
	results, file := overlay(t, paths...)
	hooked, lost, gained, unsaid := 0, 0, 0, 0
	for _, path := range paths {
		plain := verdicts(t, path)
		profile := filepath.Join(t.TempDir(), "profile")
		if err := os.WriteFile(profile, results[path].Profile, 0o666); err != nil {
			t.Fatal(err)
		}
		after := verdicts(t, "-overlay="+file, "-gcflags=-m=2 -pgoprofile="+profile+" "+InlineFlag, path)
		for _, fn := range results[path].Funcs {
			if fn.How == Skipped || strings.Contains(fn.Name, "[...]") || strings.Contains(fn.Name, ".func") {
				continue // the compiler has several of a generic function; a literal may share its line with the function that it is in
			}
			at := fmt.Sprintf("%s:%d", filepath.Base(fn.File), fn.Line)
			if _, ok := after[at]; !ok {
				unsaid++
				continue
			}
			if fn.How == Outline && after[at].inlined {
				t.Errorf("%s.%s (%s) is inlined", path, fn.Name, at)
			}
			if !plain[at].inlined {
				if after[at].inlined {
					gained++
				}
				continue
			}
			hooked++
			if !after[at].inlined {
				lost++
				t.Logf("%s.%s (%s): %s, plainly %+v, hooked %+v", path, fn.Name, at, fn.How, plain[at], after[at])
			}
		}
	}
	t.Logf("of %d functions that the compiler inlines plainly, it does not inline %d with hooks; it inlines %d that it does not plainly", hooked, lost, gained)
	if hooked < 500 || unsaid*20 > hooked {
		t.Errorf("that is too few to judge by: of %d functions with hooks the compiler does not report whether it inlines them", unsaid)
	}
	if lost*100 > hooked*3 {
		t.Errorf("that is too many")
	}
}
