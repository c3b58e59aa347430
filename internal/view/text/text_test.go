package text

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// A made is a recording that a test makes: the functions and types of examples/parser, and records
// of its own.
type made struct {
	t     *testing.T
	dir   string
	calls []byte
	ticks uint64
}

func newMade(t *testing.T) *made {
	m := &made{t: t, dir: filepath.Join(t.TempDir(), "made")}
	if err := os.CopyFS(m.dir, os.DirFS("../../../testdata/recordings/parser")); err != nil {
		t.Fatal(err)
	}
	head, err := os.ReadFile(filepath.Join(m.dir, "calls_0"))
	if err != nil {
		t.Fatal(err)
	}
	m.calls = head[:72]
	m.ticks = binary.LittleEndian.Uint64(head[24:])
	return m
}

// record adds a record, a thousand ticks after the one before.
func (m *made) record(kind recording.Kind, depth int, function uint32, goroutine uint64, rest ...byte) {
	m.ticks += 1000
	for len(rest)%8 != 0 {
		rest = append(rest, 0)
	}
	b := binary.LittleEndian.AppendUint64(nil, m.ticks)
	b = append(b, byte(kind), byte(3+len(rest)/8))
	b = binary.LittleEndian.AppendUint16(b, uint16(depth))
	b = binary.LittleEndian.AppendUint32(b, function)
	b = binary.LittleEndian.AppendUint64(b, goroutine)
	m.calls = append(append(m.calls, b...), rest...)
}

func word(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }

// line returns what a Line has after the head.
func line(level int32, text string) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(level))
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(text))), text...)
}

// replay returns the text of what was made.
func (m *made) replay(rules string, repeats bool) string {
	m.t.Helper()
	binary.LittleEndian.PutUint64(m.calls[32:], uint64(len(m.calls))*8)
	binary.LittleEndian.PutUint64(m.calls[40:], uint64(len(m.calls))*8)
	if err := os.WriteFile(filepath.Join(m.dir, "calls_0"), m.calls, 0o600); err != nil {
		m.t.Fatal(err)
	}
	r, err := recording.Open(m.dir)
	if err != nil {
		m.t.Fatal(err)
	}
	from := walk.Source{Recording: r}
	if rules != "" {
		if from.Rules, err = walk.NewRules(rules, r, "the recording"); err != nil {
			m.t.Fatal(err)
		}
	}
	f, err := ParseFormat("")
	if err != nil {
		m.t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Replay(from, Options{Format: f, Repeats: repeats}, &b); err != nil {
		m.t.Fatal(err)
	}
	if d := r.Damage(); len(d) != 0 {
		m.t.Fatal(d)
	}
	return b.String()
}

func (m *made) want(rules string, repeats bool, want string) {
	m.t.Helper()
	want = strings.TrimPrefix(want, "\n")
	if got := m.replay(rules, repeats); got != want {
		m.t.Errorf("rules %q, repeats %v:\n%swant:\n%s", rules, repeats, got, want)
	}
}

// Keys of the functions of examples/parser.
const (
	keyMain     = 2
	keyEvaluate = 3
)

// TestNotesAndLines has what the program adds to calls, what it logs, and a mock.
func TestNotesAndLines(t *testing.T) {
	m := newMade(t)
	m.record(recording.Entry, 0, keyMain, 1, word(1)...)
	m.record(recording.Line, 1, 0, 1, line(recording.UnknownLevel, "a line\nof two")...)
	m.record(recording.Entry, 1, keyEvaluate, 1, word(1)...)
	m.record(recording.Note, 1, keyEvaluate, 1, append(word(5<<32), "first"...)...)
	m.record(recording.Line, 2, 0, 1, line(4, "inside")...)
	m.record(recording.Note, 1, keyEvaluate, 1, append(word(8<<32), "second\t2"...)...)
	m.record(recording.Mock, 1, keyEvaluate, 1)
	m.record(recording.Exit, 1, keyEvaluate, 1)
	m.record(200, 1, keyEvaluate, 1, word(1)...) // of a later version
	m.record(recording.ExitGoexit, 0, keyMain, 1)
	m.want("", false, `
G1   + main.main() { // #1
G1     - a line\nof two
G1     + main.evaluate() { // #1
G1       - inside
G1       } // main.evaluate mock: first, second\t2
G1     } Goexit // main.main
`)
	m.want("main.evaluate", false, `
G1   - a line\nof two
G1   + main.evaluate() { // #1
G1     - inside
G1     } // main.evaluate mock: first, second\t2
`)
}

// TestUnseen has exits without entries, entries without exits, and calls that ended unseen.
func TestUnseen(t *testing.T) {
	m := newMade(t)
	m.record(recording.Exit, 1, keyEvaluate, 1)
	m.record(recording.Entry, 1, keyEvaluate, 1, word(2)...)
	m.record(recording.Entry, 2, keyEvaluate, 1, word(3)...)
	m.record(recording.Entry, 1, keyEvaluate, 1, word(4)...)
	m.record(recording.Exit, 1, keyEvaluate, 1)
	m.record(recording.Exit, 0, keyMain, 1)
	m.record(recording.Entry, 0, keyMain, 1, word(2)...)
	m.want("", false, `
G1       } // main.evaluate
G1     + main.evaluate() { // #2
G1       + main.evaluate() { // #3
G1     + main.evaluate() { // #4
G1       } // main.evaluate
G1     } // main.main
G1   + main.main() { // #2
`)
}

// TestDeep has calls that are deeper than a record can say.
func TestDeep(t *testing.T) {
	m := newMade(t)
	for i, depth := range []int{65534, 65535, 65535} {
		m.record(recording.Entry, depth, keyEvaluate, 1, word(uint64(i+1))...)
	}
	for _, depth := range []int{65535, 65535, 65534} {
		m.record(recording.Exit, depth, keyEvaluate, 1)
	}
	text := m.replay("", false)
	var got []string
	for line := range strings.Lines(text) {
		got = append(got, strings.TrimSpace(strings.TrimPrefix(line, "G1")))
	}
	want := "+ main.evaluate() { // #1|+ main.evaluate() { // #2|+ main.evaluate() { // #3|} // main.evaluate|} // main.evaluate|} // main.evaluate"
	if strings.Join(got, "|") != want {
		t.Errorf("got %q, want %s", got, want)
	}
}

// TestRepeats folds more calls than wait in memory, recursion, and not what ends in another way.
func TestRepeats(t *testing.T) {
	m := newMade(t)
	m.record(recording.Entry, 0, keyMain, 1, word(1)...)
	for i := range 3 * nodesMax {
		m.record(recording.Entry, 1, keyEvaluate, 1, word(uint64(i+1))...)
		m.record(recording.Exit, 1, keyEvaluate, 1)
	}
	m.record(recording.Entry, 1, keyEvaluate, 1, word(30001)...)
	m.record(recording.ExitGoexit, 1, keyEvaluate, 1)
	for i := range 5 {
		m.record(recording.Entry, 1+i, keyEvaluate, 1, word(uint64(30002+i))...)
	}
	for i := range 5 {
		m.record(recording.Exit, 5-i, keyEvaluate, 1)
	}
	m.record(recording.Entry, 1, keyMain, 1, word(2)...)
	m.record(recording.Entry, 2, keyEvaluate, 1, word(40000)...)
	m.want("", true, `
G1   + main.main() { // #1
G1     + main.evaluate() {} x30000 // #1
G1     + main.evaluate() { // #30001
G1       } Goexit // main.evaluate
G1     + main.evaluate() {} x5 deep // #30002
G1     + main.main() { // #2
G1       + main.evaluate() { // #40000
`)
}

// TestRepeatsAndLines: a line comes after the calls that ended before it.
func TestRepeatsAndLines(t *testing.T) {
	m := newMade(t)
	m.record(recording.Entry, 0, keyMain, 1, word(1)...)
	calls := uint64(0)
	for _, n := range []int{1, 3, 0} {
		for range n {
			calls++
			m.record(recording.Entry, 1, keyEvaluate, 1, word(calls)...)
			m.record(recording.Exit, 1, keyEvaluate, 1)
		}
		m.record(recording.Line, 1, 0, 1, line(0, "a line")...)
	}
	m.record(recording.Exit, 0, keyMain, 1)
	m.record(recording.Line, 0, 0, 1, line(0, "the end")...)
	m.want("", true, `
G1   + main.main() { // #1
G1     + main.evaluate() { // #1
G1       } // main.evaluate
G1     - a line
G1     + main.evaluate() {} x3 // #2
G1     - a line
G1     - a line
G1     } // main.main
G1   - the end
`)
}
