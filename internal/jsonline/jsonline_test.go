package jsonline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestObject(t *testing.T) {
	for _, test := range []struct {
		line       string
		start, end int
		ok         bool
	}{
		{`{}`, 0, 2, true},
		{" \t{\"a\":1}\r\n", 2, 9, true},
		{`{"a":[1,-2.5e+3,true,false,null,{"b":"\u00e9\\\""}]}`, 0, 52, true},
		{`{ "a" : [ ] , "b" : { } }`, 0, 25, true},
		{strings.Repeat(`{"a":`, 62) + "{}" + strings.Repeat("}", 62), 0, 62*6 + 2, true},
		{line: ``}, {line: ` `}, {line: `{`}, {line: `{}x`}, {line: `{}{}`}, {line: `[]`}, {line: `"a"`}, {line: `{a:1}`},
		{line: `{"a"}`}, {line: `{"a":}`}, {line: `{"a":1,}`}, {line: `{,}`}, {line: `{"a":01}`}, {line: `{"a":1.}`},
		{line: `{"a":-}`}, {line: `{"a":1e}`}, {line: `{"a":.5}`}, {line: `{"a":+1}`}, {line: `{"a":tru}`}, {line: `{"a":nul`},
		{line: `{"a":"\x"}`}, {line: `{"a":"\u12g4"}`}, {line: `{"a":"\u123`}, {line: `{"a":"\`}, {line: "{\"a\":\"\n\"}"},
		{line: strings.Repeat(`{"a":`, 70) + "{}" + strings.Repeat("}", 70)}, // too deep
	} {
		start, end, ok := Object([]byte(test.line))
		if ok != test.ok || ok && (start != test.start || end != test.end) {
			t.Errorf("Object(%q) = %d, %d, %t, want %d, %d, %t", test.line, start, end, ok, test.start, test.end, test.ok)
		}
	}
}

// What is an object is what package encoding/json takes for one.
func FuzzObject(f *testing.F) {
	for _, line := range []string{`{"a":[1,-2.5e+3,true,null,{"b":"\u00e9\\\""}]}`, ` {} `, `{"a":01}`, `{"a":"\`, `{"":[[],{}]}`, `{"a":1}}`} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.Count(line, []byte("["))+bytes.Count(line, []byte("{")) > deepest-2 {
			return
		}
		start, end, ok := Object(line)
		trimmed := bytes.Trim(line, " \t\r\n")
		if want := json.Valid(line) && trimmed[0] == '{'; ok != want {
			t.Fatalf("Object(%q) = %t, want %t", line, ok, want)
		}
		if ok && !bytes.Equal(line[start:end], trimmed) {
			t.Errorf("Object(%q) is %q, want %q", line, line[start:end], trimmed)
		}
	})
}

// attributes returns what [Attributes] make of rest, a line each.
func attributes(rest []byte) string {
	var b strings.Builder
	var a Attributes
	for a.Of(rest); a.Next(); {
		for i := range a.Groups() {
			fmt.Fprintf(&b, "%s.", a.Group(i))
		}
		fmt.Fprintf(&b, "%s=%s\n", a.Key, a.Value)
	}
	return b.String()
}

func TestAttributes(t *testing.T) {
	deep := strings.Repeat(`"g":{`, 17) + `"a":1` + strings.Repeat("}", 17)
	for _, test := range []struct{ rest, want string }{
		{`}`, ""},
		{`,"a":1,"b":"two","c":"two words","d":"","e":"x=y","f":"\n"}`, "a=1\nb=two\nc=\"two words\"\nd=\"\"\ne=\"x=y\"\nf=\"\\n\"\n"},
		{`,"g":{"a":1,"h":{"b":[1,{"x":2}]},"c":null},"d":true}`, "g.a=1\ng.h.b=[1,{\"x\":2}]\ng.c=null\nd=true\n"},
		{`,"g":{},"a":1}`, "a=1\n"},
		{`,"a":1}}},"b":{"c":2}}`, "a=1\nb={\"c\":2}\n"},         // more ends than groups
		{`,"a":nope,"b":1}`, "a=nope,\"b\":1}\n"},                // no JSON
		{`,"a":"half`, "a=\"half\n"},                             //
		{`,"a`, ""},                                              // not even a key
		{"," + deep, strings.Repeat("g.", 16) + "g={\"a\":1}\n"}, // more groups than are kept
	} {
		if diff := cmp.Diff(test.want, attributes([]byte(test.rest))); diff != "" {
			t.Errorf("attributes of %s (-want +got):\n%s", test.rest, diff)
		}
	}
}

// What log/slog writes is read as its text handler writes it, where nothing needs quotes.
func TestAttributesOfSlog(t *testing.T) {
	var text, line bytes.Buffer
	for _, h := range []slog.Handler{slog.NewTextHandler(&text, nil), slog.NewJSONHandler(&line, nil)} {
		slog.New(h).With("a", 1).WithGroup("g").Info("m", "b", "two", slog.Group("h", "c", true, "d", 2.5), "e", -3)
	}
	_, want, _ := strings.Cut(text.String(), " msg=m ")
	_, rest, _ := strings.Cut(line.String(), `"msg":"m"`)
	if got := strings.ReplaceAll(attributes([]byte(rest)), "\n", " "); strings.TrimSpace(got) != strings.TrimSpace(want) {
		t.Errorf("attributes: %s, want %s", got, want)
	}
}

// Attributes end whatever they are of, and are pieces of it, in order.
func FuzzAttributes(f *testing.F) {
	for _, rest := range []string{`,"a":1,"g":{"b":"two"}}`, `,"a":nope`, `,"a":"\`, `}}{"a":{"b":`, `"a"{"b"{"c":"d`} {
		f.Add([]byte(rest))
	}
	f.Fuzz(func(t *testing.T, rest []byte) {
		var a Attributes
		at := 0
		for a.Of(rest); a.Next(); {
			for i := range a.Groups() {
				if !bytes.Contains(rest, a.Group(i)) {
					t.Fatalf("group %q of %q", a.Group(i), rest)
				}
			}
			for _, piece := range [][]byte{a.Key, a.Value} {
				n := bytes.Index(rest[at:], piece)
				if n < 0 {
					t.Fatalf("%q is not in the rest of %q from %d on", piece, rest, at)
				}
				at += n
			}
		}
	})
}

func BenchmarkObject(b *testing.B) {
	line := []byte(`{"time":"2026-01-02T15:04:05.000000001Z","level":"INFO","msg":"request done","method":"GET","status":200,"took":0.25}`)
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		if _, _, ok := Object(line); !ok {
			b.Fatal("not an object")
		}
	}
}
