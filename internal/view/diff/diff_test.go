package diff

import (
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

func open(t *testing.T, name string) walk.Source {
	t.Helper()
	r, err := recording.Open("../../../testdata/recordings/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return walk.Source{Recording: r}
}

// TestCompare: a recording is the same as itself, and differs from another one where its calls do.
func TestCompare(t *testing.T) {
	o := Options{Context: 2}
	for _, c := range []struct {
		a, b string
		same bool
		want string
	}{
		{"workers", "workers", true, "Goroutines: 4 do the same, 0 differ"},
		{"workers", "parser", false, "First divergence: event 2 of G1 and of G1"},
	} {
		d, err := Compare(open(t, c.a), open(t, c.b), o)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := d.Write(&out, o); err != nil {
			t.Fatal(err)
		}
		if d.Same() != c.same || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s and %s: same %v:\n%s", c.a, c.b, d.Same(), out.String())
		}
	}
}

func TestWithoutAddresses(t *testing.T) {
	for line, want := range map[string]string{
		"":                         "",
		"f(x)":                     "f(x)",
		"f(0x12, 0xc000012345)":    "f(0x12, 0x...)",
		"0xc00001234 0x":           "0x... 0x",
		"0x0x123456":               "0x0x...",
		"0xc000012345,0xc00001234": "0x...,0x...",
	} {
		if got := string(withoutAddresses([]byte(line))); got != want {
			t.Errorf("%s: %s, not %s", line, got, want)
		}
	}
}
