package main

import (
	"regexp"
	"slices"
	"strings"
)

// A difference is a test, package or program that ended otherwise than plainly.
type difference struct {
	key
	way        string // off or armed
	plain, got outcome
	flaky      bool   // it is not always the same plainly either
	again      string // how often it differed when re-run its own way, "" if it was not
	detail     string // output, for the reader
}

// compare lists what got has otherwise than plain, in the order of the keys.
func compare(way string, plain, got *suite) []*difference {
	var diffs []*difference
	for _, k := range union(plain.results, got.results) {
		p, g := plain.results.get(k), got.results.get(k)
		if p != g {
			d := &difference{key: k, way: way, plain: p, got: g, detail: got.output[k]}
			if g == missing || g == pass {
				d.detail = plain.output[k]
			}
			diffs = append(diffs, d)
		}
	}
	return unexplained(diffs)
}

// union returns the keys of both, sorted.
func union(a, b results) []key {
	var keys []key
	for k := range a {
		keys = append(keys, k)
	}
	for k := range b {
		if _, ok := a[k]; !ok {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, compareKeys)
	return keys
}

func compareKeys(a, b key) int {
	if c := strings.Compare(a.Package, b.Package); c != 0 {
		return c
	}
	return strings.Compare(a.Test, b.Test)
}

// unexplained drops the differences that follow from others: a package or parent test whose outcome
// changed as that of one of its tests did, and the tests of a package that does not build one of
// the ways.
func unexplained(diffs []*difference) []*difference {
	type change struct {
		key
		plain, got outcome
	}
	below := map[change]bool{} // changes that happen below this key
	builds := map[string]bool{}
	for _, d := range diffs {
		for _, p := range parents(d.key) {
			below[change{p, d.plain, d.got}] = true
		}
		if d.Test == "" && (d.plain == noBuild || d.got == noBuild) {
			builds[d.Package] = true
		}
	}
	return slices.DeleteFunc(diffs, func(d *difference) bool {
		absent := d.plain == missing || d.got == missing
		if absent {
			return d.Test != "" && builds[d.Package] // a missing parent does not hide that its children are
		}
		return below[change{d.key, d.plain, d.got}]
	})
}

// parents are the keys of the tests that k is a subtest of, and of its package.
func parents(k key) []key {
	var all []key
	for k.Test != "" {
		k.Test = k.Test[:max(strings.LastIndexByte(k.Test, '/'), 0)]
		all = append(all, k)
	}
	return all
}

// A rerun is a go test command that repeats what differs in a package.
type rerun struct{ pkg, run string }

// reruns are the commands that repeat the tests in diffs: whole packages where the package itself
// differs (run is then the given pattern), otherwise the top-level tests.
func reruns(diffs []*difference, run string) []rerun {
	tests := map[string][]string{}
	whole := map[string]bool{}
	for _, d := range diffs {
		whole[d.Package] = whole[d.Package] || d.Test == ""
		tests[d.Package] = append(tests[d.Package], regexp.QuoteMeta(d.top()))
	}
	var all []rerun
	for pkg, names := range tests {
		slices.Sort(names)
		names = slices.Compact(names)
		r := rerun{pkg, "^(" + strings.Join(names, "|") + ")$"}
		if whole[pkg] {
			r.run = run
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b rerun) int { return strings.Compare(a.pkg, b.pkg) })
	return all
}

// markFlaky marks the differences whose test had, in a plain repetition, another outcome than the
// first.
func markFlaky(diffs []*difference, repeated results) {
	for _, d := range diffs {
		if repeated.get(d.key) != d.plain {
			d.flaky = true
		}
	}
}
