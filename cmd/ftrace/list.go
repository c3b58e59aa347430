package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/ftrace-wrap/ftrace-wrap/internal/escape"
	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
)

// listCommand is "ftrace list [-json]".
func listCommand(args []string) int {
	o := newOptions("list")
	rest, err := o.parse(args)
	if err == nil && len(rest) > 0 {
		err = usagef("%s: list takes no arguments", rest[0])
	}
	if err != nil {
		return fail("list", err)
	}
	found := live.List()
	if o.json {
		enc := json.NewEncoder(asJSON(stdout))
		for _, f := range found {
			if f.Err != nil {
				enc.Encode(map[string]any{"pid": f.PID, "executable": f.Executable, "args": f.Args, "error": f.Err.Error()})
				continue
			}
			enc.Encode(map[string]any{"pid": f.PID, "executable": f.Executable, "args": f.Args, "armed": f.Armed, "recording": recordingName(f.Recording), "attached": f.Session})
		}
		return 0
	}
	if len(found) == 0 {
		fmt.Fprintln(stderr, "ftrace: list: no program of yours that was built with ftrace-wrap is running")
		return 0
	}
	w := tabwriter.NewWriter(stdout, 0, 1, 2, ' ', 0)
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
	w.Flush()
	for _, f := range found {
		if f.Err != nil {
			fmt.Fprintf(stderr, "ftrace: list: process %d: %v\n", f.PID, f.Err)
		}
	}
	return 0
}

func recordingName(r live.Recording) string {
	return [...]string{"-", "rings", "files"}[min(r, live.ToFiles)]
}

// processNamed returns the process that an argument means: its number, or the name of the one program that runs.
func processNamed(s string) (*live.Process, error) {
	if pid, err := strconv.Atoi(s); err == nil {
		return live.Attach(pid)
	}
	var pids []string
	pid := 0
	for _, f := range live.List() {
		if f.PID != os.Getpid() && (filepath.Base(f.Executable) == s || f.Executable == s) {
			pids = append(pids, strconv.Itoa(f.PID))
			pid = f.PID
		}
	}
	switch len(pids) {
	case 0:
		return nil, fmt.Errorf("no program of yours called %s that was built with ftrace-wrap is running: ftrace list", s)
	case 1:
		return live.Attach(pid)
	}
	return nil, fmt.Errorf("%d programs called %s are running: %s", len(pids), s, strings.Join(pids, ", "))
}
