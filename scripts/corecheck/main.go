// Command corecheck vets and staticchecks the packages that ftrace-wrap changes, with the core in
// them, for each supported release of Go and each target. A build tag keeps the core out of
// ordinary builds, so no other check sees it.
//
// Usage, from the repository of ftrace-wrap:
//
//	go run ./scripts/corecheck [-brief] [-vet] [-p PACKAGE]... [-target GOOS/GOARCH]... [TOOLCHAIN...]
//
// Each TOOLCHAIN is a value of GOTOOLCHAIN, such as go1.25.8; the default is local. The default
// packages and targets are all. Vet checks each target with each toolchain. Staticcheck, which
// takes longest, checks each target with the first toolchain, and the first target with each; with
// the others only packages of the standard library, since no other package differs between them.
// With -brief targets but the first are vetted with the first toolchain alone, and only packages
// runtime, syscall and internal/poll: these have what differs between targets.
//
// A copy of GOROOT, made of symbolic links, has the changed files of the standard library in the
// place of Go's own. The other packages are changed in the vendor folder of a module made for that.
// Findings are reported in files that are ours and in lines that the core changes, not in Go's own
// code. What staticcheck finds unused is reported if no release and no target uses it.
//
// The exit status is 0 if there is nothing to report.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/inject"
)

// staticcheckVersion is the one that .ci/run checks the rest with.
const staticcheckVersion = "v0.8.2"

// listFlag is a repeatable string flag.
type listFlag []string

func (l *listFlag) String() string     { return strings.Join(*l, ",") }
func (l *listFlag) Set(s string) error { *l = append(*l, s); return nil }

func main() {
	var packages, targets listFlag
	flag.Var(&packages, "p", "check this `package` (repeatable; default: all that are changed)")
	flag.Var(&targets, "target", "check for this `GOOS/GOARCH` (repeatable; default: all that are supported)")
	vetOnly := flag.Bool("vet", false, "vet, and no staticcheck")
	brief := flag.Bool("brief", false, "check targets but the first briefly")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	found, err := run(ctx, flag.Args(), targets, packages, *vetOnly, *brief)
	if err != nil {
		fmt.Fprintln(os.Stderr, "corecheck:", err)
		os.Exit(2)
	}
	for _, f := range found {
		fmt.Println(f)
	}
	if len(found) > 0 {
		os.Exit(1)
	}
}

// run checks packages for targets with toolchains; none means all of them, and the local toolchain.
func run(ctx context.Context, toolchains, targets, packages []string, vetOnly, brief bool) ([]string, error) {
	if len(toolchains) == 0 {
		toolchains = []string{"local"}
	}
	if len(targets) == 0 {
		targets = inject.Targets
	}
	std, others := inject.Packages()
	if len(packages) == 0 {
		packages = append(std, others...)
	}
	dir, err := os.MkdirTemp("", "corecheck-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var all findings
	w, err := newWorkspace(ctx, dir, toolchains, others)
	if err != nil {
		return nil, err
	}
	for i, toolchain := range toolchains {
		for j, target := range targets {
			vet, static := packages, packages
			switch {
			case brief && i > 0 && j > 0:
				continue
			case brief && j > 0:
				vet, static = []string{"runtime", "syscall", "internal/poll"}, nil
			case vetOnly || i > 0 && j > 0:
				static = nil
			case i > 0:
				static = slices.DeleteFunc(slices.Clone(packages), func(p string) bool { return slices.Contains(others, p) })
			}
			if err := w.check(ctx, toolchain, target, vet, static, &all); err != nil {
				return nil, fmt.Errorf("%s %s: %w", toolchain, target, err)
			}
		}
	}
	return all.report(), nil
}
