package gentest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// caseTime is how long a case may take.
const caseTime = 10 * time.Second

// choose runs each case, and returns those that pass and that together reach all statements of the
// function that any of them reaches. The sources stay as they are: the go command is given the test
// as an overlay.
func choose(f *function, file *testFile, w *writer, cases []*testCase, left *leftOut, o *Options) ([]*testCase, error) {
	temp, remove, err := temporary()
	if err != nil {
		return nil, err
	}
	defer remove()
	program, err := build(f, file, w, cases, temp, o.Build)
	if err != nil {
		return nil, err
	}
	var passing []*testCase
	reached := map[*testCase]map[string]int{}
	statements, union := 0, map[string]int{}
	for _, tc := range cases {
		blocks, total, err := run(f, file, tc, program, temp)
		if err != nil {
			left.add("it does not pass: " + err.Error())
			continue
		}
		passing, reached[tc], statements = append(passing, tc), blocks, total
		for block, n := range blocks {
			union[block] = n
		}
	}
	f.statements = statements
	for _, n := range union {
		f.reached += n
	}
	if o.All {
		return passing, nil
	}
	return fewest(passing, reached, left), nil
}

// fewest returns cases that together reach what all reach: those that the file has, then each time
// the one that adds most, of equal ones the shortest.
func fewest(cases []*testCase, reached map[*testCase]map[string]int, left *leftOut) (chosen []*testCase) {
	done := map[string]bool{}
	gain := func(tc *testCase) (n int) {
		for block, statements := range reached[tc] {
			if !done[block] {
				n += statements
			}
		}
		return n
	}
	cases = slices.DeleteFunc(slices.Clone(cases), func(tc *testCase) bool {
		if tc.there {
			chosen = append(chosen, tc)
			for block := range reached[tc] {
				done[block] = true
			}
		}
		return tc.there
	})
	for len(cases) > 0 {
		best := slices.MaxFunc(cases, func(a, b *testCase) int {
			return cmp.Or(cmp.Compare(gain(a), gain(b)), cmp.Compare(len(b.text()), len(a.text())))
		})
		if gain(best) == 0 && len(chosen) > 0 {
			break
		}
		chosen = append(chosen, best)
		for block := range reached[best] {
			done[block] = true
		}
		cases = slices.DeleteFunc(slices.Clone(cases), func(tc *testCase) bool { return tc == best })
	}
	for range cases {
		left.add("others reach the same statements (-all keeps it)")
	}
	return chosen
}

// build builds the package's tests with all cases in it.
func build(f *function, file *testFile, w *writer, cases []*testCase, temp string, flags []string) (program string, err error) {
	src, err := file.merged(w, cases)
	if err != nil {
		return "", err
	}
	overlay, err := file.overlay(src, temp)
	if err != nil {
		return "", err
	}
	program = filepath.Join(temp, "tests.exe")
	if out, err := file.goTest(slices.Concat([]string{"-c", "-cover", "-coverpkg=.", overlay, "-o", program}, flags)); err != nil {
		return "", fmt.Errorf("building the test of %s: %v\n%s", f.shown, err, out)
	}
	return program, nil
}

// run runs a case. It returns the blocks of the function that it reaches, with how many statements
// each has, and how many statements the function has.
func run(f *function, file *testFile, tc *testCase, program, temp string) (blocks map[string]int, statements int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), caseTime)
	defer cancel()
	profile := filepath.Join(temp, "profile")
	name := regexp.QuoteMeta(strings.ReplaceAll(tc.name, " ", "_"))
	cmd := exec.CommandContext(ctx, program, "-test.run=^"+file.test+"$/^"+name+"$", "-test.coverprofile="+profile, "-test.v")
	cmd.Dir = filepath.Dir(f.file)
	out, err := cmd.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return nil, 0, fmt.Errorf("no end after %v", caseTime)
	case err != nil:
		return nil, 0, fmt.Errorf("%s", complaint(out, err))
	case !bytes.Contains(out, []byte("--- PASS: "+file.test+"/")):
		return nil, 0, fmt.Errorf("it did not run")
	}
	text, err := os.ReadFile(profile)
	if err != nil {
		return nil, 0, err
	}
	blocks = map[string]int{}
	for line := range strings.Lines(string(text)) {
		// path/file.go:12.3,14.5 2 1: from, to, statements, count
		name, rest, ok := strings.Cut(strings.TrimSpace(line), ".go:")
		fields := strings.Fields(rest)
		if !ok || len(fields) != 3 || filepath.Base(name)+".go" != filepath.Base(f.file) {
			continue
		}
		from, _, _ := strings.Cut(fields[0], ".")
		at, _ := strconv.Atoi(from)
		n, _ := strconv.Atoi(fields[1])
		if at < f.first || at > f.last {
			continue
		}
		statements += n
		if fields[2] != "0" {
			blocks[fields[0]] = n
		}
	}
	return blocks, statements, nil
}

// complaint returns what a test says when it fails.
func complaint(out []byte, err error) string {
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if at := strings.Index(line, "_test.go:"); at >= 0 {
			if _, said, ok := strings.Cut(line[at:], ": "); ok {
				return said
			}
		}
		if strings.HasPrefix(line, "panic: ") {
			said, _, _ := strings.Cut(line, " [recovered")
			return said
		}
	}
	return err.Error()
}
