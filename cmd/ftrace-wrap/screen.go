package main

import (
	"os"

	"github.com/ftrace-wrap/ftrace-wrap/internal/screen"
)

// What this program prints itself goes through these, so that names in sources never reach a terminal as they are. Programs that it runs have os.Stdout and os.Stderr.
var (
	stdout = screen.New(os.Stdout, screen.Text)
	stderr = screen.New(os.Stderr, screen.Text)
)
