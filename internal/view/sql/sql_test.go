package sql

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/language"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
)

// workers is a catalog with testdata/recordings/workers.
func workers(t *testing.T) *schema.Catalog {
	t.Helper()
	s, err := source.OpenRecording(filepath.Join(testenv.Root(t), "testdata", "recordings", "workers"), source.RecordingOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c := &schema.Catalog{}
	if _, err := c.AddSchema("workers", s); err != nil {
		t.Fatal(err)
	}
	c.Add(s)
	t.Cleanup(func() { c.Close() })
	return c
}

// TestRun runs statements, and has the results in each of the styles.
func TestRun(t *testing.T) {
	const two = "SELECT EVENT_NAME, COUNT_STAR FROM performance_schema.events_calls_summary_global_by_event_name WHERE EVENT_NAME LIKE '%/add' OR EVENT_NAME LIKE '%/sum' ORDER BY 1"
	for _, c := range []struct {
		name     string
		o        Options
		want     string
		complain string // what is wrong; "": nothing
	}{
		{"table", Options{Query: "SELECT 'a' AS x, 12 AS n UNION SELECT 'longer', 3 ORDER BY n"},
			"+--------+----+\n| x      | n  |\n+--------+----+\n| longer |  3 |\n| a      | 12 |\n+--------+----+\n", ""},
		{"wide characters", Options{Query: "SELECT '世界' AS x UNION SELECT 'abcd'"}, "+------+\n| x    |\n+------+\n| abcd |\n| 世界 |\n+------+\n", ""},
		{"batch", Options{Batch: true, Query: `SELECT 'a	b' AS x, 'c\\d' AS y, NULL AS z`}, "x\ty\tz\na\\tb\tc\\\\d\tNULL\n", ""},
		{"JSON", Options{JSON: true, Query: `SELECT 'say "a"' AS x, 1 AS n, NULL AS z; SELECT 2 AS n`}, `{"x":"say \"a\"","n":1,"z":null}` + "\n" + `{"n":2}` + "\n", ""},
		{"a line for each column", Options{Query: `SELECT 1 AS a, 'x' AS longer\G`}, "*************************** 1. row ***************************\n     a: 1\nlonger: x\n", ""},
		{"no rows", Options{Query: "SELECT 1 AS n WHERE 1 = 0"}, "", ""},
		{"no rows, in lines", Options{Batch: true, Query: "SELECT 1 AS n WHERE 1 = 0"}, "", ""},
		{"the end is no statement", Options{Batch: true, Query: "SELECT 1 AS n;\n  \n"}, "n\n1\n", ""},
		{"what may not reach a terminal", Options{Query: "SELECT CONCAT(CHAR(27), '[2J') AS x"}, "+---------+\n| x       |\n+---------+\n| \\x1b[2J |\n+---------+\n", ""},
		{"in lines too", Options{Batch: true, Query: "SELECT CONCAT(CHAR(27), '[2J') AS x"}, "x\n\\\\x1b[2J\n", ""},
		{"the first that fails is the last", Options{Batch: true, Query: "SELECT 1 AS n; SELECT x FROM nowhere; SELECT 2 AS n"}, "n\n1\n", "nowhere"},
		{"the recording", Options{Batch: true, Query: two}, "EVENT_NAME\tCOUNT_STAR\ncall/main/add\t4\ncall/main/sum\t1\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out, complaints strings.Builder
			status, err := Run(workers(t), c.o, nil, Output{Out: &out, Err: &complaints})
			switch {
			case err != nil:
				t.Fatal(err)
			case out.String() != c.want:
				t.Errorf("it wrote\n%s\nnot\n%s", out.String(), c.want)
			case c.complain == "" && (status != 0 || complaints.Len() > 0), c.complain != "" && (status != 1 || !strings.Contains(complaints.String(), c.complain)):
				t.Errorf("status %d, and %q", status, complaints.String())
			}
			if c.o.JSON {
				for line := range strings.Lines(out.String()) {
					if !json.Valid([]byte(line)) {
						t.Errorf("%s is no JSON", line)
					}
				}
			}
		})
	}
}

// TestFile: statements come from a file too.
func TestFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "statements")
	if err := os.WriteFile(name, []byte("SELECT 1 AS n;\nSELECT 2 AS n"), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var out strings.Builder
	if status, err := Run(workers(t), Options{Batch: true}, in, Output{Out: &out, Err: &out}); status != 0 || err != nil || out.String() != "n\n1\nn\n2\n" {
		t.Errorf("status %d, %v: %s", status, err, out.String())
	}
}

// gone is what a pipe is whose reader has gone.
type gone struct{ err error }

func (g gone) Write([]byte) (int, error) { return 0, g.err }

// TestGone: a reader who has seen enough is no failure; anything else that keeps results from being
// written is.
func TestGone(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{{&os.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}, 0}, {syscall.ENOSPC, 1}, {errors.New("other"), 1}} {
		for _, o := range []Options{{}, {Batch: true}, {JSON: true}} {
			o.Query = "SELECT 1; SELECT 2"
			var complaints strings.Builder
			status, err := Run(workers(t), o, nil, Output{Out: gone{c.err}, Err: &complaints})
			if status != c.want || err != nil || (complaints.Len() > 0) != (c.want != 0) {
				t.Errorf("%v: status %d, %v, %q", c.err, status, err, complaints.String())
			}
		}
	}
}

// TestLines: a value of several lines is as wide as the longest, and moves no other column.
func TestLines(t *testing.T) {
	var b strings.Builder
	columns := []schema.Column{{Name: "n", Type: language.Integer}, {Name: "text", Type: language.String}}
	writeGrid(&b, columns, [][]string{{"1", "a\nlonger"}, {"100", ""}})
	const want = "+-----+--------+\n| n   | text   |\n+-----+--------+\n|   1 | a\nlonger |\n| 100 |        |\n+-----+--------+\n"
	if b.String() != want {
		t.Errorf("%s\nnot\n%s", b.String(), want)
	}
}

func TestComplete(t *testing.T) {
	words := []string{"SELECT", "SET", "threads", "THREAD_ID", "events_calls_history", "größe"}
	for _, c := range []struct {
		text string // | is the cursor
		head string
		want string
		tail string
	}{
		{"sel|", "", "SELECT", ""},
		{"SE|", "", "SELECT SET", ""},
		{"SELECT thr| FROM x", "SELECT ", "threads THREAD_ID", " FROM x"},
		{"SELECT COUNT(thread_|)", "SELECT COUNT(", "THREAD_ID", ")"},
		{"a=ev|", "a=", "events_calls_history", ""},
		{"äöü grö|", "äöü ", "größe", ""},
		{"SELECT |", "SELECT ", "", ""}, // nothing is not the beginning of everything
		{"|", "", "", ""},
		{"nothing|", "", "", ""},
		{"threadsx|", "", "", ""},
	} {
		before, after, _ := strings.Cut(c.text, "|")
		head, found, tail := complete(words, before+after, len([]rune(before)))
		if head != c.head || !slices.Equal(found, strings.Fields(c.want)) || tail != c.tail {
			t.Errorf("%s: %q, %q, %q", c.text, head, found, tail)
		}
	}
}

// TestWords: what is completed is what the catalog has, and words of SQL, each once.
func TestWords(t *testing.T) {
	words := workers(t).Words()
	for _, w := range []string{"SELECT", "events_calls_history_long", "EVENT_NAME", "performance_schema"} {
		if !slices.Contains(words, w) {
			t.Errorf("%s is missing", w)
		}
	}
	if all := slices.Clone(words); len(slices.Compact(all)) != len(words) || !slices.IsSorted(words) {
		t.Error("some are there twice")
	}
}

// TestHistory: the history is the user's own, and no place for it is no failure.
func TestHistory(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", dir)
	if got := historyFile(); got != filepath.Join(dir, "ftrace", "sql_history") {
		t.Errorf("it is %s", got)
	}
	info, err := os.Stat(filepath.Join(dir, "ftrace"))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory is %v, %v", info, err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_STATE_HOME", file)
	if got := historyFile(); got != os.DevNull {
		t.Errorf("where no directory can be it is %s", got)
	}
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("HOME", "")
	if got := historyFile(); got != os.DevNull {
		t.Errorf("without a home it is %s", got)
	}
}
