package forward

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ftrace-wrap/ftrace-wrap/internal/ownfile"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// A Position is how far a signal of a recording has been sent, in a file. Spans, lines and points
// are made in the same order whenever a recording is read, so it is a place in that: what comes
// until then has been answered for.
type Position struct {
	Recording string `json:"recording"` // its UUID
	First     uint64 `json:"first"`     // ticks of its first event: a process can make several with its UUID
	To        string `json:"to"`        // an address
	Settings  string `json:"settings"`  // what chose the spans
	MinTicks  uint64 `json:"min_ticks"`
	At        uint64 `json:"ticks"` // of spans and lines these are ticks
	Ended     int    `json:"ended"` // spans that were answered for of calls that were under way at the end
	Done      bool   `json:"done"`
	Sent      uint64 `json:"sent"`
	Refused   uint64 `json:"refused"`

	file string
}

// positionFile returns the name of the file for a signal of a recording: in a directory, else
// beside it. Within another recording it is hidden, so that nobody takes it for a part of that.
func positionFile(r *recording.Recording, dir string, signal *Signal) (string, error) {
	full, err := filepath.Abs(r.Dir)
	if unnamed := filepath.Dir(full) == "/proc/self/fd"; unnamed && dir == "" {
		return "", errors.New("only the process sees this directory, as in a container: -position names one for how far it was sent")
	} else if unnamed {
		full = filepath.Join(dir, fmt.Sprintf("process-%x", r.Env.UUID))
	} else if dir != "" {
		full = filepath.Join(dir, fmt.Sprintf("%s-%x", filepath.Base(full), r.Env.UUID))
	} else if parent, name := filepath.Split(full); recording.Is(parent) {
		full = filepath.Join(parent, "."+name)
	}
	if signal != Spans {
		full += "." + signal.Name
	}
	return full + ".forward", err
}

// openPosition reads how far a recording has been sent, or returns where that begins. It is an
// error if other spans were sent, or to elsewhere.
func openPosition(r *recording.Recording, dir string, signal *Signal, to, settings string, minTicks uint64) (*Position, error) {
	file, err := positionFile(r, dir, signal)
	if err != nil {
		return nil, err
	}
	begin := &Position{Recording: fmt.Sprintf("%x", r.Env.UUID), To: to, Settings: settings, MinTicks: minTicks, file: file}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return begin, begin.save()
	}
	if err != nil {
		return nil, err
	}
	p := &Position{file: file}
	switch err := json.Unmarshal(data, p); {
	case err != nil:
		return nil, fmt.Errorf("%s does not say how far the recording was sent: %v: remove it to send all", file, err)
	case p.Recording != begin.Recording || p.First != first(r): // the one that was there before
		return begin, begin.save()
	case p.To != to || p.Settings != settings:
		return nil, fmt.Errorf("%s says that the recording was sent to %s, with %s: do the same, remove it to send all, or let -position name another directory", file, p.To, p.Settings)
	}
	return p, nil
}

// first returns the ticks of a recording's first event, 0 if there is none.
func first(r *recording.Recording) uint64 {
	s := r.Events(recording.Window{})
	defer s.Close()
	var e recording.Event
	s.Next(&e)
	return e.Ticks
}

// save writes the file. It is replaced at once, so it is never half of one.
func (p *Position) save() error {
	f, err := ownfile.Replace(p.file)
	if err != nil {
		return fmt.Errorf("%w: -position names a directory for that", err)
	}
	defer f.Close()
	if err := json.NewEncoder(f).Encode(p); err != nil {
		return err
	}
	return f.Commit()
}
