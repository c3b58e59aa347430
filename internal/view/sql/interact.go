package sql

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/peterh/liner"

	"github.com/ftrace-wrap/ftrace-wrap/internal/ownfile"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/language"
)

const helpText = `Statements end with ; or with \G, which writes a line for each column.

  show tables;            what there is
  describe threads;       the columns of a table
  use NAME;               another schema: a recording's, or test
  help, \h                this
  quit, exit, \q, Ctrl-D  leave
  Ctrl-C                  give up the line, or the statement that is run

The tables and what they mean: docs/performance-schema.md.

`

// interact reads statements from the terminal, with a history and completion.
func (s *shell) interact() (status int, err error) {
	line := liner.NewLiner()
	defer line.Close()
	line.SetCtrlCAborts(true)
	// What ends the shell must not leave the terminal without an echo.
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	defer signal.Stop(ended)
	go func() {
		<-ended
		line.Close()
		s.Exit(128 + int(syscall.SIGTERM))
	}()
	words := s.catalog.Words()
	line.SetWordCompleter(func(text string, pos int) (head string, found []string, tail string) {
		return complete(words, text, pos)
	})
	history := historyFile()
	if f, err := os.Open(history); err == nil {
		line.ReadHistory(f)
		f.Close()
	}
	defer func() {
		if f, err := ownfile.Create(history); err == nil {
			line.WriteHistory(f)
			f.Close()
		}
	}()
	fmt.Fprint(s.Out, "Statements end with ; or \\G. help says more.\n\n")
	pending := ""
	for {
		prompt := "ftrace> "
		if pending != "" {
			prompt = "     -> "
		}
		text, err := line.Prompt(prompt)
		switch {
		case errors.Is(err, liner.ErrPromptAborted):
			pending = ""
			continue
		case errors.Is(err, io.EOF):
			fmt.Fprintln(s.Out, "Bye")
			return 0, nil
		case err != nil:
			return 1, err
		}
		if pending == "" {
			switch strings.ToLower(strings.TrimRight(strings.TrimSpace(text), ";")) {
			case "":
				continue
			case "quit", "exit", `\q`:
				return 0, nil
			case "help", `\h`, "?":
				fmt.Fprint(s.Out, helpText)
				continue
			}
		}
		pending += text + "\n"
		statements, rest := language.Split(pending)
		if trimmed := strings.TrimSpace(rest); strings.HasSuffix(trimmed, `\G`) {
			statements, rest = append(statements, trimmed), ""
		}
		if len(statements) > 0 && rest == "" {
			line.AppendHistory(strings.ReplaceAll(strings.TrimSpace(pending), "\n", " "))
		}
		for _, statement := range statements {
			if err := s.run(statement, s.style); err != nil {
				if isClosed(err) {
					return 0, nil
				}
				fmt.Fprintf(s.Err, "%v\n\n", err)
				break
			}
		}
		pending = ""
		if strings.TrimSpace(rest) != "" {
			pending = rest + "\n"
		}
	}
}

func isClosed(err error) bool { return errors.Is(err, syscall.EPIPE) }

// historyFile returns where lines are kept from one session to the next.
func historyFile() string {
	dir := os.Getenv("XDG_STATE_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return os.DevNull
		}
		dir = filepath.Join(home, ".local", "state")
	}
	dir = filepath.Join(dir, "ftrace")
	if os.MkdirAll(dir, 0o700) != nil {
		return os.DevNull
	}
	return filepath.Join(dir, "sql_history")
}

// complete returns what the word in front of the cursor can become.
func complete(words []string, text string, pos int) (head string, found []string, tail string) {
	runes := []rune(text)
	begin := pos
	for begin > 0 && !strings.ContainsRune(" ,.(=<>+-*/'\"`;", runes[begin-1]) {
		begin--
	}
	prefix := string(runes[begin:pos])
	for _, w := range words {
		if len(w) >= len(prefix) && strings.EqualFold(w[:len(prefix)], prefix) && prefix != "" {
			found = append(found, w)
		}
	}
	return string(runes[:begin]), found, string(runes[pos:])
}
