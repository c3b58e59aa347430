package live

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
)

// memoryName is what the descriptors of the memory file lead to.
const memoryName = "/memfd:ftrace (deleted)"

// shared is the memory file of a process.
type shared struct {
	pid  int
	file *os.File
	stat *os.File // of the process, and never of another one that gets its number
}

// processes returns the numbers of all processes.
func processes() (list []int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil {
			list = append(list, pid)
		}
	}
	return list
}

// openMemory opens the memory file of a process.
func openMemory(pid int) (*shared, error) {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no process %d", pid)
	case errors.Is(err, fs.ErrPermission):
		return nil, permissionError(pid)
	case err != nil:
		return nil, err
	}
	for _, e := range slices.Backward(entries) { // it has a high number
		name := filepath.Join(dir, e.Name())
		to, err := os.Readlink(name)
		if errors.Is(err, fs.ErrPermission) { // the names are for its user, what they lead to is not
			return nil, permissionError(pid)
		}
		if err != nil || to != memoryName {
			continue
		}
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		switch {
		case errors.Is(err, fs.ErrPermission):
			return nil, permissionError(pid)
		case err != nil:
			return nil, err
		}
		if !ownMemory(f, pid) {
			f.Close()
			continue
		}
		return newShared(pid, f)
	}
	return nil, fmt.Errorf("process %d has no memory file: it was not built with ftrace-wrap, or runs with FTRACE_MEMORY=off", pid)
}

// newShared returns the memory file of a process, which was opened.
func newShared(pid int, file *os.File) (*shared, error) {
	stat, err := os.Open(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("there is no process %d", pid)
	}
	return &shared{pid, file, stat}, nil
}

// permissionError is the error of a process that may not be looked into.
func permissionError(pid int) error {
	text := "is another user's"
	if users := statusOf(pid, "Uid"); len(users) > 1 && users[1] == strconv.Itoa(os.Geteuid()) {
		text = "may not be looked into: it has more capabilities than this process, or is in another user namespace, so that needs CAP_SYS_PTRACE"
	} else if os.Geteuid() == 0 {
		text += ": root needs CAP_SYS_PTRACE and CAP_DAC_OVERRIDE for that"
	}
	return &deniedError{fmt.Sprintf("process %d %s", pid, text)}
}

// ownMemory reports whether a memory file is the process's own, and not that of another process
// into which it looks. In a container a process knows itself by another number.
func ownMemory(f *os.File, pid int) bool {
	var b [8]byte
	if _, err := f.ReadAt(b[:], int64(unsafe.Offsetof(format.Head{}.PID))); err != nil {
		return true // Attach says what is wrong
	}
	owner := int(binary.LittleEndian.Uint64(b[:]))
	if owner == 0 || owner == pid {
		return true
	}
	return slices.Contains(statusOf(pid, "NSpid"), strconv.Itoa(owner))
}

func (m *shared) close() error { return errors.Join(m.stat.Close(), m.file.Close()) }

// written returns the first place from at on in a page that was written to, the largest number if
// there is none.
func (m *shared) written(at uint64) (uint64, error) {
	const seekData = 3
	from, err := m.file.Seek(int64(at), seekData)
	if errors.Is(err, syscall.ENXIO) {
		return math.MaxUint64, nil
	}
	return uint64(from), err
}

// alive reports whether the process still runs.
func (m *shared) alive() bool {
	var b [64]byte // room for PID (NAME) STATE: the name has 15 bytes at most, which may be any
	n, _ := m.stat.ReadAt(b[:], 0)
	at := bytes.LastIndex(b[:n], []byte(") ")) + 2
	return at >= 2 && at < n && b[at] != 'Z' && b[at] != 'X'
}

// lock locks a part of the file for this reader. It fails with errLocked if another reader has done
// so. The system unlocks it when the reader ends.
func (m *shared) lock(part int64) error {
	err := m.setLock(part, syscall.F_WRLCK)
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) {
		return errLocked
	}
	return err
}

func (m *shared) unlock(part int64) { m.setLock(part, syscall.F_UNLCK) }

func (m *shared) setLock(part int64, kind int16) error {
	const set = 37 // F_OFD_SETLK
	return syscall.FcntlFlock(m.file.Fd(), set, &syscall.Flock_t{Type: kind, Whence: 0, Start: part, Len: 1})
}

// wake tells the process that there is a request.
func (m *shared) wake(h *format.Head) { futex(&h.Request, futexWake, 1, 0) }

// awaitReply waits a little, unless the request of that number was answered.
func (m *shared) awaitReply(h *format.Head, number uint32) {
	if v := atomic.LoadUint32(&h.Reply); v != number {
		futex(&h.Reply, futexWait, v, 20*time.Millisecond)
	}
}

const (
	futexWait = 0
	futexWake = 1
)

// futex waits while the word is v, or wakes those who wait.
func futex(word *uint32, op int, v uint32, timeout time.Duration) {
	ts := syscall.NsecToTimespec(int64(timeout))
	syscall.Syscall6(syscall.SYS_FUTEX, uintptr(unsafe.Pointer(word)), uintptr(op), uintptr(v), uintptr(unsafe.Pointer(&ts)), 0, 0)
}

// directory returns the directory that a descriptor of the process is of, or "".
func (m *shared) directory(descriptor int32) string {
	dir, _ := os.Readlink(m.descriptor(descriptor))
	return dir
}

func (m *shared) statDirectory(descriptor int32) (os.FileInfo, error) {
	return os.Stat(m.descriptor(descriptor))
}

// openIn opens a file in that directory.
func (m *shared) openIn(descriptor int32, name string) (*os.File, error) {
	return os.Open(m.descriptor(descriptor) + "/" + name)
}

func (m *shared) descriptor(number int32) string {
	return fmt.Sprintf("/proc/%d/fd/%d", m.pid, number)
}

// alsoKnownAs returns the processes that know themselves by a number, as in a container, and have
// another one here.
func alsoKnownAs(pid int) (list []int) {
	for _, other := range processes() {
		if other != pid && slices.Contains(statusOf(other, "NSpid"), strconv.Itoa(pid)) {
			list = append(list, other)
		}
	}
	return list
}

// mayBe reports whether a process into which one may not look runs as the user whose directory this
// is, and has the name of an executable.
func mayBe(pid int, dir, executable string) bool {
	info, err := os.Stat(dir)
	if err != nil {
		return false
	}
	const maxName = 15 // bytes of it that the system keeps
	name, users := filepath.Base(executable), statusOf(pid, "Uid")
	return len(users) > 1 && users[1] == fmt.Sprint(info.Sys().(*syscall.Stat_t).Uid) && // the effective one
		strings.Join(statusOf(pid, "Name"), " ") == name[:min(len(name), maxName)]
}

// statusOf returns the words of a line of /proc/PID/status.
func statusOf(pid int, name string) []string {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(status)) {
		if words, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.Fields(words)
		}
	}
	return nil
}

// touched returns how many bytes the file has from one place to another, without holes.
func (m *shared) touched(from, to int64) (n uint64) {
	const seekData, seekHole = 3, 4
	for from < to {
		data, err := m.file.Seek(from, seekData)
		if err != nil || data >= to { // there are only holes
			break
		}
		if from, err = m.file.Seek(data, seekHole); err != nil {
			break
		}
		n += uint64(min(from, to) - data)
	}
	return n
}

// taken returns how much memory the file takes, and its size.
func (m *shared) taken() (bytes, size uint64, err error) {
	var stat syscall.Stat_t
	err = syscall.Fstat(int(m.file.Fd()), &stat)
	return uint64(stat.Blocks) * 512, uint64(stat.Size), err
}
