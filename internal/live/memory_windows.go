package live

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
	"github.com/ftrace-wrap/ftrace-wrap/internal/symbols"
)

// shared is the memory that a process shows: sections by the names of their places, as
// internal/guest/os/memory_windows.go makes them, and two events.
type shared struct {
	pid            int
	process        windows.Handle // as long as it is open, no other process has the number
	request, reply windows.Handle
	lockParts      sync.Mutex
	sections       map[uint64][]byte // that were mapped, by their places
	locks          map[int64]windows.Handle
}

var openFileMapping = windows.NewLazySystemDLL("kernel32.dll").NewProc("OpenFileMappingW")

const (
	waitOnly   = windows.SYNCHRONIZE
	setAndWait = windows.SYNCHRONIZE | windows.EVENT_MODIFY_STATE
)

// processes returns the numbers of all processes.
func processes() (list []int) {
	all, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return nil
	}
	defer windows.CloseHandle(all)
	entry := windows.ProcessEntry32{}
	entry.Size = uint32(unsafe.Sizeof(entry))
	for err = windows.Process32First(all, &entry); err == nil; err = windows.Process32Next(all, &entry) {
		list = append(list, int(entry.ProcessID))
	}
	return list
}

// objectName returns the name of something that a process, or one that looks into it, has made. It
// is known in this session of the system only.
func objectName(pid int, what string) *uint16 {
	name, _ := windows.UTF16PtrFromString(fmt.Sprintf(`Local\ftrace-%d-%s`, pid, what)) // there is no zero in it
	return name
}

// openMemory opens the memory of a process.
func openMemory(pid int) (_ *shared, err error) {
	m := &shared{pid: pid, sections: map[uint64][]byte{}, locks: map[int64]windows.Handle{}}
	defer func() {
		if err != nil {
			m.close()
		}
	}()
	if pid < 0 || pid > math.MaxUint32 {
		return nil, fmt.Errorf("there is no process %d", pid)
	}
	m.process, err = windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION|windows.SYNCHRONIZE, false, uint32(pid))
	switch {
	case errors.Is(err, windows.ERROR_INVALID_PARAMETER):
		return nil, fmt.Errorf("there is no process %d", pid)
	case errors.Is(err, windows.ERROR_ACCESS_DENIED):
		return nil, permissionError(pid)
	case err != nil:
		return nil, fmt.Errorf("process %d: %w", pid, err)
	}
	if !m.alive() {
		return nil, fmt.Errorf("there is no process %d", pid)
	}
	for _, event := range []struct {
		handle *windows.Handle
		access uint32
		name   string
	}{{&m.request, setAndWait, "request"}, {&m.reply, waitOnly, "reply"}} {
		if *event.handle, err = windows.OpenEvent(event.access, false, objectName(pid, event.name)); err != nil {
			return nil, noMemory(pid, err)
		}
	}
	if _, err := m.section(0); err != nil {
		return nil, noMemory(pid, err)
	}
	return m, nil
}

// noMemory is the error of a process of which a part of the memory can't be opened.
func noMemory(pid int, err error) error {
	switch {
	case errors.Is(err, windows.ERROR_FILE_NOT_FOUND):
		return fmt.Errorf("process %d has no memory of ftrace-wrap's: it was not built with ftrace-wrap, runs with FTRACE_MEMORY=off, or in another session of the system", pid)
	case errors.Is(err, windows.ERROR_ACCESS_DENIED):
		return permissionError(pid)
	}
	return fmt.Errorf("process %d: its memory can't be opened: %w", pid, err)
}

// permissionError is the error of a process that may not be looked into.
func permissionError(pid int) error {
	return &deniedError{fmt.Sprintf("process %d is another user's, or has more privileges than this one", pid)}
}

// section returns what was mapped of the section at a place.
func (m *shared) section(at uint64) ([]byte, error) {
	m.lockParts.Lock()
	defer m.lockParts.Unlock()
	if mem := m.sections[at]; mem != nil {
		return mem, nil
	}
	const access = windows.FILE_MAP_READ | windows.FILE_MAP_WRITE
	handle, _, err := openFileMapping.Call(access, 0, uintptr(unsafe.Pointer(objectName(m.pid, fmt.Sprint(at)))))
	if handle == 0 {
		return nil, err
	}
	defer windows.CloseHandle(windows.Handle(handle)) // what is mapped stays
	address, err := windows.MapViewOfFile(windows.Handle(handle), access, 0, 0, 0)
	if err != nil {
		return nil, err
	}
	var region windows.MemoryBasicInformation
	if err := windows.VirtualQuery(address, &region, unsafe.Sizeof(region)); err != nil {
		windows.UnmapViewOfFile(address)
		return nil, err
	}
	mem := unsafe.Slice(*(**byte)(unsafe.Pointer(&address)), region.RegionSize)
	m.sections[at] = mem
	return mem, nil
}

// mapHead maps the head.
func (m *shared) mapHead() ([]byte, error) {
	mem, err := m.section(0)
	if err != nil || len(mem) < format.HeadSize {
		return nil, errStarting
	}
	return mem[:format.HeadSize], nil
}

func (m *shared) unmapHead([]byte) {} // close does it

func (m *shared) close() error {
	for _, mem := range m.sections {
		windows.UnmapViewOfFile(uintptr(unsafe.Pointer(&mem[0])))
	}
	for part := range m.locks {
		m.unlock(part)
	}
	for _, handle := range []windows.Handle{m.request, m.reply, m.process} {
		if handle != 0 {
			windows.CloseHandle(handle)
		}
	}
	return nil
}

// size returns how much there can be: each section has a size of its own, which readAt sees to.
func (m *shared) size() (uint64, error) { return math.MaxInt64, nil }

// readAt reads from a place in the memory, whose head was checked. Sections that the process has
// not made yet are read as zeros.
func (m *shared) readAt(h *format.Head, b []byte, at uint64) (int, error) {
	begin := uint64(0)
	for _, s := range []format.Section{h.Tables, h.Flags, h.Goroutines, h.Frames, h.Spans, h.Probes} {
		if s.At <= at {
			begin = max(begin, s.At)
		}
	}
	if p := h.Processors; p.At <= at && p.Size > 0 && (at-p.At)/p.Size < p.Max {
		begin = max(begin, p.At+(at-p.At)/p.Size*p.Size)
	}
	mem, err := m.section(begin)
	if errors.Is(err, windows.ERROR_FILE_NOT_FOUND) {
		mem, err = nil, nil
	}
	if err != nil {
		return 0, err
	}
	clear(b[copy(b, mem[min(at-begin, uint64(len(mem))):]):])
	return len(b), nil
}

// written returns the first place from at on that may have been written to. The system does not
// tell of a section's pages which were.
func (m *shared) written(at uint64) (uint64, error) { return at, nil }

// touched returns how many bytes of memory a part of these bytes takes: the system has promised all
// of them.
func (m *shared) touched(from, to int64) uint64 { return uint64(to - from) }

// taken returns how much memory the sections take that were mapped here, and their size.
func (m *shared) taken() (bytes, size uint64, err error) {
	m.lockParts.Lock()
	defer m.lockParts.Unlock()
	for _, mem := range m.sections {
		bytes += uint64(len(mem))
	}
	return bytes, bytes, nil
}

// alive reports whether the process still runs.
func (m *shared) alive() bool {
	state, err := windows.WaitForSingleObject(m.process, 0)
	return err == nil && state == uint32(windows.WAIT_TIMEOUT)
}

// lock locks a part of the memory for this reader. It fails with errLocked if another reader has
// done so. It is locked while an object of a name of its own is there: that is gone when the reader
// ends, however it does.
func (m *shared) lock(part int64) error {
	handle, err := windows.CreateEvent(nil, 0, 0, objectName(m.pid, fmt.Sprint("lock-", part)))
	if err != nil {
		if handle != 0 { // it was there already
			windows.CloseHandle(handle)
		}
		if errors.Is(err, windows.ERROR_ALREADY_EXISTS) || errors.Is(err, windows.ERROR_ACCESS_DENIED) {
			return errLocked
		}
		return err
	}
	m.lockParts.Lock()
	defer m.lockParts.Unlock()
	m.locks[part] = handle
	return nil
}

func (m *shared) unlock(part int64) {
	m.lockParts.Lock()
	defer m.lockParts.Unlock()
	windows.CloseHandle(m.locks[part])
	delete(m.locks, part)
}

// wake tells the process that there is a request.
func (m *shared) wake(*format.Head) { windows.SetEvent(m.request) }

// awaitReply waits a little, or until a request was answered.
func (m *shared) awaitReply(*format.Head, uint32) { windows.WaitForSingleObject(m.reply, 20) }

// directory returns the directory that a descriptor of the process is of, or "".
func (m *shared) directory(descriptor int32) string {
	f, err := m.duplicate(descriptor)
	if err != nil {
		return ""
	}
	defer f.Close()
	path := make([]uint16, 1<<15)
	n, err := windows.GetFinalPathNameByHandle(windows.Handle(f.Fd()), &path[0], uint32(len(path)), 0)
	if err != nil || int(n) > len(path) {
		return ""
	}
	return strings.TrimPrefix(windows.UTF16ToString(path[:n]), `\\?\`)
}

func (m *shared) statDirectory(descriptor int32) (os.FileInfo, error) {
	f, err := m.duplicate(descriptor)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Stat()
}

// openIn opens a file in that directory.
func (m *shared) openIn(descriptor int32, name string) (*os.File, error) {
	dir := m.directory(descriptor)
	if dir == "" {
		return nil, fs.ErrNotExist
	}
	return os.Open(filepath.Join(dir, name))
}

// duplicate returns what a descriptor of the process is of.
func (m *shared) duplicate(descriptor int32) (*os.File, error) {
	process, err := windows.OpenProcess(windows.PROCESS_DUP_HANDLE, false, uint32(m.pid))
	if err != nil {
		return nil, err
	}
	defer windows.CloseHandle(process)
	var handle windows.Handle
	if err := windows.DuplicateHandle(process, windows.Handle(descriptor), windows.CurrentProcess(), &handle, 0, false, windows.DUPLICATE_SAME_ACCESS); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(handle), "directory"), nil
}

// alsoKnownAs returns no processes: each has one number.
func alsoKnownAs(int) []int { return nil }

// mayBe reports whether a process into which one may not look runs an executable of that name, as
// far as the system tells.
func mayBe(pid int, _, executable string) bool {
	runs, _ := symbols.Program(pid)
	return runs == "" || strings.EqualFold(filepath.Base(runs), filepath.Base(executable))
}
