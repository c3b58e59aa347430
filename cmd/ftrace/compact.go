package main

import (
	"fmt"

	"github.com/ftrace-wrap/ftrace-wrap/internal/view/compact"
)

// compactCommand is "ftrace compact [-o DIR] [DIR]".
func compactCommand(args []string) int {
	o := newOptions("compact")
	c := compact.Options{Progress: bar("compact"), Warn: stderr}
	o.flags.StringVar(&c.To, "o", "", "")
	args, err := o.parse(args)
	if err != nil {
		return fail("compact", err)
	}
	if o.rules != "" || o.goroutines != "" || o.from != 0 || o.to != 0 || o.children {
		return fail("compact", usagef("all of a recording is compacted, with those of children: ftrace export -format ctf copies a part"))
	}
	r, err := o.open(args)
	if err != nil {
		return fail("compact", err)
	}
	before, after, err := compact.Make(r, c)
	if err != nil {
		return fail("compact", err)
	}
	if o.json {
		fmt.Fprintf(stdout, "{\"before\":%d,\"after\":%d}\n", before, after)
	} else {
		fmt.Fprintf(stdout, "%d bytes, were %d: %.0f %%\n", after, before, 100*float64(after)/float64(max(before, 1)))
	}
	return 0
}
