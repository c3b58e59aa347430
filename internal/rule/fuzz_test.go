package rule_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/rule"
)

// FuzzParse checks that no text breaks Parse or Match, that faults lie in the
// text, and that the clauses' own texts mean the same again.
func FuzzParse(f *testing.F) {
	name := "net/http.(*Client).Do"
	for _, rules := range []string{
		"", "off", "on", "main.*;!main.noisy # no\npkg:net/...=call,min=1ms",
		"a=redact=card+pin-code;b=deep,redact=off",
		"a & !b = deep, first=10, depth=2, tree, in=main.*, after=b, rate=10/s",
		"file:C:/x/*.go:10-80 & bin:/usr/*", "x.Map[...];...;*a*a*a*a*b", "=;&;!;a=agrs;./...",
	} {
		f.Add(rules, "net/http", name, "/go/src/net/http/client.go", 7)
	}
	f.Fuzz(func(t *testing.T, text, path, name, file string, line int) {
		clauses, err, ok := rule.Parse(text)
		if !ok {
			if err.Offset < 0 || err.Length < 0 || err.Offset+err.Length > len(text) || err.Message == "" {
				t.Fatalf("Parse(%q): fault %+v", text, err)
			}
			return
		}
		fn := rule.Func{Package: path, ImportPath: "example.com/" + path, Name: name, File: file, Line: line, Binary: file}
		rule.Decide(clauses, &fn)
		var texts []string
		for i := range clauses {
			clauses[i].Match(&fn)
			texts = append(texts, clauses[i].Text)
		}
		again, err, ok := rule.Parse(strings.Join(texts, ";"))
		if !ok {
			t.Fatalf("Parse(%q) of the texts of %q: %v", texts, text, err)
		}
		if diff := diff(clauses, again); diff != "" {
			t.Fatalf("Parse(%q) and its texts differ:\n%s", text, diff)
		}
	})
}

// FuzzMin compares the durations with those of package time.
func FuzzMin(f *testing.F) {
	for _, text := range []string{"1ms", "1.5s", "1h2m.5s", "250\u00b5s", "0.123456789012s"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ContainsAny(text, "+-;#,\n\t\v\f\r ") {
			return
		}
		want, err := time.ParseDuration(text)
		clauses, _, ok := rule.Parse("f=min=" + text)
		if ok != (err == nil) {
			t.Fatalf("min=%q: ok is %v, but time says %v", text, ok, err)
		}
		// Hours have more digits than are read.
		if ok && !strings.Contains(text, ".") && clauses[0].Min != int64(want) {
			t.Fatalf("min=%q = %d, want %d", text, clauses[0].Min, want)
		}
	})
}

// A pattern of many stars that fails at the end is what makes a matcher that
// tries every split take exponential time.
func TestMatchTime(t *testing.T) {
	fn := rule.Func{Package: "main", Name: strings.Repeat("a", 2000)}
	done := make(chan bool, 1)
	go func() {
		done <- rule.MatchFunc(strings.Repeat("a*", 500)+"b", &fn) ||
			rule.MatchPackage(strings.Repeat("a...", 500)+"b", fn.Name)
	}()
	select {
	case matched := <-done:
		if matched {
			t.Error("matched")
		}
	case <-time.After(time.Minute):
		t.Fatal("not done after a minute")
	}
}
