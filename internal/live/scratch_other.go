//go:build !linux

package live

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/ftrace-wrap/ftrace-wrap/internal/scratch"
)

// Scratch makes a directory in which the process can write a recording for this one.
func (p *Process) Scratch() (*Scratch, error) {
	dir, remove, err := scratch.New()
	if err != nil {
		return nil, err
	}
	recording := filepath.Join(dir, "recording")
	return &Scratch{Inside: recording, Here: recording, Remove: remove}, nil
}

// Foreign reports whether the process can't be told to write just anywhere for this one. Only this
// user's processes are looked into, and they see the same files.
func (p *Process) Foreign() bool { return false }

// Files returns a function that says what descriptors of the process are: it has no names for them.
func (p *Process) Files() func(descriptor uint64) string { return func(uint64) string { return "" } }

// OpenDirectory returns an error: all processes see the same files.
func (p *Process) OpenDirectory() (name string, dir *os.File, err error) {
	return "", nil, fmt.Errorf("process %d records to %s, which is not there", p.PID, p.Directory())
}
