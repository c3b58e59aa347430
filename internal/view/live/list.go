package live

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/ftrace-wrap/ftrace-wrap/internal/escape"
	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// List writes the programs that run and can be attached to, as a table or as lines of JSON.
func List(asJSON bool, out, warn io.Writer) error {
	found := live.List()
	if asJSON {
		enc := json.NewEncoder(out)
		for _, f := range found {
			of := map[string]any{"pid": f.PID, "executable": f.Executable, "args": f.Args, "armed": f.Armed, "recording": recordingName(f.Recording), "attached": f.Session}
			if f.Err != nil {
				of = map[string]any{"pid": f.PID, "executable": f.Executable, "args": f.Args, "error": f.Err.Error()}
			}
			if err := enc.Encode(of); err != nil {
				return err
			}
		}
		return nil
	}
	if len(found) == 0 {
		fmt.Fprintln(warn, "ftrace: list: no program of yours that was built with ftrace-wrap is running")
		return nil
	}
	w := tabwriter.NewWriter(out, 0, 1, 2, ' ', 0)
	fmt.Fprintln(w, "PID\tSTATE\tRECORDS TO\tCOMMAND")
	for _, f := range found {
		state := "idle"
		switch {
		case f.Err != nil:
			state = "unknown"
		case f.Session:
			state = "attached"
		case f.Armed:
			state = "armed"
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\n", f.PID, state, recordingName(f.Recording), strings.Join(escape.Strings(f.Args), " "))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, f := range found {
		if f.Err != nil {
			fmt.Fprintf(warn, "ftrace: list: process %d: %v\n", f.PID, f.Err)
		}
	}
	return nil
}

func recordingName(r live.Recording) string {
	return [...]string{"-", "rings", "files"}[min(r, live.ToFiles)]
}

// Named returns the process that an argument means: its number, or the name of the one program that
// runs.
func Named(s string) (*live.Process, error) {
	if pid, err := strconv.Atoi(s); err == nil {
		return live.Attach(pid)
	}
	var pids []string
	pid := 0
	for _, f := range live.List() {
		if f.PID != os.Getpid() && (f.Called(s) || f.Executable == s) {
			pids = append(pids, strconv.Itoa(f.PID))
			pid = f.PID
		}
	}
	switch len(pids) {
	case 0:
		return nil, fmt.Errorf("no program of yours called %s that was built with ftrace-wrap is running: ftrace list lists those that do", s)
	case 1:
		return live.Attach(pid)
	}
	return nil, fmt.Errorf("%d programs called %s are running: name one by its number: %s", len(pids), s, words.Or(pids))
}
