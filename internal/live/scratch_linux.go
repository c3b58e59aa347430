package live

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/ftrace-wrap/ftrace-wrap/internal/scratch"
)

// Scratch makes a directory in which the process can write a recording for this one. Where the two
// see other files, as with a program in a container, it is among those that the process sees.
func (p *Process) Scratch() (*Scratch, error) {
	uid, gid, err := writer(p.PID)
	if err != nil {
		return nil, err
	}
	if p.sameFiles() {
		dir, remove, err := scratch.New()
		if err != nil {
			return nil, err
		}
		s := &Scratch{Inside: filepath.Join(dir, scratchName), Here: filepath.Join(dir, scratchName), Remove: remove}
		if uid != os.Geteuid() { // we are root
			if err := os.Chown(dir, uid, gid); err != nil {
				s.Remove()
				return nil, err
			}
		}
		return s, nil
	}
	root, err := os.OpenRoot(fmt.Sprintf("/proc/%d/root", p.PID))
	if err != nil {
		return nil, err
	}
	var tried []string
	var failed error
	for _, at := range append(temporaryOf(p.PID), "/tmp", "/var/tmp", "/dev/shm") {
		if slices.Contains(tried, at) {
			continue
		}
		tried = append(tried, at)
		dir := filepath.Join(at, fmt.Sprintf("ftrace-%d", rand.Uint64()))
		opened, err := ownDirectory(root, dir[1:], uid, gid)
		if err != nil {
			failed = err
			continue
		}
		return &Scratch{
			Inside: filepath.Join(dir, scratchName),
			// Whatever the program does to the names on the way there, this stays that directory.
			Here: fmt.Sprintf("/proc/self/fd/%d/%s", opened.Fd(), scratchName),
			Remove: func() {
				root.RemoveAll(dir[1:])
				opened.Close()
				root.Close()
			},
		}, nil
	}
	root.Close()
	return nil, fmt.Errorf("process %d sees other files, as in a container, and nothing can be written for it to %s there: %w: mount a tmpfs on /tmp", p.PID, strings.Join(tried, " or "), failed)
}

// Foreign reports whether the process can't be told to write just anywhere for this one: it sees
// other files, or is another user's.
func (p *Process) Foreign() bool {
	uid, _, err := writer(p.PID)
	return err != nil || uid != os.Geteuid() || !p.sameFiles()
}

// OpenDirectory opens the directory that the process records to, whatever either of the two calls
// it. The name is good in this process until the directory is closed, also when the other has
// ended.
func (p *Process) OpenDirectory() (name string, dir *os.File, err error) {
	dir, err = p.memory.openIn(atomic.LoadInt32(&p.head.Directory), ".")
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d", dir.Fd()), dir, nil
}

// scratchName is the name of the recording in the directory that is made for it.
const scratchName = "recording"

// ownDirectory makes a directory of that user's in root, and opens it.
func ownDirectory(root *os.Root, name string, uid, gid int) (*os.File, error) {
	if err := root.Mkdir(name, 0o700); err != nil {
		return nil, err
	}
	dir, err := root.Open(name)
	if err == nil {
		if err = dir.Chown(uid, gid); err == nil {
			return dir, nil
		}
		dir.Close()
	}
	root.Remove(name)
	return nil, err
}

// sameFiles reports whether the process sees the same files by the same names as this one.
func (p *Process) sameFiles() bool {
	mounts := func(pid string) string {
		to, _ := os.Readlink("/proc/" + pid + "/ns/mnt")
		return to
	}
	ours, err := os.Stat("/proc/self/root")
	if err != nil {
		return true
	}
	its, err := os.Stat(fmt.Sprintf("/proc/%d/root", p.PID))
	return err != nil || os.SameFile(ours, its) && mounts("self") == mounts(strconv.Itoa(p.PID))
}

// temporaryOf returns the directory that the process was told to use for temporary files, if it
// was.
func temporaryOf(pid int) []string {
	environment, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	for v := range strings.SplitSeq(string(environment), "\x00") {
		if dir, ok := strings.CutPrefix(v, "TMPDIR="); ok && filepath.IsAbs(dir) {
			return []string{filepath.Clean(dir)}
		}
	}
	return nil
}

// writer returns the user and the group that a process makes files as.
func writer(pid int) (uid, gid int, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return 0, 0, fmt.Errorf("process %d has ended", pid)
	}
	if err != nil {
		return 0, 0, err
	}
	uid, gid = os.Geteuid(), os.Getegid()
	for line := range strings.Lines(string(status)) {
		fields := strings.Fields(line)
		if len(fields) != 5 {
			continue
		}
		switch id, err := strconv.Atoi(fields[4]); { // of the file system
		case err != nil:
		case fields[0] == "Uid:":
			uid = id
		case fields[0] == "Gid:":
			gid = id
		}
	}
	return uid, gid, nil
}
