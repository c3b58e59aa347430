package targets

import (
	"strings"
	"testing"
)

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
