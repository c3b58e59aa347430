// Package sql is a shell for SQL over running programs and recordings.
//
// It takes statements, of the command line, of a file or of a terminal, where it has a history and
// completion, runs them in a session of package schema, and writes results as tables, lines or
// JSON. cmd/ftrace calls it, with a catalog that it has opened. It knows no SQL but where a
// statement ends.
package sql

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/mattn/go-isatty"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/language"
)

// Options are how results are written, and what is run.
type Options struct {
	JSON  bool   // a line of JSON for each row
	Batch bool   // rows separated by tabs
	Query string // statements, that are run instead of what is read
}

// Output is where results go, what is wrong with a statement, and how the process ends by a signal.
type Output struct {
	Out, Err io.Writer
	Exit     func(status int)
}

// Run runs statements over a catalog: those of the options, or those that in has, which is asked
// for them if it is a terminal. It returns the status to exit with.
func Run(catalog *schema.Catalog, o Options, in *os.File, out Output) (status int, err error) {
	session, err := catalog.Session(context.Background())
	if err != nil {
		return 1, err
	}
	defer session.Close()
	s := &shell{session: session, catalog: catalog, Output: out, style: tableStyle}
	switch {
	case o.JSON:
		s.style = jsonStyle
	case o.Batch:
		s.style = batchStyle
	}
	if o.Query != "" {
		return s.script(o.Query), nil
	}
	if isatty.IsTerminal(in.Fd()) {
		s.timed = true
		return s.interact()
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return 1, err
	}
	return s.script(string(text)), nil
}

// shell runs statements and writes what they give.
type shell struct {
	session *schema.Session
	catalog *schema.Catalog
	Output
	style style
	timed bool // how many rows and how long is said, as mysql does on a terminal
}

// script runs statements until one fails.
func (s *shell) script(text string) int {
	list, rest := language.Split(text)
	if rest != "" {
		list = append(list, rest)
	}
	for _, statement := range list {
		if err := s.run(statement, s.style); err != nil {
			if isClosed(err) {
				return 0
			}
			fmt.Fprintln(s.Err, err)
			return 1
		}
	}
	return 0
}

// run runs a statement. Ctrl-C interrupts it.
func (s *shell) run(statement string, as style) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if trimmed, ok := strings.CutSuffix(strings.TrimSpace(statement), `\G`); ok {
		statement, as = trimmed, verticalStyle
	}
	began := time.Now()
	r, err := s.session.Query(ctx, statement, nil)
	if err != nil {
		return err
	}
	if len(r.Columns) == 0 {
		if s.timed {
			fmt.Fprintf(s.Out, "Query OK, %s affected (%.2f sec)\n", rows(int(r.Affected)), time.Since(began).Seconds())
			if r.Info != "" {
				fmt.Fprintln(s.Out, r.Info)
			}
			fmt.Fprintln(s.Out)
		}
		return nil
	}
	n, err := writeResult(s.Out, r, as)
	if err != nil || !s.timed {
		return err
	}
	if n == 0 {
		fmt.Fprintf(s.Out, "Empty set (%.2f sec)\n\n", time.Since(began).Seconds())
		return nil
	}
	fmt.Fprintf(s.Out, "%s in set (%.2f sec)\n\n", rows(n), time.Since(began).Seconds())
	return nil
}

func rows(n int) string {
	if n == 1 {
		return "1 row"
	}
	return fmt.Sprintf("%d rows", n)
}
