package main

import (
	"fmt"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/inject"
	"github.com/ftrace-wrap/ftrace-wrap/internal/version"
)

// versionVerb is "ftrace-wrap version".
func versionVerb([]string) (status int, err error) {
	fmt.Fprint(stdout, version.String("ftrace-wrap"))
	fmt.Fprintf(stdout, "instruments programs of %s\n", strings.Join(inject.Releases, ", "))
	return 0, nil
}
