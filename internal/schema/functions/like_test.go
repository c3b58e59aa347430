package functions

import (
	"math/rand/v2"
	"testing"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// TestLikePattern: LIKE is what SQLite's own is.
func TestLikePattern(t *testing.T) {
	tls := libc.NewTLS()
	defer tls.Close()
	random := func(letters []rune, most int) string {
		text := make([]rune, rand.IntN(most))
		for i := range text {
			text[i] = letters[rand.IntN(len(letters))]
		}
		return string(text)
	}
	never := func() bool { return false }
	for range 200000 {
		text, pattern := random([]rune("abAü\\%_"), 12), random([]rune("abBü%%%_\\"), 10)
		for _, escape := range []rune{-1, '\\', 'a', 'ü'} {
			p, err := libc.CString(pattern)
			if err != nil {
				t.Fatal(err)
			}
			s, err := libc.CString(text)
			if err != nil {
				t.Fatal(err)
			}
			want := sqlite3.Xsqlite3_strlike(tls, p, s, uint32(max(escape, 0))) == 0
			if got, _ := likePattern(text, pattern, escape, lowered, never); got != want {
				t.Fatalf("%q LIKE %q ESCAPE %q: got %v", text, pattern, escape, got)
			}
			libc.Xfree(tls, p)
			libc.Xfree(tls, s)
		}
	}
}
