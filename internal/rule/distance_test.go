package rule

import (
	"strings"
	"testing"
)

// TestDistance: alike beginnings and ends, of any length, count for nothing.
func TestDistance(t *testing.T) {
	long := strings.Repeat("encoding/json/", 10)
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"first", "FIRST", 0}, {"frist", "first", 1}, {"agrs", "args", 1}, {"args", "arg", 1},
		{"kitten", "sitting", 3}, {"ca", "abc", 3}, {"aab", "ab", 1}, {"abab", "baba", 2}, {"goroutine", "goroutines", 1},
		{long + "x" + long, long + "y" + long, 1}, {long, long, 0}, {"x" + long + "x", "y" + long + "y", len(long) + 2},
	} {
		if got := Distance(c.a, c.b); got != c.want {
			t.Errorf("%q, %q: got %d, want %d", c.a, c.b, got, c.want)
		}
		if got := Distance(c.b, c.a); got != c.want {
			t.Errorf("%q, %q: got %d, want %d", c.b, c.a, got, c.want)
		}
	}
}
