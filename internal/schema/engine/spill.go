package engine

import (
	"errors"
	"sync"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// SQLite keeps what does not fit into memory during a sort or a grouping in temporary files. It has
// no limit for them, so its file system gets a layer that counts what all of them hold. Beyond
// maxSpill a write fails as on a full disk.
var spilled struct {
	mu      sync.Mutex
	most    int64
	bytes   int64                                    // of all temporary files
	sizes   map[uintptr]int64                        // of each, by its sqlite3_file
	vfs     uintptr                                  // the system's own
	plain   map[uintptr]*sqlite3.Tsqlite3_io_methods // the system's methods, by ours
	methods map[uintptr]uintptr                      // our methods, by the system's
}

// SpillLimit returns how many bytes SQLite's temporary files may have together.
func SpillLimit() int64 {
	spilled.mu.Lock()
	defer spilled.mu.Unlock()
	return spilled.most
}

// SetSpillLimit changes that, and returns what it was.
func SetSpillLimit(most int64) (before int64) {
	spilled.mu.Lock()
	defer spilled.mu.Unlock()
	before, spilled.most = spilled.most, most
	return before
}

// Spilled returns how many bytes are in how many temporary files.
func Spilled() (bytes int64, files int) {
	spilled.mu.Lock()
	defer spilled.mu.Unlock()
	return spilled.bytes, len(spilled.sizes)
}

// limitSpill installs the layer. It is called once, before the first session.
func limitSpill(tls *libc.TLS) error {
	s := &spilled
	s.most, s.sizes = maxSpill, map[uintptr]int64{}
	s.plain, s.methods = map[uintptr]*sqlite3.Tsqlite3_io_methods{}, map[uintptr]uintptr{}
	if s.vfs = sqlite3.Xsqlite3_vfs_find(tls, 0); s.vfs == 0 {
		return errors.New("SQLite has no file system")
	}
	name, err := libc.CString("ftrace")
	if err != nil {
		return err
	}
	layer, err := inC(tls, *at[sqlite3.Tsqlite3_vfs](s.vfs))
	if err != nil {
		return err
	}
	vfs := at[sqlite3.Tsqlite3_vfs](layer)
	vfs.FzName, vfs.FxOpen = name, cFunction(spillOpen)
	if rc := sqlite3.Xsqlite3_vfs_register(tls, layer, 1); rc != sqlite3.SQLITE_OK {
		return errors.New("SQLite takes no other file system")
	}
	return nil
}

// at returns the pointer for an address in SQLite's memory.
func at[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

// inC copies a value into SQLite's memory, for as long as the process runs.
func inC[T any](tls *libc.TLS, value T) (uintptr, error) {
	p := libc.Xcalloc(tls, 1, libc.Tsize_t(unsafe.Sizeof(value)))
	if p == 0 {
		return 0, errors.New("out of memory")
	}
	*at[T](p) = value
	return p, nil
}

// cFunction returns SQLite's pointer to a function that is not a closure.
func cFunction[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }

// goFunction is the reverse of cFunction.
func goFunction[F any](f uintptr) F { return *(*F)(unsafe.Pointer(&f)) }

type (
	openFunc     = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32
	closeFunc    = func(tls *libc.TLS, file uintptr) int32
	writeFunc    = func(tls *libc.TLS, file, from uintptr, n int32, offset int64) int32
	truncateFunc = func(tls *libc.TLS, file uintptr, size int64) int32
	controlFunc  = func(tls *libc.TLS, file uintptr, op int32, arg uintptr) int32
)

// spillOpen opens a file. A temporary one gets our methods.
func spillOpen(tls *libc.TLS, _, name, file uintptr, flags int32, out uintptr) int32 {
	rc := goFunction[openFunc](at[sqlite3.Tsqlite3_vfs](spilled.vfs).FxOpen)(tls, spilled.vfs, name, file, flags, out)
	if rc != sqlite3.SQLITE_OK || flags&sqlite3.SQLITE_OPEN_DELETEONCLOSE == 0 {
		return rc
	}
	s := &spilled
	s.mu.Lock()
	defer s.mu.Unlock()
	f := at[sqlite3.Tsqlite3_file](file)
	ours := s.methods[f.FpMethods]
	if ours == 0 {
		plain := at[sqlite3.Tsqlite3_io_methods](f.FpMethods)
		m := *plain
		m.FiVersion = 1 // without memory maps, which are not counted
		m.FxClose, m.FxWrite = cFunction(spillClose), cFunction(spillWrite)
		m.FxTruncate, m.FxFileControl = cFunction(spillTruncate), cFunction(spillControl)
		var err error
		if ours, err = inC(tls, m); err != nil {
			goFunction[closeFunc](plain.FxClose)(tls, file)
			f.FpMethods = 0
			return sqlite3.SQLITE_NOMEM
		}
		s.methods[f.FpMethods], s.plain[ours] = ours, plain
	}
	f.FpMethods = ours
	s.sizes[file] = 0
	return rc
}

// plainMethods returns the system's methods for a file.
func plainMethods(file uintptr) *sqlite3.Tsqlite3_io_methods {
	spilled.mu.Lock()
	defer spilled.mu.Unlock()
	return spilled.plain[at[sqlite3.Tsqlite3_file](file).FpMethods]
}

// spill sets the size that is counted for a file. It reports whether there is room for that.
func spill(file uintptr, size int64) bool {
	s := &spilled
	s.mu.Lock()
	defer s.mu.Unlock()
	grows := size - s.sizes[file]
	if grows > 0 && s.bytes+grows > s.most {
		return false
	}
	s.bytes += grows
	s.sizes[file] = size
	return true
}

func spillWrite(tls *libc.TLS, file, from uintptr, n int32, offset int64) int32 {
	spilled.mu.Lock()
	size := spilled.sizes[file]
	spilled.mu.Unlock()
	if !spill(file, max(size, offset+int64(n))) {
		return sqlite3.SQLITE_FULL
	}
	return goFunction[writeFunc](plainMethods(file).FxWrite)(tls, file, from, n, offset)
}

func spillTruncate(tls *libc.TLS, file uintptr, size int64) int32 {
	rc := goFunction[truncateFunc](plainMethods(file).FxTruncate)(tls, file, size)
	if rc == sqlite3.SQLITE_OK && !spill(file, size) {
		return sqlite3.SQLITE_FULL
	}
	return rc
}

// spillControl ignores the hint that makes a file grow before it is written.
func spillControl(tls *libc.TLS, file uintptr, op int32, arg uintptr) int32 {
	if op == sqlite3.SQLITE_FCNTL_SIZE_HINT {
		return sqlite3.SQLITE_OK
	}
	return goFunction[controlFunc](plainMethods(file).FxFileControl)(tls, file, op, arg)
}

func spillClose(tls *libc.TLS, file uintptr) int32 {
	plain := plainMethods(file)
	spill(file, 0)
	spilled.mu.Lock()
	delete(spilled.sizes, file)
	spilled.mu.Unlock()
	return goFunction[closeFunc](plain.FxClose)(tls, file)
}
