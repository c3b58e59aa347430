//go:build linux || darwin

package ownfile

import (
	"crypto/rand"
	"errors"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// A trail is a path that was followed up to its last name, as the core does it for FTRACE_OUT
// (internal/guest/os/own_unix.go): name by name, each directory being looked at once it is open.
type trail struct {
	dir        int    // descriptor
	name       string // no symbolic link, but where kept
	shared     bool   // others may write to the directory
	kept       bool   // the directory is one of /proc, or on macOS of /dev, whose names lead to what is open already
	user, root uint32
}

// follow follows a path. Who calls it closes dir.
func follow(path string) (*trail, error) {
	t := &trail{dir: -1, user: uint32(os.Geteuid())}
	err := t.walk(path)
	if err != nil && t.dir >= 0 {
		unix.Close(t.dir)
	}
	return t, err
}

func (t *trail) walk(path string) error {
	if path == "" {
		return syscall.ENOENT
	}
	if err := t.enter(unix.AT_FDCWD, "/", 0); err != nil {
		return err
	}
	stat, err := status(t.dir)
	if err != nil {
		return err
	}
	t.root = stat.Owner
	if path[0] != '/' {
		if err := t.enter(unix.AT_FDCWD, ".", 0); err != nil {
			return err
		}
	}
	for links := 0; ; {
		if err := t.look(); err != nil {
			return err
		}
		name, rest, _ := strings.Cut(strings.TrimLeft(path, "/"), "/")
		rest = strings.TrimLeft(rest, "/")
		if t.name = name; name == "" {
			t.name = "."
		}
		to := make([]byte, unix.PathMax)
		if n, err := unix.Readlinkat(t.dir, t.name, to); err == nil && !t.kept {
			if links++; t.shared {
				return Symlink
			} else if links > 40 {
				return syscall.ELOOP
			}
			if path = string(to[:n]) + "/" + rest; path[0] == '/' {
				if err := t.enter(unix.AT_FDCWD, "/", 0); err != nil {
					return err
				}
			}
			continue
		}
		if rest == "" {
			return nil
		}
		if err := t.enter(t.dir, t.name, t.noLink()); err != nil {
			return err
		}
		path = rest
	}
}

// look finds out what is to know of the directory.
func (t *trail) look() error {
	stat, err := status(t.dir)
	t.kept = leadsToOpen(t.dir)
	t.shared = stat.Shared(t.user, t.root)
	return err
}

// enter makes a directory the one that the rest of the path is looked up in.
func (t *trail) enter(in int, name string, flags int) error {
	dir, err := unix.Openat(in, name, plain|flags, 0)
	if err != nil {
		return err
	}
	if t.dir >= 0 {
		unix.Close(t.dir)
	}
	t.dir = dir
	return nil
}

// noLink returns the flag that makes a symbolic link an error, where that is no part of the path.
func (t *trail) noLink() int {
	if t.kept {
		return 0
	}
	return unix.O_NOFOLLOW
}

func status(fd int) (Stat, error) {
	var s unix.Stat_t
	err := unix.Fstat(fd, &s)
	return Stat{Mode: uint32(s.Mode), Owner: s.Uid, Links: uint64(s.Nlink)}, err
}

func open(path string, access int) (*os.File, error) {
	t, err := follow(path)
	if err != nil {
		return nil, err
	}
	defer unix.Close(t.dir)
	flags := access | unix.O_CLOEXEC | unix.O_NOCTTY
	for {
		fd, err := unix.Openat(t.dir, t.name, flags|t.noLink(), 0)
		if errors.Is(err, syscall.EINTR) {
			continue // it waits for a FIFO's reader
		}
		if errors.Is(err, syscall.ENOENT) && !t.kept {
			fd, err = unix.Openat(t.dir, t.name, flags|unix.O_CREAT|unix.O_EXCL, 0o600)
			if errors.Is(err, syscall.EEXIST) {
				continue // another process has just made it
			}
			if err == nil {
				return os.NewFile(uintptr(fd), path), nil
			}
		}
		if err != nil {
			return nil, err
		}
		stat, err := status(fd)
		if r := stat.Refusal(t.user, t.root, t.shared); err == nil && r != None && !t.kept {
			err = r
		}
		if err != nil {
			unix.Close(fd)
			return nil, err
		}
		return os.NewFile(uintptr(fd), path), nil
	}
}

func replace(path string) (*Replacement, error) {
	t, err := follow(path)
	if err != nil {
		return nil, err
	}
	var there unix.Stat_t
	err = unix.Fstatat(t.dir, t.name, &there, unix.AT_SYMLINK_NOFOLLOW)
	isFile := errors.Is(err, syscall.ENOENT) || err == nil && there.Mode&unix.S_IFMT == unix.S_IFREG && there.Nlink == 1
	if err == nil && isFile && !t.kept { // is it to be written to?
		f, err := open(path, os.O_WRONLY)
		if err != nil {
			unix.Close(t.dir)
			return nil, err
		}
		f.Close()
	}
	if !isFile || t.kept {
		unix.Close(t.dir)
		f, err := Create(path)
		if failed := (*os.PathError)(nil); errors.As(err, &failed) {
			err = failed.Err
		}
		return &Replacement{File: f}, err
	}
	temp := "." + rand.Text()
	fd, err := unix.Openat(t.dir, temp, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o600)
	if err != nil {
		unix.Close(t.dir)
		return nil, err
	}
	if there.Mode != 0 {
		unix.Fchmod(fd, uint32(there.Mode&0o777))
	}
	done := func() { unix.Close(t.dir) }
	return &Replacement{os.NewFile(uintptr(fd), path), func() error {
		if err := unix.Renameat(t.dir, temp, t.dir, t.name); err != nil {
			return &os.PathError{Op: "can't write to", Path: path, Err: err}
		}
		done()
		return nil
	}, func() {
		unix.Unlinkat(t.dir, temp, 0)
		done()
	}}, nil
}
