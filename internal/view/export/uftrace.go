package export

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// exportUftrace writes a directory that uftrace reads (https://github.com/namhyung/uftrace,
// doc/uftrace-data-format): entries and exits of each goroutine, which is a task there. Addresses
// are made up: a function's key tells its own.
func exportUftrace(from walk.Source, dir string) error {
	w := walk.New[struct{}, struct{}](from)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	u := &uftrace{dir: dir, clock: w.Recording.Converter(), tasks: map[uint64]*uftraceTask{}}
	w.Begin = func(st *stack, c *frame, e *recording.Event) { u.record(st.Goroutine, uftraceEntry, c, e.Ticks) }
	w.End = func(st *stack, c *frame, e *recording.Event) {
		if c == nil {
			return
		}
		at := max(w.Last, c.Start)
		if e != nil {
			at = e.Ticks
		}
		u.record(st.Goroutine, uftraceExit, c, at)
	}
	w.More = func(*stack, *frame, *recording.Event) {}
	err := w.Run(func() bool { return u.err == nil })
	u.finish(w.Recording)
	return errors.Join(u.err, err)
}

const (
	uftraceEntry = 0
	uftraceExit  = 1

	uftraceBase  = 0x400000 // where the program is, by the map
	uftraceText  = 0x1000   // of its first function, from there
	uftraceDepth = 1023     // depths have 10 bits

	uftraceWait = 32 << 10 // bytes of a task that wait in memory
)

// uftrace is a directory that is being written.
type uftrace struct {
	dir   string
	clock recording.Converter
	tasks map[uint64]*uftraceTask
	order []uint64
	err   error
}

// A uftraceTask is a goroutine.
type uftraceTask struct {
	first   time.Duration
	records []byte
	begun   bool // the file is there
}

// record adds a record: time: 8; then, from the lowest bit on, type: 2 bits, whether arguments
// follow: 1, magic: 3, depth: 10, address: 48.
func (u *uftrace) record(goroutine uint64, kind uint64, c *frame, ticks uint64) {
	at := u.clock.Since(ticks)
	t := u.tasks[goroutine]
	if t == nil {
		t = &uftraceTask{first: at}
		u.tasks[goroutine] = t
		u.order = append(u.order, goroutine)
	}
	const magic = 5
	depth := uint64(min(c.Data.Shown, uftraceDepth))
	address := uftraceBase + uftraceText + uint64(c.Function)*16
	t.records = binary.LittleEndian.AppendUint64(t.records, uint64(at))
	t.records = binary.LittleEndian.AppendUint64(t.records, kind|magic<<3|depth<<6|address<<16)
	if len(t.records) >= uftraceWait {
		u.flush(goroutine, t)
	}
}

// flush appends what waits to the task's file.
func (u *uftrace) flush(goroutine uint64, t *uftraceTask) {
	flags := os.O_WRONLY | os.O_APPEND
	if !t.begun {
		flags = os.O_WRONLY | os.O_CREATE | os.O_EXCL
	}
	t.begun = true
	f, err := os.OpenFile(filepath.Join(u.dir, fmt.Sprintf("%d.dat", goroutine)), flags, 0o600)
	if err == nil {
		_, err = f.Write(t.records)
		err = errors.Join(err, f.Close())
	}
	u.err = errors.Join(u.err, err)
	t.records = t.records[:0]
}

// finish writes what uftrace reads first: its header, the tasks, the map of the program, and the
// symbols.
func (u *uftrace) finish(r *recording.Recording) {
	var tasks, symbols bytes.Buffer
	const session = "0123456789abcdef"
	stamp := func(d time.Duration) string { return fmt.Sprintf("%d.%09d", d/time.Second, d%time.Second) }
	fmt.Fprintf(&tasks, "SESS timestamp=0.000000000 pid=%d sid=%s exename=%q\n", r.Env.PID, session, r.Env.Executable)
	var ids []string
	for _, id := range u.order {
		ids = append(ids, fmt.Sprint(id))
		t := u.tasks[id]
		fmt.Fprintf(&tasks, "TASK timestamp=%s tid=%d pid=%d\n", stamp(t.first), id, r.Env.PID)
		u.flush(id, t)
	}
	functions := r.Functions()
	fmt.Fprintf(&symbols, "# symbols: %d\n# path name: %s\n# build-id:\n", len(functions)+1, r.Env.Executable)
	for _, f := range functions {
		fmt.Fprintf(&symbols, "%016x T %s\n", uftraceText+uint64(f.Key)*16, f.FullName())
	}
	end := uftraceText + uint64(r.Keys())*16
	fmt.Fprintf(&symbols, "%016x ? __sym_end\n", end)

	const taskSession, relativeSymbols, maxStack = 1 << 1, 1 << 5, 1 << 6
	header := append([]byte("Ftrace!\x00"), 4, 0, 0, 0, 40, 0, 1, 2) // version 4, size of this header, little-endian, 64 bits
	const executable, taskInfo = 1 << 0, 1 << 7
	for _, v := range []uint64{taskSession | relativeSymbols | maxStack, executable | taskInfo, uftraceDepth + 1} {
		header = binary.LittleEndian.AppendUint64(header, v)
	}
	header = fmt.Appendf(header, "exename:%s\ntaskinfo:lines=2\ntaskinfo:nr_tid=%d\ntaskinfo:tids=%s\n", r.Env.Executable, len(u.order), strings.Join(ids, ","))
	name := filepath.Base(r.Env.Executable)
	// The map ends with the stack: what is in front of that is taken in.
	for file, data := range map[string][]byte{
		"info":                    header,
		"task.txt":                tasks.Bytes(),
		"sid-" + session + ".map": fmt.Appendf(nil, "%x-%x r-xp 00000000 00:00 0 %s\n7ffc00000000-7ffc00001000 rw-p 00000000 00:00 0 [stack]\n", uftraceBase, (uftraceBase+end+0xFFF)&^0xFFF, r.Env.Executable),
		name + ".sym":             symbols.Bytes(),
		"default.opts":            nil,
	} {
		u.err = errors.Join(u.err, os.WriteFile(filepath.Join(u.dir, file), data, 0o600))
	}
}
