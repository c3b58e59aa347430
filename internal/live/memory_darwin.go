package live

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
	"github.com/ftrace-wrap/ftrace-wrap/internal/symbols"
)

// shared is the memory file of a process, which internal/guest/os/memory_darwin.go makes.
type shared struct {
	pid int
	*memoryFile
}

// A memoryFile is open once, whoever looks into the process here: if a file of the same name were
// opened again, and closed, the system would unlock what is locked in this one.
type memoryFile struct {
	file  *os.File
	is    os.FileInfo
	users int
	locks map[int64]bool
}

var memoryFiles struct {
	sync.Mutex
	open []*memoryFile
}

// memoryName returns the name of the memory file of a process, or of all.
func memoryName(pid string) string {
	dir := os.Getenv("TMPDIR")
	if !filepath.IsAbs(dir) {
		dir = "/tmp"
	}
	return filepath.Join(dir, "ftrace-"+pid+"-memory")
}

// processes returns the numbers of processes that have a memory file, or have left one.
func processes() (list []int) {
	names, _ := filepath.Glob(memoryName("[0-9]*"))
	for _, name := range names {
		pid, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(filepath.Base(name), "ftrace-"), "-memory"))
		if err == nil && memoryName(strconv.Itoa(pid)) == name {
			list = append(list, pid)
		}
	}
	return list
}

// openMemory opens the memory file of a process. It removes one that a killed process has left.
func openMemory(pid int) (*shared, error) {
	name := memoryName(strconv.Itoa(pid))
	files := &memoryFiles
	files.Lock()
	defer files.Unlock()
	is, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, noMemory(pid)
	}
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(files.open, func(m *memoryFile) bool { return os.SameFile(m.is, is) })
	if i < 0 {
		m, err := openOwn(name)
		switch {
		case errors.Is(err, fs.ErrPermission):
			return nil, &deniedError{fmt.Sprintf("process %d: its memory file can't be used: %v", pid, err)}
		case err != nil:
			return nil, fmt.Errorf("process %d: its memory file can't be opened: %w", pid, err)
		}
		i, files.open = len(files.open), append(files.open, m)
	}
	m := &shared{pid, files.open[i]}
	m.users++
	if m.alive() {
		return m, nil
	}
	// A program locks its file right after it has made it.
	if age := time.Since(m.is.ModTime()); !exists(pid) || age > time.Minute {
		os.Remove(name)
	}
	m.leave()
	return nil, noMemory(pid)
}

// openOwn opens a file of this user's, to which nobody else may write.
func openOwn(name string) (*memoryFile, error) {
	f, err := os.OpenFile(name, os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	is, err := f.Stat()
	if err == nil && !isOwn(is) {
		err = fmt.Errorf("%s is no file that only this user may use: %w", name, fs.ErrPermission)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &memoryFile{file: f, is: is, locks: map[int64]bool{}}, nil
}

// isOwn reports whether a file is a regular one of this user's, for nobody else, by one name.
func isOwn(is os.FileInfo) bool {
	stat, ok := is.Sys().(*syscall.Stat_t)
	return ok && is.Mode()&^0o700 == 0 && stat.Uid == uint32(os.Geteuid()) && stat.Nlink <= 1
}

// noMemory is the error of a process without a memory file.
func noMemory(pid int) error {
	if !exists(pid) {
		return fmt.Errorf("there is no process %d", pid)
	}
	return fmt.Errorf("process %d has no memory file in %s: it was not built with ftrace-wrap, runs with FTRACE_MEMORY=off, or has another TMPDIR", pid, filepath.Dir(memoryName("")))
}

// exists reports whether there is a process of that number.
func exists(pid int) bool {
	return pid > 0 && int(int32(pid)) == pid && !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

func (m *shared) close() error {
	memoryFiles.Lock()
	defer memoryFiles.Unlock()
	return m.leave()
}

// leave closes the file if nobody else uses it. memoryFiles is locked.
func (m *memoryFile) leave() error {
	if m.users--; m.users > 0 {
		return nil
	}
	memoryFiles.open = slices.DeleteFunc(memoryFiles.open, func(f *memoryFile) bool { return f == m })
	return m.file.Close()
}

// written returns the first place from at on that may have been written to. What the system tells
// of holes may be without what is only in memory so far.
func (m *shared) written(at uint64) (uint64, error) { return at, nil }

// touched returns how many bytes of memory a part of these bytes may take.
func (m *shared) touched(from, to int64) uint64 { return uint64(to - from) }

// taken returns how much room the file takes, and its size.
func (m *shared) taken() (bytes, size uint64, err error) {
	var stat syscall.Stat_t
	err = syscall.Fstat(int(m.file.Fd()), &stat)
	return uint64(stat.Blocks) * 512, uint64(stat.Size), err
}

// programLock is the byte of the file that the program has locked while it runs.
const programLock = 1

// alive reports whether the process still runs, by its lock: no other process of that number has
// it.
func (m *shared) alive() bool {
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Start: programLock, Len: 1}
	err := syscall.FcntlFlock(m.file.Fd(), syscall.F_GETLK, &lock)
	return err == nil && lock.Type != syscall.F_UNLCK && int(lock.Pid) == m.pid
}

// lock locks a part of the file for this reader. It fails with errLocked if another reader has done
// so. The system unlocks it when the reader ends.
func (m *shared) lock(part int64) error {
	memoryFiles.Lock()
	defer memoryFiles.Unlock()
	if m.locks[part] {
		return errLocked
	}
	err := m.setLock(part, syscall.F_WRLCK)
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) {
		return errLocked
	}
	m.locks[part] = err == nil
	return err
}

func (m *shared) unlock(part int64) {
	memoryFiles.Lock()
	defer memoryFiles.Unlock()
	m.setLock(part, syscall.F_UNLCK)
	delete(m.locks, part)
}

func (m *shared) setLock(part int64, kind int16) error {
	return syscall.FcntlFlock(m.file.Fd(), syscall.F_SETLK, &syscall.Flock_t{Type: kind, Start: part, Len: 1})
}

// wake tells the process that there is a request. The mode is what it was.
func (m *shared) wake(*format.Head) { m.file.Chmod(0o600) }

// awaitReply waits a little, unless the request of that number was answered.
func (m *shared) awaitReply(h *format.Head, number uint32) {
	if atomic.LoadUint32(&h.Reply) != number {
		time.Sleep(200 * time.Microsecond)
	}
}

// alsoKnownAs returns no processes: each has one number.
func alsoKnownAs(int) []int { return nil }

// mayBe reports whether a process into which one may not look runs an executable of that name, as
// far as the system tells.
func mayBe(pid int, _, executable string) bool {
	runs, _ := symbols.Program(pid)
	return runs == "" || filepath.Base(runs) == filepath.Base(executable)
}
