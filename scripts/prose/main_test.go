package main

import (
	"fmt"
	"strings"
	"testing"
)

var long = strings.TrimSpace(strings.Repeat("word ", 30))

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		name, ext, source string
		want              string // the lines with findings
	}{
		{"good", ".md", "f reports whether x is nil.\n", ""},
		{"phrases", ".md", "f sa_ys whether it is.\nThe how-ma_nyeth.\nIt com_es behi_nd the name.\n", "1 2 3"},
		{"a page's long line", ".md", long + "\n", "1"},
		{"what may be long", ".md", "| " + long + " |\n\n    " + long + "\n\n```\n" + long + "\n```\n", ""},
		{"a comment", ".go", "package p\n\n// f sa_ys whether it is.\nfunc f()\n", "3"},
		{"a text", ".go", "package p\n\nconst s = `\nit sa_ys whether`\n", "4"},
		{"a name", ".go", "package p\n\nvar ami_dst int\n", ""},
		{"a long comment", ".go", "package p\n\n// " + long + "\nvar x int // " + long + "\n", "3"},
		{"tabs", ".go", "package p\n\nfunc f() {\n\t\t\t// " + strings.Repeat("x ", 43) + "y\n}\n", "4"},
		{"an example's output", ".go", "package p\n\nfunc f() {\n\t// Output:\n\t// ami_dst\n\t// " + long + "\n}\n", ""},
		{"behind a pointer", ".go", "package p\n\n// What is behind a pointer is not shown.\n", ""},
		{"values behind pointers", ".go", "package p\n\n// Values behind pointers are not shown.\n", ""},
	} {
		var got []string
		// A "_" keeps what the test is about from being found in the test.
		for _, f := range checkers[test.ext](strings.ReplaceAll(test.source, "_", "")) {
			got = append(got, fmt.Sprint(f.line))
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%s: found something on lines %q, want %q", test.name, got, test.want)
		}
	}
}

func TestFill(t *testing.T) {
	for _, test := range []struct{ name, ext, source string }{
		{"paragraph", ".md", "# Title\n\n" + long + "\nshort\n\n* " + long + "\n* short\n"},
		{"comment", ".go", "package p\n\n// " + long + "\n//\n//\tcode\n//\n// more\n\nfunc f() {\n\t// " + long + "\n}\n"},
	} {
		got := fillers[test.ext](test.source)
		if found := checkers[test.ext](got); len(found) > 0 {
			t.Errorf("%s: still wrong: %v\n%s", test.name, found, got)
		}
		if again := fillers[test.ext](got); again != got {
			t.Errorf("%s: filled twice it is another:\n%s\n%s", test.name, got, again)
		}
		words := func(s string) string { return strings.Join(strings.Fields(strings.ReplaceAll(s, "//", "")), " ") }
		if words(got) != words(test.source) {
			t.Errorf("%s: other words:\n%s", test.name, got)
		}
	}
	output := "package p\n\nfunc f() {\n\t// Output:\n\t// x\n\t// " + long + "\n}\n"
	if got := fillGo(output); got != output {
		t.Errorf("got %q", got)
	}
	const short = "Some lines\nthat are short\nstay as they are.\n"
	if got := fillPage(short); got != short {
		t.Errorf("got %q", got)
	}
}
