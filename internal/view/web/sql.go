package web

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/language"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
)

const (
	sqlTime  = time.Minute // that a statement may take, unless it says otherwise
	sqlAtOne = 2           // statements at once
	sqlRows  = 1000        // in an answer
	sqlBytes = 8 << 20     // of values in an answer
	sqlValue = 4 << 10     // bytes of a value
)

// A console answers in SQL, from the recordings that are shown. It only reads.
type console struct {
	catalog *schema.Catalog
	turns   chan bool
}

// newConsole returns a console of recordings. All of them are in performance_schema, and each is a
// schema of its own, as in ftrace sql. later says how long after the first of its run each began.
func newConsole(dirs []string, kept source.RecordingOptions, turns chan bool, later func(i int) time.Duration) (*console, error) {
	c := &console{&schema.Catalog{ReadOnly: true, Timeout: sqlTime, Several: len(dirs) > 1}, turns}
	for i, dir := range dirs {
		kept.Later = func() time.Duration { return later(i) }
		recorded, err := source.OpenRecording(dir, kept)
		if err == nil {
			_, err = c.catalog.AddSchema(filepath.Base(filepath.Clean(dir)), recorded)
		}
		if err != nil {
			c.catalog.Close()
			return nil, err
		}
		c.catalog.Add(recorded)
	}
	return c, nil
}

// A table is what a statement returned, as text. Values are nil where they are NULL.
type table struct {
	Columns []tableColumn `json:"columns"`
	Rows    [][]*string   `json:"rows"`
	More    bool          `json:"more"`            // there are rows that are left out
	Cut     int           `json:"cut"`             // values that are not whole
	Before  int           `json:"before"`          // results of statements before, which are left out
	Error   string        `json:"error,omitempty"` // as the engine gives it
	Took    int64         `json:"took"`            // ns
}

type tableColumn struct {
	Name   string `json:"name"`
	Number bool   `json:"number"`
}

// run runs statements, and returns what the last one returned that returned anything.
func (c *console) run(ctx context.Context, text string) (*table, error) {
	select {
	case c.turns <- true:
		defer func() { <-c.turns }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for _, source := range c.catalog.Sources() {
		if _, err := source.Snapshot(live.AllContents); err != nil { // outside of the time that the statement may take
			return nil, err
		}
	}
	session, err := c.catalog.Session(ctx)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	statements, rest := language.Split(text)
	if strings.TrimSpace(rest) != "" || len(statements) == 0 {
		statements = append(statements, rest)
	}
	began := time.Now()
	last, results := &table{}, 0
	for _, statement := range statements {
		r, err := session.Query(ctx, statement, nil)
		if err != nil {
			return nil, err
		}
		if len(r.Columns) == 0 {
			continue
		}
		if last, err = newTable(r); err != nil {
			return nil, err
		}
		results++
	}
	last.Before, last.Took = max(0, results-1), int64(time.Since(began))
	return last, nil
}

// newTable reads a result, as far as an answer may have it.
func newTable(r *schema.Result) (*table, error) {
	defer r.Close()
	t := &table{Rows: [][]*string{}}
	for _, c := range r.Columns {
		t.Columns = append(t.Columns, tableColumn{c.Name, c.Type.Number()})
	}
	for bytes := 0; ; {
		values, err := r.Next()
		if err != nil || values == nil {
			return t, err
		}
		if len(t.Rows) == sqlRows || bytes > sqlBytes {
			t.More = true
			return t, nil
		}
		row := make([]*string, len(values))
		for i, v := range values {
			text, ok := r.Columns[i].Format(v)
			if !ok {
				continue
			}
			if len(text) > sqlValue {
				text = strings.ToValidUTF8(text[:sqlValue], "") + "…"
				t.Cut++
			}
			row[i] = &text
			bytes += len(text)
		}
		t.Rows = append(t.Rows, row)
	}
}

// sql answers a statement.
func (s *Server) sql(w http.ResponseWriter, r *http.Request) {
	text := r.URL.Query().Get("q")
	if strings.TrimSpace(text) == "" {
		refuse(w, fmt.Errorf("there is no statement"))
		return
	}
	c, done, err := s.asks()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer done()
	t, err := c.run(r.Context(), text)
	if err != nil {
		t = &table{Error: err.Error()} // what the engine says is an answer
	}
	reply(w, t)
}

// tables returns what can be completed.
func (s *Server) tables(w http.ResponseWriter, _ *http.Request) {
	c, done, err := s.asks()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer done()
	reply(w, map[string]any{"tables": c.catalog.Tables(), "keywords": schema.Keywords()})
}

// asks returns the console that is asked, until done is called.
func (s *Server) asks() (c *console, done func(), err error) {
	if f := s.following(); f != nil {
		return s.consoleOf(f)
	}
	return s.console, func() {}, nil
}
