package words

import (
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
