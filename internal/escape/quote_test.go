package escape

import (
	"strconv"
	"testing"
	"unicode/utf8"
)

func TestQuote(t *testing.T) {
	for s, want := range map[string]string{
		"": "", "plain": "plain", `a"b\c`: `a\"b\\c`, "a\tb\n\r": `a\tb\n\r`, "\x1b[0m": `\x1b[0m`, "\u202e": `\xe2\x80\xae`, "é€": "é€", "\xff": `\xff`,
	} {
		var b [100]byte
		n, done := Quote(b[:], len(b), s)
		if got := string(b[:n]); got != want || done != len(s) {
			t.Errorf("%q: got %q of %d bytes, want %q", s, got, done, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, test := range []struct {
		s       string
		n, want int
	}{{"abc", 2, 2}, {"a€c", 2, 1}, {"a€c", 3, 1}, {"a€c", 4, 4}, {"a\xe2\x82", 3, 1}, {"a€", 4, 4}, {"\xe2\x82\xacx", 2, 0}, {"a\xff", 2, 2}, {"", 0, 0}} {
		if got := Cut(test.s, test.n); got != test.want {
			t.Errorf("%q at %d: got %d, want %d", test.s, test.n, got, test.want)
		}
	}
}

// FuzzQuote reads back with package strconv what was written, whole and cut by either limit.
func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", "plain", `"\`, "\x00\x7f\x80\xff", "é€😀\u202e", "a\xe2\x82"} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, s string, limit int) {
		b := make([]byte, 4*len(s))
		n, done := Quote(b, len(b)+1, s)
		if done != len(s) {
			t.Fatalf("%q: %d bytes done", s, done)
		}
		whole := string(b[:n])
		if got, err := strconv.Unquote(`"` + whole + `"`); err != nil || got != s {
			t.Fatalf("%q was written as %q, which is %q: %v", s, whole, got, err)
		}
		for rest := whole; rest != ""; {
			n, safe := Next(rest)
			if !safe {
				t.Fatalf("%q was written as %q", s, whole)
			}
			rest = rest[n:]
		}
		limit = min(max(limit, 0), 1000)
		n, done = Quote(b, limit, s)
		if n > limit+3 || done < len(s) && n < limit {
			t.Fatalf("%q to %d bytes: wrote %d, of %d", s, limit, n, done)
		}
		if got, err := strconv.Unquote(`"` + string(b[:n]) + `"`); err != nil || got != s[:done] {
			t.Fatalf("%q to %d bytes: wrote %q", s, limit, b[:n])
		}
		if n, _ := Quote(b[:min(limit, len(b))], len(b)+1, s); n > limit {
			t.Fatalf("%q with room for %d bytes: wrote %d", s, limit, n)
		}
		if at := Cut(s, min(limit, len(s))); at > limit || limit-at > 3 && utf8.ValidString(s) && at < len(s) || utf8.ValidString(s) && !utf8.ValidString(s[:at]) {
			t.Fatalf("%q was cut at %d of %d", s, at, limit)
		}
	})
}
