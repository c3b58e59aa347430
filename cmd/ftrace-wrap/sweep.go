package main

import (
	"fmt"

	"github.com/ftrace-wrap/ftrace-wrap/internal/sweep"
)

// sweepVerb is "ftrace-wrap sweep [FLAGS] [PACKAGES] [-- TEST FLAGS]". The status is 1 if there
// were panics or hangs, 2 after an error.
func sweepVerb(args []string) (status int, err error) {
	bad, err := sweep.Run(stdout, stderr, args)
	switch {
	case err != nil:
		return 2, fmt.Errorf("sweep: %w", err)
	case bad:
		return 1, nil
	}
	return 0, nil
}
