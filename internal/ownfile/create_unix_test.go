//go:build linux || darwin

package ownfile

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// TestCreate has what others could put in the way, with and without their being able to.
func TestCreate(t *testing.T) {
	for _, mode := range []os.FileMode{0o700, 0o755, 0o775, 0o777, 0o777 | os.ModeSticky} {
		own, dir := t.TempDir(), filepath.Join(t.TempDir(), "dir")
		if err := errors.Join(os.Chmod(own, 0o700), os.Mkdir(dir, 0o700), os.Chmod(dir, mode)); err != nil {
			t.Fatal(err)
		}
		pipe, end, err := os.Pipe() // what is open already
		if err != nil {
			t.Fatal(err)
		}
		defer pipe.Close()
		defer end.Close()
		fd := strconv.Itoa(int(end.Fd()))
		shared := mode&othersWrite != 0
		for _, c := range []struct {
			what string
			make func(name string) error
			name string
			want error
		}{
			{"nothing", func(string) error { return nil }, "new", nil},
			{"a file", func(name string) error { return os.WriteFile(name, []byte("what was there"), 0o600) }, "file", nil},
			{"an open file", func(name string) error {
				return errors.Join(os.WriteFile(name, nil, 0o600), os.Chmod(name, 0o620))
			}, "open", Writable},
			{"a second name", func(name string) error {
				return errors.Join(os.WriteFile(filepath.Join(own, "first"), nil, 0o600), os.Link(filepath.Join(own, "first"), name))
			}, "second", when(shared, Links)},
			{"a link", func(name string) error { return os.Symlink(filepath.Join(own, "target"), name) }, "link", when(shared, Symlink)},
			{"a link on the way", func(name string) error { return os.Symlink(own, filepath.Dir(name)) }, "way/target", when(shared, Symlink)},
			{"a link back", func(string) error { return os.Symlink("..", filepath.Join(dir, "back")) }, "back/dir/target", when(shared, Symlink)},
			{"a descriptor", func(name string) error { return nil }, "/dev/fd/" + fd, nil},
			{"a device", func(name string) error { return nil }, "/dev/null", nil},
		} {
			name := c.name
			if !filepath.IsAbs(name) {
				name = filepath.Join(dir, name)
			}
			if err := c.make(name); err != nil {
				t.Fatal(err)
			}
			if r, err := Replace(name); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
				t.Errorf("mode %v: %s: Replace: error %v, want %v", mode, c.what, err, c.want)
			} else if err == nil {
				r.Close()
			}
			f, err := Create(name)
			if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
				t.Errorf("mode %v: %s: error %v, want %v", mode, c.what, err, c.want)
			}
			if err == nil {
				info, _ := f.Stat()
				if info.Mode().IsRegular() && (info.Size() != 0 || info.Mode().Perm() != 0o600) {
					t.Errorf("mode %v: %s: size %d, mode %v", mode, c.what, info.Size(), info.Mode())
				}
				f.Close()
			}
		}
		if _, err := os.Stat(filepath.Join(own, "target")); (err == nil) == shared {
			t.Errorf("mode %v: the link's target: %v", mode, err)
		}
	}
}

func when(shared bool, r Refusal) error {
	if shared {
		return r
	}
	return nil
}

// TestOwners has what belongs to another user.
func TestOwners(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root gives files away")
	}
	name := filepath.Join(t.TempDir(), "file")
	if err := errors.Join(os.WriteFile(name, []byte("theirs"), 0o600), os.Chown(name, 4242, -1)); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(name); !errors.Is(err, Owner) {
		t.Errorf("error %v, want %v", err, Owner)
	}
	if text, err := os.ReadFile(name); err != nil || string(text) != "theirs" {
		t.Errorf("it was changed: %q, %v", text, err)
	}
}

// TestReplace: a file is there when it is complete, and not before.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	name, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(name, []byte("before"), 0o640), os.Chmod(name, 0o640), os.Symlink("file", link)); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, text string
		commit     bool
		want       string
	}{{name, "half", false, "before"}, {name, "all", true, "all"}, {link, "again", true, "again"}, {filepath.Join(dir, "new"), "half", false, ""}} {
		r, err := Replace(test.name)
		if err != nil {
			t.Fatal(err)
		}
		r.WriteString(test.text)
		if test.commit {
			err = r.Commit()
		}
		if err := errors.Join(err, r.Close()); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if got, _ := os.ReadFile(test.name); string(got) != test.want {
			t.Errorf("%s: there is %q, want %q", test.name, got, test.want)
		}
	}
	if info, err := os.Lstat(name); err != nil || info.Mode() != 0o640 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 2 {
		t.Errorf("%v are left", left)
	}
}
