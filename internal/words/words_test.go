package words

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestNear(t *testing.T) {
	names := strings.Fields("Reset (*buffer).Reset Get (*T).Get getAll[...] Put release unrelated")
	for name, want := range map[string]string{
		"Gte":     "Get (*T).Get",
		"resett":  "Reset (*buffer).Reset",
		"getall":  "getAll[...]",
		"releaes": "release",
		"Close":   "",
		"x":       "",
	} {
		if got := strings.Join(Near(name, names), " "); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func TestShell(t *testing.T) {
	for in, want := range map[string][]string{
		``:                           nil,
		`a  b`:                       {"a", "b"},
		`. 'BEGIN { print "x" }' ""`: {".", `BEGIN { print "x" }`, ""},
		`a\ b "c \"d\" \n" 'e\f'`:    {"a b", `c "d" \n`, `e\f`},
		`a#b;c|d $e`:                 {"a#b;c|d", "$e"},
	} {
		got, err := Shell(in)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("Shell(%q) = %q, %v, want %q", in, got, err, want)
		}
	}
	for _, in := range []string{`a 'b`, `"`, `a\`} {
		if got, err := Shell(in); err == nil {
			t.Errorf("Shell(%q) = %q, want an error", in, got)
		}
	}
}

// TestGoFlags: what is quoted comes back, and stands between others.
func TestGoFlags(t *testing.T) {
	for in, want := range map[string]string{`/a/b`: `/a/b`, `/a b`: `'/a b'`, `/it's`: `/it's`, `/it's a`: `"/it's a"`, ``: `''`, `'a'`: `"'a'"`} {
		got, err := QuoteGoFlag(in)
		if err != nil || got != want || !slices.Equal(GoFlags("-x "+got+" -y"), []string{"-x", in, "-y"}) {
			t.Errorf("QuoteGoFlag(%s) = %s, %v, want %s; GoFlags: %q", in, got, err, want, GoFlags("-x "+got+" -y"))
		}
	}
	if got, err := QuoteGoFlag(`"it's" a`); err == nil {
		t.Errorf("got %s, want an error", got)
	}
}
