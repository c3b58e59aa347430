package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/mattn/go-isatty"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema"
	"github.com/ftrace-wrap/ftrace-wrap/internal/screen"
)

// sqlCommand is "ftrace sql [FLAGS] [PID|NAME|RECORDING ...] [QUERY]".
func sqlCommand(args []string) int {
	flags := flag.NewFlagSet("sql", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	asJSON := flags.Bool("json", false, "")
	batch := flags.Bool("batch", false, "")
	file := flags.String("test", "", "")
	options := recordingFlags(flags)
	rest, err := parseMixed(flags, args)
	if err == nil && *asJSON && *batch {
		err = usagef("-json and -batch do not go together")
	}
	if err != nil {
		return fail("sql", err)
	}
	query := ""
	if n := len(rest); n > 0 && strings.ContainsAny(strings.TrimSpace(rest[n-1]), " ;\n\t") && !isDir(rest[n-1]) {
		query, rest = rest[n-1], rest[:n-1]
	}
	catalog, err := openCatalog(rest, *options)
	if err != nil {
		return fail("sql", err)
	}
	defer catalog.Close()
	if err := noneFound(catalog, rest); err != nil {
		return fail("sql", err)
	}
	catalog.Test = *file
	session, err := catalog.Session(context.Background())
	if err != nil {
		return fail("sql", err)
	}
	defer session.Close()
	s := &sqlShell{session: session, catalog: catalog, out: stdout, style: tableStyle}
	switch {
	case *asJSON:
		s.style, s.out = jsonStyle, stdout.As(screen.JSON)
	case *batch:
		s.style = batchStyle
	}
	switch {
	case query != "":
		return s.script(query)
	case isatty.IsTerminal(os.Stdin.Fd()):
		s.timed = true
		return s.interact()
	}
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return fail("sql", err)
	}
	return s.script(string(text))
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// recordingFlags adds the flags that say how much of a recording is kept.
func recordingFlags(flags *flag.FlagSet) *schema.RecordingOptions {
	o := &schema.RecordingOptions{}
	flags.IntVar(&o.HistoryLong, "history-long", 0, "")
	flags.IntVar(&o.History, "history", 0, "")
	return o
}

// parseMixed reads flags and other arguments in any order, and returns the others.
func parseMixed(flags *flag.FlagSet, args []string) ([]string, error) {
	o := &options{flags: flags, colour: "auto"}
	return o.parse(args)
}

// sqlShell runs statements and writes what they give.
type sqlShell struct {
	session *schema.Session
	catalog *schema.Catalog
	out     io.Writer
	style   sqlStyle
	timed   bool // how many rows and how long is said, as mysql does on a terminal
}

// script runs statements until one fails.
func (s *sqlShell) script(text string) int {
	list, rest := schema.Split(text)
	if rest != "" {
		list = append(list, rest)
	}
	for _, statement := range list {
		if err := s.run(statement, s.style); err != nil {
			if isClosed(err) {
				return 0
			}
			fmt.Fprintln(stderr, err)
			return 1
		}
	}
	return 0
}

// run runs a statement. Ctrl-C interrupts it.
func (s *sqlShell) run(statement string, style sqlStyle) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if trimmed, ok := strings.CutSuffix(strings.TrimSpace(statement), `\G`); ok {
		statement, style = trimmed, verticalStyle
	}
	began := time.Now()
	r, err := s.session.Query(ctx, statement, nil)
	if err != nil {
		return err
	}
	if len(r.Columns) == 0 {
		if s.timed {
			fmt.Fprintf(s.out, "Query OK, %s affected (%.2f sec)\n", rows(int(r.Affected)), time.Since(began).Seconds())
			if r.Info != "" {
				fmt.Fprintln(s.out, r.Info)
			}
			fmt.Fprintln(s.out)
		}
		return nil
	}
	n, err := writeResult(s.out, r, style)
	if err != nil || !s.timed {
		return err
	}
	if n == 0 {
		fmt.Fprintf(s.out, "Empty set (%.2f sec)\n\n", time.Since(began).Seconds())
		return nil
	}
	fmt.Fprintf(s.out, "%s in set (%.2f sec)\n\n", rows(n), time.Since(began).Seconds())
	return nil
}

func rows(n int) string {
	if n == 1 {
		return "1 row"
	}
	return fmt.Sprintf("%d rows", n)
}
