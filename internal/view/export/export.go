// Package export writes recordings in the formats of other tools.
//
// It takes the calls that package walk puts together, once through, and writes them in a [Format]:
// to a writer, or to a new directory. cmd/ftrace calls it, and opens what it writes to. Values are
// text that the recording's printer made; nothing of a program is written that is not valid where
// it stands: JSON, protobuf, lines.
package export

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/ftrace-wrap/ftrace-wrap/internal/screen"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/text"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

type (
	walker = walk.Walker[struct{}, struct{}]
	stack  = walk.Stack[struct{}, struct{}]
	frame  = walk.Frame[struct{}]
)

// Names are the formats' names.
var Names = []string{"perfetto", "chrome", "pprof", "folded", "speedscope", "json", "mermaid", "uftrace", "ctf"}

// A Format is that of another tool.
type Format struct {
	Form  screen.Form                                 // of what is written; of a directory nothing
	write func(from walk.Source, out io.Writer) error // nil: it is a directory
	dir   func(from walk.Source, dir string) error
}

var formats = map[string]Format{
	"json":       {Form: screen.JSON, write: text.JSON},
	"chrome":     {Form: screen.JSON, write: exportChrome},
	"perfetto":   {Form: screen.Binary, write: exportPerfetto},
	"folded":     {Form: screen.Text, write: exportFolded},
	"pprof":      {Form: screen.Binary, write: exportPprof},
	"speedscope": {Form: screen.JSON, write: exportSpeedscope},
	"mermaid":    {Form: screen.Text, write: exportMermaid},
	"uftrace":    {dir: exportUftrace},
	"ctf":        {dir: exportCTF},
}

// Named returns the format that has one of the Names.
func Named(name string) Format { return formats[name] }

// IsDir reports whether a format is a directory.
func (f Format) IsDir() bool { return f.dir != nil }

// Write writes a recording to out, which lets pass what the format's Form is.
func (f Format) Write(from walk.Source, out io.Writer) error { return f.write(from, out) }

// WriteDir writes a recording to a directory that is not there yet.
func (f Format) WriteDir(from walk.Source, dir string) error {
	if _, err := os.Lstat(dir); err == nil {
		return fmt.Errorf("%s is there already: -o names a new directory", dir)
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return f.dir(from, dir)
}
