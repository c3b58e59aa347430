package main

import (
	"fmt"
	"strings"
	"testing"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/gocmd"
)

// TestSweepFlags: the verb's own flags are told from those of go test -c and of the tests.
func TestSweepFlags(t *testing.T) {
	o, flags := sweepFlags()
	a, err := command.Foreign(gocmd.ValueFlags).Parse(flags, strings.Fields("-time=3m -race -tags x ./... --p 3 -run T -always -mod=mod ./x -report r -func a.*;!b -- -test.short -p 9"))
	if err != nil {
		t.Fatal(err)
	}
	got := strings.TrimSpace(fmt.Sprintln(o.Time, a.Foreign, a.Rest, o.Parallel, o.Tests, o.Always, o.Report, o.Funcs, a.After))
	if want := "3m0s [-race -tags x -mod=mod] [./... ./x] 3 T true r a.*;!b [-test.short -p 9]"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
