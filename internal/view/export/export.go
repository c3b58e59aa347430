// Package export writes recordings in the formats of other tools.
//
// It takes the calls that package walk puts together, once through, and writes them in a [Format]:
// to a writer, or to a new directory. cmd/ftrace calls it, and opens what it writes to. Values are
// text that the recording's printer made; nothing of a program is written that is not valid where
// it stands: JSON, protobuf, lines.
package export

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

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
var Names = []string{"perfetto", "chrome", "pprof", "folded", "speedscope", "json", "mermaid", "otlp", "parquet", "arrow", "uftrace", "ctf"}

// A Format is that of another tool.
type Format struct {
	Form  screen.Form                               // of what is written; of a directory nothing
	write func(from walk.Source, out *output) error // nil: it is a directory
	dir   func(from walk.Source, dir string) error
}

var formats = map[string]Format{
	"json":       {Form: screen.JSON, write: func(from walk.Source, out *output) error { return text.JSON(from, out) }},
	"chrome":     {Form: screen.JSON, write: exportChrome},
	"perfetto":   {Form: screen.Binary, write: exportPerfetto},
	"folded":     {Form: screen.Text, write: exportFolded},
	"pprof":      {Form: screen.Binary, write: exportPprof},
	"speedscope": {Form: screen.JSON, write: exportSpeedscope},
	"mermaid":    {Form: screen.Text, write: exportMermaid},
	"otlp":       {Form: screen.JSON, write: exportOTLP},
	"parquet":    {dir: exportTables(parquetFormat)},
	"arrow":      {dir: exportTables(arrowFormat)},
	"uftrace":    {dir: exportUftrace},
	"ctf":        {dir: exportCTF},
}

// Named returns the format that has one of the Names.
func Named(name string) Format { return formats[name] }

// IsDir reports whether a format is a directory.
func (f Format) IsDir() bool { return f.dir != nil }

// Write writes a recording to out, which lets pass what the format's Form is. Calls are spans of
// OpenTelemetry if they lasted for least.
func (f Format) Write(from walk.Source, out io.Writer, least time.Duration) error {
	to := &output{to: out, least: least}
	return cmp.Or(f.write(from, to), to.err)
}

// An output is what a format is written to. It keeps the first error, after which nothing is
// written, and which ends a walk: a full disk is noticed when it is full.
type output struct {
	to    io.Writer
	err   error
	least time.Duration // how long calls must last
}

func (o *output) Write(b []byte) (n int, err error) {
	if o.err == nil {
		n, o.err = o.to.Write(b)
	}
	return n, o.err
}

// fits reports whether all was written so far.
func (o *output) fits() bool { return o.err == nil }

// WriteDir writes a recording to a directory that is not there yet, and is there when it is
// complete.
func (f Format) WriteDir(from walk.Source, dir string) error {
	if _, err := os.Lstat(dir); err == nil {
		return fmt.Errorf("%s is there already: -o names a new directory", dir)
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), ".export-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	made := filepath.Join(temp, "made")
	if err := f.dir(from, made); err != nil {
		return err
	}
	return os.Rename(made, dir)
}
