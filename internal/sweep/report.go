package sweep

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/ftrace-wrap/ftrace-wrap/internal/ownfile"
)

// result is a line of the report: one run of a test.
type result struct {
	Binary  string         `json:"binary"` // hash of the test program and its arguments
	Package string         `json:"package"`
	Test    string         `json:"test"`            // "": none, what runs before them
	Func    string         `json:"func,omitempty"`  // that fails; "": none
	Error   string         `json:"error,omitempty"` // with which it fails; "": one that is made up
	Fail    string         `json:"fail"`            // FTRACE_FAIL
	Outcome string         `json:"outcome"`
	Detail  string         `json:"detail,omitempty"` // of a panic, its line
	At      string         `json:"at,omitempty"`     // function and line that panics, hangs, swallows the error, or to which it came
	Seconds float64        `json:"seconds"`
	Reached map[string]int `json:"reached,omitempty"` // functions that could fail, and their calls, if none does
}

type resultKey struct{ binary, test, fail string }

func (r *result) key() resultKey { return resultKey{r.Binary, r.Test, r.Fail} }

// report has the results of earlier runs, and the file to which later ones go, if there is one.
type report struct {
	mu    sync.Mutex
	file  *os.File
	known map[resultKey]result
	err   error // the first of writing
}

// openReport reads a report, and lets it be appended to. A last line that was not written to its
// end is removed.
func openReport(name string) (*report, error) {
	p := &report{known: map[resultKey]result{}}
	if name == "" {
		return p, nil
	}
	f, err := ownfile.Open(name, os.O_RDWR) // what functions were given may be secret
	if err != nil {
		return nil, fmt.Errorf("-report: %v", err)
	}
	text, err := io.ReadAll(f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("-report: %v", err)
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	for i, line := range bytes.Split(whole, []byte("\n")) {
		var r result
		if len(line) == 0 {
			continue
		}
		if err := json.Unmarshal(line, &r); err != nil || r.Binary == "" || r.Outcome == "" {
			f.Close()
			return nil, fmt.Errorf("-report: %s:%d is no line of a report of sweep: name another file", name, i+1)
		}
		p.known[r.key()] = r
	}
	if len(whole) == 0 && len(text) > 0 && text[0] != '{' {
		f.Close()
		return nil, fmt.Errorf("-report: %s:1 is no line of a report of sweep: name another file", name)
	}
	if len(whole) < len(text) {
		err = f.Truncate(int64(len(whole)))
	}
	if err == nil {
		_, err = f.Seek(int64(len(whole)), io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("-report: %v", err)
	}
	p.file = f
	return p, nil
}

// find returns the record of the same run, if there is one.
func (p *report) find(r result) (result, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known, ok := p.known[r.key()]
	return known, ok
}

// add appends a record.
func (p *report) add(r result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known[r.key()] = r
	if p.file == nil || p.err != nil {
		return
	}
	line, err := json.Marshal(r)
	if err == nil {
		_, err = p.file.Write(append(line, '\n'))
	}
	p.err = err
}

// close returns an error if not all results were written.
func (p *report) close() error {
	if p.file == nil {
		return nil
	}
	if err := p.file.Close(); p.err == nil {
		p.err = err
	}
	return p.err
}
