package live

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/text"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/viewtest"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

func TestMain(m *testing.M) { viewtest.Main(m) }

// workers returns a copy of a recording.
func workers(t *testing.T) string {
	dir := filepath.Join(t.TempDir(), "workers")
	viewtest.Copy(t, "workers", dir)
	return dir
}

// TestMoveAway: what is in the way of a recording is kept, and nothing that is no recording is
// touched.
func TestMoveAway(t *testing.T) {
	for _, c := range []struct {
		name  string
		there map[string]string // what is there: a recording, or a file of that name
		want  map[string]string // and after it
		wrong string
	}{
		{"nothing", nil, map[string]string{}, ""},
		{"a recording", map[string]string{"r": "workers"}, map[string]string{"r.old": "workers"}, ""},
		{"one that was moved before", map[string]string{"r": "workers", "r.old": "parser"}, map[string]string{"r.old": "workers"}, ""},
		{"only that", map[string]string{"r.old": "parser"}, map[string]string{"r.old": "parser"}, ""},
		{"no recording", map[string]string{"r/file": ""}, map[string]string{"r/file": ""}, "r is there and is no recording"},
		{"no recording where it is moved to", map[string]string{"r": "workers", "r.old/file": ""}, map[string]string{"r": "workers", "r.old/file": ""}, "r.old is there and is no recording"},
		{"a file", map[string]string{"r": ""}, map[string]string{"r": ""}, "not a directory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, what := range c.there {
				name = filepath.Join(dir, name)
				if what != "" {
					viewtest.Copy(t, what, name)
					continue
				}
				if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, nil, 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			err := moveAway(filepath.Join(dir, "r"))
			if (err != nil) != (c.wrong != "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("error %v, want %q", err, c.wrong)
			}
			want := map[string]string{}
			for name, what := range c.want {
				if what == "" {
					want[filepath.FromSlash(name)] = ""
					continue
				}
				other := t.TempDir()
				viewtest.Copy(t, what, filepath.Join(other, name))
				maps.Copy(want, viewtest.Files(t, other))
			}
			if got := viewtest.Files(t, dir); !maps.Equal(got, want) {
				t.Errorf("there is %v, not %v", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
			}
		})
	}
}

// TestRecord: the status is the command's, and what it says goes to the directory, whatever its
// name.
func TestRecord(t *testing.T) {
	from := workers(t)
	killed := 128 + 9
	for _, c := range []struct {
		name   string
		cmd    *exec.Cmd
		dir    string
		status int
		warns  string
	}{
		{"it ends", viewtest.Command(from), "r", 7, ""},
		{"a signal ends it", viewtest.Command(from, "TEST_END=kill"), "r", killed, ""},
		{"%p and %% mean something in FTRACE_RECORD", viewtest.Command(from), "100%p%%", 7, ""},
		{"it was not built for it", viewtest.Command("none"), "r", 7, "nothing was recorded: was "},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := os.Stat("/proc"); err != nil && c.status == killed {
				t.Skip("signals are others on this system")
			}
			dir := filepath.Join(t.TempDir(), c.dir)
			var warned strings.Builder
			status, err := Record(c.cmd, dir, "", &warned, nil)
			if err != nil || status != c.status || !strings.Contains(warned.String(), c.warns) || c.warns == "" && warned.Len() > 0 {
				t.Errorf("status %d, %v, warned of %q", status, err, warned.String())
			}
			if c.warns == "" && viewtest.Events(t, dir) != viewtest.Events(t, from) {
				t.Error("it has recorded something else")
			}
		})
	}
	if status, err := Record(exec.Command(filepath.Join(t.TempDir(), "nothing")), filepath.Join(t.TempDir(), "r"), "", os.Stderr, nil); status != 1 || err == nil {
		t.Errorf("of no command: status %d, %v", status, err)
	}
}

// TestStart: rules replace those of the environment; without any, those hold.
func TestStart(t *testing.T) {
	for rules, want := range map[string]string{"": "environment", "main.*": "main.*"} {
		name := filepath.Join(t.TempDir(), "rules")
		p, err := Start(viewtest.Command(workers(t), "TEST_RULES="+name, "FTRACE=environment"), filepath.Join(t.TempDir(), "r"), rules)
		if err != nil {
			t.Fatal(err)
		}
		p.Wait()
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("with %q the rules are %q, %v", rules, got, err)
		}
	}
}

// TestShow: what is shown of a command while it runs is what a replay shows afterwards.
func TestShow(t *testing.T) {
	from := workers(t)
	r, err := recording.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	o := text.Options{Format: text.Format{Values: recording.DefaultFormat}}
	var want, got, warned strings.Builder
	if err := text.Replay(walk.Source{Recording: r}, o, &want); err != nil {
		t.Fatal(err)
	}
	status, err := Show(viewtest.Command(from), "", o, &got, &warned)
	if status != 7 || err != nil || warned.Len() > 0 {
		t.Errorf("status %d, %v, warned of %q", status, err, warned.String())
	}
	if got.String() != want.String() || got.Len() == 0 {
		t.Errorf("it shows\n%s\na replay\n%s", got.String(), want.String())
	}
	if _, err := Show(viewtest.Command("none"), "", o, &got, &warned); err == nil || !strings.Contains(err.Error(), "nothing was recorded") {
		t.Errorf("of a program that records nothing: %v", err)
	}
}

// told is a View that notes what it is told.
type told struct {
	what   string // B for Begin, R for Refreshed, e for an event, S for Settled, F for Finish
	enough int    // after so many events; 0: never
	settle bool   // Settled says that it is enough
	n      int
}

func (v *told) Begin(*recording.Recording) { v.what += "B" }
func (v *told) Refreshed()                 { v.what += "R" }
func (v *told) Finish() error              { v.what += "F"; return errors.New("from Finish") }

func (v *told) Settled(time.Time) bool {
	v.what += "S"
	return !v.settle
}

func (v *told) Event(*recording.Event) bool {
	v.n++
	if !strings.HasSuffix(v.what, "e") {
		v.what += "e"
	}
	return v.n != v.enough
}

// TestTail: a view is told everything, in order, also what comes late; no more once it has enough;
// and that it is over.
func TestTail(t *testing.T) {
	from := workers(t)
	all := strings.Count(viewtest.Events(t, from), "\n")
	for _, c := range []struct {
		name  string
		view  told
		later string // a file that comes after the others
		n     int    // events
		what  string // a pattern
	}{
		{"all is there", told{}, "", all, "B(Re?S)+F"},
		{"the tables come late", told{}, "tables", all, "B(Re?S)+F"},
		{"a processor comes late", told{}, "calls_1", all, "B(Re?S)+F"},
		{"enough by an event", told{enough: 3}, "", 3, "B(RS)*ReSF"},
		{"enough when settled", told{settle: true}, "", 0, "BRSF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, done := filepath.Join(t.TempDir(), "r"), make(chan struct{})
			if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
				t.Fatal(err)
			}
			if c.later != "" {
				name := filepath.Join(dir, c.later)
				aside := filepath.Join(t.TempDir(), "aside")
				if err := os.Rename(name, aside); err != nil {
					t.Fatal(err)
				}
				time.AfterFunc(4*pollEvery, func() {
					if err := os.Rename(aside, name); err != nil {
						t.Error(err)
					}
					close(done)
				})
			} else {
				time.AfterFunc(4*pollEvery, func() { close(done) })
			}
			var warned strings.Builder
			v := &c.view
			err := Tail(dir, done, errors.New("nothing"), v, Room{}, &warned)
			if err == nil || err.Error() != "from Finish" || warned.Len() > 0 {
				t.Errorf("%v, warned of %q", err, warned.String())
			}
			if v.n != c.n || !regexp.MustCompile("^"+c.what+"$").MatchString(v.what) {
				t.Errorf("it was told of %d events, not %d: %s, not %s", v.n, c.n, v.what, c.what)
			}
		})
	}
}

// TestTailBehind: a view that is busy for long loses the oldest events, which are counted, and what
// it has not read does not grow beyond the limit meanwhile.
func TestTailBehind(t *testing.T) {
	const packet, packets = format.FileChunk, 40
	from, dir, done := workers(t), filepath.Join(t.TempDir(), "r"), make(chan struct{})
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "calls_0")
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	events := strings.Count(viewtest.Events(t, from), "\n")
	one := make([]byte, packet)
	copy(one, b)
	if err := os.WriteFile(name, bytes.Repeat(one, packets), 0o600); err != nil {
		t.Fatal(err)
	}
	all := strings.Count(viewtest.Events(t, dir), "\n")
	each := (all - events) / (packets - 1)
	if each < 10 {
		t.Fatalf("%d events a packet", each)
	}
	v := &busy{long: 6 * pollEvery}
	time.AfterFunc(8*pollEvery, func() { close(done) })
	var warned strings.Builder
	if err := Tail(dir, done, errors.New("nothing"), v, Room{Unread: 10 * packet}, &warned); err != nil || warned.Len() > 0 {
		t.Errorf("%v, warned of %q", err, warned.String())
	}
	if v.lost < uint64(25*each) || uint64(v.seen)+v.lost != uint64(all) {
		t.Errorf("%d events were seen and %d lost, of %d", v.seen, v.lost, all)
	}
}

// busy is a View that is busy with the first event for a time.
type busy struct {
	told
	long time.Duration
	seen int
	lost uint64
}

func (v *busy) Finish() error { return nil }

func (v *busy) Event(e *recording.Event) bool {
	data := string(e.Data)
	if v.seen == 0 {
		time.Sleep(v.long)
	}
	if e.Kind == recording.Lost {
		v.lost += e.Call
	} else if v.seen++; string(e.Data) != data {
		panic("what is skipped changes the event that was read before")
	}
	return true
}

// TestTailNothing: a program that has ended and recorded nothing is an error, which says so.
func TestTailNothing(t *testing.T) {
	nothing, done := errors.New("nothing"), make(chan struct{})
	close(done)
	var v told
	if err := Tail(filepath.Join(t.TempDir(), "r"), done, nothing, &v, Room{}, os.Stderr); err != nothing || v.what != "" {
		t.Errorf("%v, and the view was told %s", err, v.what)
	}
}

// TestLate: when it is time to leave, a view says from when on it shows nothing.
func TestLate(t *testing.T) {
	r, err := recording.Open(workers(t))
	if err != nil {
		t.Fatal(err)
	}
	late := make(chan struct{})
	var out strings.Builder
	v := &textView{options: text.Options{Format: text.Format{Values: recording.DefaultFormat}}, out: &out, late: late}
	v.Begin(r)
	s := r.Events(recording.Window{})
	defer s.Close()
	var e recording.Event
	for n := 0; s.Next(&e); n++ {
		if n == 10 {
			close(late)
		}
		if more := v.Event(&e); more != (n < 10) {
			t.Fatalf("event %d: more is %v", n, more)
		}
		if n == 10 {
			break
		}
	}
	c := r.Converter()
	if !v.behind.Equal(c.Wall(e.Ticks)) {
		t.Errorf("it is behind since %v, the event is of %v", v.behind, c.Wall(e.Ticks))
	}
	if err := v.Finish(); err != nil || out.Len() == 0 {
		t.Errorf("%v: %s", err, out.String())
	}
}

// TestEarliest: who began first is by calls under way and by those that have ended.
func TestEarliest(t *testing.T) {
	var calls live.Goroutine
	if got := earliest(&calls); got != ^uint64(0) {
		t.Errorf("a goroutine without calls began at %d", got)
	}
	calls.History = make([]live.Call, 2)
	calls.History[0].Start, calls.History[1].Start = 9, 5
	if got := earliest(&calls); got != 5 {
		t.Errorf("it began at %d, not 5", got)
	}
}

// TestRecordingName: what another version says does not end ftrace list.
func TestRecordingName(t *testing.T) {
	for r, want := range map[live.Recording]string{live.NotRecording: "-", live.ToFiles: "files", live.ToFiles - 1: "rings", live.ToFiles + 40: "files"} {
		if got := recordingName(r); got != want {
			t.Errorf("%d is %s, not %s", r, got, want)
		}
	}
}

// TestNamed: what is no process is an error that says what there is.
func TestNamed(t *testing.T) {
	for name, want := range map[string]string{"no-such-program": "no program of yours called no-such-program", "4194304": "4194304", "-1": "-1", "": "no program of yours called "} {
		if p, err := Named(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v", name, p, err)
		}
	}
}
