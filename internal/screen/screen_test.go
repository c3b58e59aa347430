package screen

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/escape"
)

func TestWriter(t *testing.T) {
	for _, c := range []struct {
		form     Form
		in, want string
	}{
		{Text, "a\tb\nc", "a\tb\nc"},
		{Text, "\x1b[31mred\x1b[0m\r\n", `\x1b[31mred\x1b[0m\r` + "\n"},
		{Coloured, "\x1b[31mred\x1b[0m\x1b[2J", "\x1b[31mred\x1b[0m" + `\x1b[2J`},
		{Text, "größe\u202e \x9b", "größe" + `\xe2\x80\xae \x9b`},
		{Binary, "\x1b[31m\x00\x9b\n", "\x1b[31m\x00\x9b\n"},
		{JSON, "{\"a\":\"\u202e\u009b\x7f\U000e0041\"}\n", `{"a":"\u202e\u009b\u007f\udb40\udc41"}` + "\n"},
	} {
		// In pieces of any size the same comes out.
		for size := 1; size <= len(c.in); size++ {
			var got strings.Builder
			w := New(&got, c.form)
			for from := 0; from < len(c.in); from += size {
				p := c.in[from:min(from+size, len(c.in))]
				if n, err := w.Write([]byte(p)); n != len(p) || err != nil {
					t.Fatal(n, err)
				}
			}
			if got.String() != c.want {
				t.Errorf("%q in pieces of %d bytes: %q, not %q", c.in, size, got.String(), c.want)
			}
		}
	}
}

func FuzzWriter(f *testing.F) {
	f.Add("a\x1b[31m\u202e\n", 3, 1)
	f.Fuzz(func(t *testing.T, s string, at, form int) {
		at, form = min(max(at, 0), len(s)), max(form, 0)%3
		var got strings.Builder
		w := New(&got, Form(form))
		w.WriteString(s[:at])
		w.WriteString(s[at:])
		for rest := got.String(); rest != ""; {
			n, safe := escape.Next(rest)
			if c := escape.Colour(rest); Form(form) == Coloured && c > 0 {
				n, safe = c, true
			}
			if !safe && rest[0] != '\n' && rest[0] != '\t' {
				t.Fatalf("%q passes as %q", s, got.String())
			}
			rest = rest[n:]
		}
		text, _ := json.Marshal(s)
		got.Reset()
		New(&got, JSON).Write(text)
		var back string
		if err := json.Unmarshal([]byte(got.String()), &back); err != nil || back != strings.ToValidUTF8(s, "\ufffd") && strings.ToValidUTF8(s, "") == s {
			t.Fatalf("%q is %q as JSON: %v", s, got.String(), err)
		}
	})
}
