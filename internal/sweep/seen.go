package sweep

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// seenError is an error that a function returned in a recording.
type seenError struct{ typ, message string }

// readSeen returns the errors that functions returned in a recording, by their import path and
// name.
func readSeen(dir string) (map[string][]seenError, error) {
	type (
		stack = walk.Stack[struct{}, struct{}]
		frame = walk.Frame[struct{}]
	)
	dirs, err := recording.Dirs(dir)
	if err != nil {
		return nil, err
	}
	seen := map[string][]seenError{}
	for _, dir := range dirs {
		r, err := recording.Open(dir)
		if err != nil {
			return nil, err
		}
		printer := r.Printer(recording.DefaultFormat)
		w := walk.New[struct{}, struct{}](walk.Source{Recording: r})
		w.More = func(*stack, *frame, *recording.Event) {}
		w.Wait = func(*stack, *recording.Event) {}
		w.Begin = func(*stack, *frame, *recording.Event) {}
		w.End = func(_ *stack, c *frame, e *recording.Event) {
			if c == nil || c.Mock || e == nil || e.Kind != recording.ExitResults {
				return
			}
			results := printer.Data(e)
			if len(results) == 0 {
				return
			}
			last := results[len(results)-1]
			if last.Type == nil || last.Nil || !last.Type.Error {
				return
			}
			f := r.Function(c.Function)
			fn, x := f.ImportPath+"."+f.Name, seenError{last.Type.Name, last.Message}
			if !slices.Contains(seen[fn], x) && len(seen[fn]) < maxSeen {
				seen[fn] = append(seen[fn], x)
			}
		}
		if err := w.Run(nil); err != nil {
			return nil, fmt.Errorf("reading %s: %v", strings.TrimSuffix(r.Dir, "/"), err)
		}
	}
	return seen, nil
}

// maxSeen is how many errors are kept of a function: their messages may all differ.
const maxSeen = 100

// seenNames returns the errors as FTRACE_FAIL names them: by their type, if it tells more than that
// there is a message; and by a variable with the message that theirs ends in.
func (s *source) seenNames(fn string, seen []seenError) (names []string) {
	s.find(fn) // the variables of its package
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range seen {
		if pkg, _, _ := strings.Cut(strings.TrimPrefix(x.typ, "*"), "."); !slices.Contains([]string{"errors", "fmt", "syscall", "runtime", "poll", "context"}, pkg) {
			add(x.typ)
		}
		message := x.message
		if i := strings.LastIndex(message, ": "); i >= 0 && s.messages[message] == "" {
			message = message[i+2:]
		}
		if name := s.messages[message]; name != "" {
			add(name)
		} else if name := usualMessages[message]; name != "" {
			add(name)
		}
	}
	return names
}

// usualMessages are those of errors of Go's packages.
var usualMessages = map[string]string{
	"EOF": "io.EOF", "unexpected EOF": "io.ErrUnexpectedEOF", "io: read/write on closed pipe": "io.ErrClosedPipe",
	"file does not exist": "io/fs.ErrNotExist", "file already exists": "io/fs.ErrExist", "permission denied": "io/fs.ErrPermission", "file already closed": "io/fs.ErrClosed",
	"no such file or directory": "syscall.ENOENT", "file exists": "syscall.EEXIST", "no space left on device": "syscall.ENOSPC", "is a directory": "syscall.EISDIR",
	"broken pipe": "syscall.EPIPE", "connection refused": "syscall.ECONNREFUSED", "connection reset by peer": "syscall.ECONNRESET",
	"use of closed network connection": "net.ErrClosed", "i/o timeout": "os.ErrDeadlineExceeded",
	"context canceled": "context.Canceled", "context deadline exceeded": "context.DeadlineExceeded",
	"sql: no rows in result set": "database/sql.ErrNoRows", "driver: bad connection": "database/sql/driver.ErrBadConn",
}
