// Package words makes parts of messages, and takes texts apart: numbers of things, what a misspelt
// name may have meant, regular expressions.
package words

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/ftrace-wrap/ftrace-wrap/internal/rule"
)

// Count returns "1 run" or "2 runs".
func Count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprint(n, " ", what)
}

// Or returns "a, b or c".
func Or(list []string) string {
	last := len(list) - 1
	if last < 1 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:last], ", ") + " or " + list[last]
}

// Near returns the names that name may be a misspelling of, at most three, the nearest first. Of a
// name with dots, such as that of a method, the last part counts.
func Near(name string, names []string) []string {
	distance := map[string]int{}
	var found []string
	for _, n := range names {
		last := strings.TrimSuffix(n, "[...]")
		last = last[strings.LastIndexByte(last, '.')+1:]
		d := rule.Distance(name, last)
		if d <= max(min(2, len(name)-1), len(name)/3) || len(name) > 2 && strings.Contains(strings.ToLower(last), strings.ToLower(name)) {
			distance[n] = d
			found = append(found, n)
		}
	}
	slices.SortStableFunc(found, func(a, b string) int { return distance[a] - distance[b] })
	return found[:min(3, len(found))]
}

// Regexp returns a function that compiles a regular expression when it is first called. Compiled as
// packages are initialised, all of them would delay each verb, and each step of a build.
func Regexp(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
