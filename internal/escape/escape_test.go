package escape

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestString(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"main.(*T).f", "main.(*T).f"},
		{"größe 大きさ 👩\u200d💻 می\u200cخواهم", "größe 大きさ 👩\u200d💻 می\u200cخواهم"},
		{"a\x1b[2Jb", `a\x1b[2Jb`},
		{"a\nb\rc\td", `a\nb\rc\td`},
		{"\a\x00\x7f", `\x07\x00\x7f`},
		{"a\u202eb", `a\xe2\x80\xaeb`},
		{"\u2066x\u2069\u061c\u200e", `\xe2\x81\xa6x\xe2\x81\xa9\xd8\x9c\xe2\x80\x8e`},
		{"\x9b31m", `\x9b31m`},
		{"\u009b31m", `\xc2\x9b31m`},
		{"\u2028\u2029\ufeff\u00ad", `\xe2\x80\xa8\xe2\x80\xa9\xef\xbb\xbf\xc2\xad`},
		{"\U000e0041", `\xf3\xa0\x81\x81`},
		{"\ufffd", "\ufffd"},
		{"half \xe2\x80", `half \xe2\x80`},
		{"\xed\xa0\x80", `\xed\xa0\x80`},
	} {
		if got := String(c.in); got != c.want {
			t.Errorf("String(%q) = %q, not %q", c.in, got, c.want)
		}
		for room := range len(c.want) {
			dst := make([]byte, room)
			if n := Write(dst, c.in); string(dst[:n]) != c.want[:room] {
				t.Errorf("Write(%q) with room for %d bytes: %q, not %q", c.in, room, dst[:n], c.want[:room])
			}
		}
	}
	if got, want := Lines("a\n\tb\x1b[H\n"), "a\n\tb\\x1b[H\n"; got != want {
		t.Errorf("Lines: %q, not %q", got, want)
	}
}

func TestColour(t *testing.T) {
	for in, want := range map[string]int{"\x1b[m": 3, "\x1b[1;31mx": 7, "\x1b[38:5:1m": 9, "\x1b[2J": 0, "\x1b[31": 0, "\x1b[?25l": 0, "\x1b": 0, "m": 0, "\x1b]0;m\a": 0, "\x1b[" + strings.Repeat("1", 100) + "m": 0} {
		if got := Colour(in); got != want {
			t.Errorf("Colour(%q) = %d, not %d", in, got, want)
		}
	}
}

// TestSafe: every character of these classes is escaped.
func TestSafe(t *testing.T) {
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if Safe(r) && (unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Bidi_Control, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) || unicode.Is(unicode.Co, r) || !utf8.ValidRune(r)) {
			t.Errorf("%U is said to be safe", r)
		}
		if !Safe(r) && unicode.IsLetter(r) {
			t.Errorf("the letter %U is said not to be safe", r)
		}
	}
}

func FuzzString(f *testing.F) {
	f.Add("main.f\x1b[2J\u202e\x9b\xe2\x80")
	f.Add("\xe0\x80") // begins no character
	f.Fuzz(func(t *testing.T, s string) {
		shown := String(s)
		for _, r := range shown {
			if !Safe(r) {
				t.Fatalf("String(%q) has %U", s, r)
			}
		}
		if !utf8.ValidString(shown) {
			t.Fatalf("String(%q) is no UTF-8", s)
		}
		if again := String(shown); again != shown {
			t.Fatalf("String(%q) is escaped once more: %q", s, again)
		}
		for i := range len(s) + 1 { // a character whose rest is to come is never taken for one that is whole
			if n := Unfinished(s[:i]); n > 0 && utf8.FullRuneInString(s[i-n:i]) {
				t.Fatalf("Unfinished(%q) = %d", s[:i], n)
			}
		}
	})
}
