//go:build ftrace_core

// Files that the environment names: FTRACE_OUT and FTRACE_RECORD. They may be in directories that
// others may write to, such as /tmp, where others can put a file, a FIFO or a link in the way.
// Package ownfile decides what is used. Here the path is followed in a way that leaves others no
// time to change it.

package runtime

import "internal/bytealg"

// ftraceTrail is a path that was followed up to its last name.
type ftraceTrail struct {
	dir    int32  // descriptor of the directory that it is in
	name   string // not a symbolic link, unless kept
	shared bool   // others may write to the directory
	kept   bool   // the directory is one of /proc, or on macOS of /dev, whose names lead to what is already open
	user   uint32
	root   uint32
}

// ftraceTrailOf follows a path name by name. It checks each directory once it has opened it, and
// follows no symbolic link in one that others may write to. It returns an errno or 0. If it is 0
// the caller closes dir.
func ftraceTrailOf(path string) (t ftraceTrail, errno int32) {
	t.user = ftraceUser()
	if path == "" {
		return t, ftraceENOENT
	}
	root := ftraceOpenAt(ftraceWorkingDir, "/", ftracePlain)
	if root < 0 {
		return t, -root
	}
	if stat, ok := ftraceStatus(root); ok {
		t.root = stat.Owner
	}
	t.dir = root
	if path[0] != '/' {
		ftraceClose(root)
		if t.dir = ftraceOpenAt(ftraceWorkingDir, ".", ftracePlain); t.dir < 0 {
			return t, -t.dir
		}
	}
	for links := 0; ; {
		stat, ok := ftraceStatus(t.dir)
		t.shared = !ok || stat.Shared(t.user, t.root)
		t.kept = ftraceLeadsToOpen(t.dir)
		path = ftraceWithoutSlashes(path)
		rest := ""
		t.name = path
		if i := bytealg.IndexByteString(path, '/'); i >= 0 {
			t.name, rest = path[:i], path[i:]
		}
		if t.name == "" {
			t.name = "."
		}
		if to := ftraceReadLink(t.dir, t.name); to != "" && !t.kept {
			links++
			switch {
			case t.shared:
				errno = ftraceRefused + int32(ftrace_ownfile_Symlink)
			case links > 40:
				errno = ftraceELOOP
			case to[0] == '/':
				errno = t.enter("/")
			}
			if errno != 0 {
				ftraceClose(t.dir)
				return t, errno
			}
			path = to + rest
			continue
		}
		if ftraceWithoutSlashes(rest) == "" {
			return t, 0
		}
		if errno = t.enter(t.name); errno != 0 {
			ftraceClose(t.dir)
			return t, errno
		}
		path = rest
	}
}

func ftraceWithoutSlashes(path string) string {
	for path != "" && path[0] == '/' {
		path = path[1:]
	}
	return path
}

// enter makes a directory in dir the one in which the rest of the path is looked up.
func (t *ftraceTrail) enter(name string) (errno int32) {
	dir := t.open(name, ftracePlain)
	if dir < 0 {
		return -dir
	}
	ftraceClose(t.dir)
	t.dir = dir
	return 0
}

// open opens what has that name in dir, which was not a symbolic link when it was looked up.
func (t *ftraceTrail) open(name string, flags uintptr) int32 {
	if !t.kept {
		flags |= ftraceNoLink
	}
	return ftraceOpenAt(t.dir, name, flags)
}

// refuses returns the errno of why the open file is not to be used, or 0.
func (t *ftraceTrail) refuses(fd int32) int32 {
	stat, ok := ftraceStatus(fd)
	if !ok {
		return ftraceRefused + int32(ftrace_ownfile_Owner)
	}
	if r := stat.Refusal(t.user, t.root, t.shared); r != ftrace_ownfile_None {
		return ftraceRefused + int32(r)
	}
	return 0
}

// ftraceOpenFile opens a file for appending, creating it for this user only. It returns the
// descriptor or a negative errno. It does not wait for a FIFO's reader.
func ftraceOpenFile(name string) int32 {
	t, errno := ftraceTrailOf(name)
	if errno != 0 {
		return -errno
	}
	defer ftraceClose(t.dir)
	for range 100 { // another process may make or remove it meanwhile
		fd := t.open(t.name, ftraceAppend)
		if fd == -ftraceENOENT && !t.kept {
			if fd = t.open(t.name, ftraceAppendNew); fd == -ftraceEEXIST {
				continue
			}
			return fd
		}
		if fd < 0 {
			return fd
		}
		if !t.kept {
			if errno := t.refuses(fd); errno != 0 {
				ftraceClose(fd)
				return -errno
			}
		}
		ftraceLetWait(fd)
		return fd
	}
	return -ftraceEEXIST
}

// ftraceOpenOwnDir makes a directory for this user only, or opens the one that is there. It returns
// the descriptor or a negative errno.
func ftraceOpenOwnDir(name string) int32 {
	t, errno := ftraceTrailOf(name)
	if errno != 0 {
		return -errno
	}
	defer ftraceClose(t.dir)
	made := ftraceMakeDir(t.dir, t.name)
	if made != 0 && made != ftraceEEXIST {
		return -made
	}
	fd := t.open(t.name, ftraceDirectory)
	if fd < 0 {
		return fd
	}
	errno = t.refuses(fd)
	if made == 0 && errno == ftraceRefused+int32(ftrace_ownfile_Writable) {
		errno = 0 // a file system without permissions
	}
	if errno != 0 {
		ftraceClose(fd)
		return -errno
	}
	return fd
}
