package targets

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

func TestNamesPackage(t *testing.T) {
	for pattern, want := range map[string]string{
		"os.ReadFile":            "os",
		"os.(*File).Close":       "os",
		"json.*":                 "encoding/json",
		"encoding/json.*":        "encoding/json",
		"net/...":                "net/http",
		"pkg:net/http":           "net/http",
		"example.com/*.Get":      "example.com/store",
		"*.Close":                "",
		"(*File).Close":          "",
		"Close":                  "",
		"*":                      "",
		"...":                    "",
		"!os.ReadFile":           "",
		"os.ReadFile=off":        "",
		"!os.*;json.Marshal":     "encoding/json",
		"pkg:net/http&*.Get":     "net/http",
		"file:os/file.go":        "",
		"encoding/json.*&!*.New": "encoding/json",
	} {
		f := targetFinder{found: map[string]*packages.Package{}}
		for _, path := range []string{"os", "encoding/json", "net/http", "example.com/store"} {
			f.all = append(f.all, &packages.Package{PkgPath: path})
		}
		f.matching(pattern)
		if got := strings.Join(slices.Sorted(maps.Keys(f.found)), " "); got != want {
			t.Errorf("%q: got %q, want %q", pattern, got, want)
		}
	}
}

func TestParseTest(t *testing.T) {
	for args, want := range map[string]string{
		"":                              ". | | ",
		"-v -run X":                     ". | | ",
		"-v ./... -run X":               "./... | | ",
		"-run X ./a ./b -count 1 ./c":   "./a ./b | | ",
		"-count=1 ./a -args ./b":        "./a | | ",
		"./a -- ./b":                    "./a | | ",
		"-tags x,y -race --mod=mod a b": "a b | -tags x,y -race --mod=mod | ",
		"-C dir -modfile x.mod .":       ". | -modfile x.mod | dir",
		"-C=dir -test.run X -cover a":   "a | | dir",
		"-timeout":                      ". | | ",
		"-json -o x -exec 'e' a.go":     "a.go | | ",
	} {
		a := parseTest(strings.Fields(args))
		got := strings.Join(a.packages, " ") + " | " + strings.Join(append(a.flags, "| "+a.dir), " ")
		if got != want {
			t.Errorf("%q: got %q, want %q", args, got, want)
		}
	}
}
