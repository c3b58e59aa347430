package store

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ftrace-wrap/ftrace-wrap/internal/ownfile"
)

func newStore(t *testing.T) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func put(t *testing.T, s *Store, key Key, entry *Entry) {
	t.Helper()
	if err := s.Put(key, entry); err != nil {
		t.Fatal(err)
	}
}

func TestRoundTrip(t *testing.T) {
	s := newStore(t)
	for i, entry := range []*Entry{
		{BuildID: "a/b", Object: []byte("object"), AsmHeader: []byte("header")},
		{BuildID: "a/b", Object: bytes.Repeat([]byte("long"), 1e5), AsmHeader: []byte{}},
		{Object: []byte{}, AsmHeader: []byte{}},
	} {
		key := Key{byte(i)}
		if got := s.Get(key); got != nil {
			t.Errorf("entry %d is there before it was put", i)
		}
		put(t, s, key, entry)
		if diff := cmp.Diff(entry, s.Get(key)); diff != "" {
			t.Errorf("entry %d: want -, got +\n%s", i, diff)
		}
	}
}

func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("has no modes")
	}
	s := newStore(t)
	put(t, s, Key{}, &Entry{})
	for name, want := range map[string]os.FileMode{"": 0o700, filepath.Dir(s.name(Key{})): 0o700, s.name(Key{}): 0o600} {
		if info, err := os.Stat(filepath.Join(s.dir.Name(), name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want mode %v", name, info.Mode(), err, want)
		}
	}
}

// TestShared has directories that others may write to, or own.
func TestShared(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("has no modes")
	}
	for mode, want := range map[os.FileMode]ownfile.Refusal{0o700: ownfile.None, 0o755: ownfile.None, 0o775: ownfile.Writable, 0o757: ownfile.Writable, 0o777 | os.ModeSticky: ownfile.Writable} {
		dir := t.TempDir()
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		_, err := Open(dir)
		var refused *RefusedError
		if errors.As(err, &refused) != (want != ownfile.None) || refused != nil && refused.Reason != want {
			t.Errorf("mode %v: error %v, want %v", mode, err, want)
		}
	}
	if os.Geteuid() == 0 {
		dir := t.TempDir()
		if err := os.Chown(dir, 4242, -1); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "it belongs to another user") {
			t.Errorf("another user's directory: error %v", err)
		}
	}
}

// TestMoved has a store whose directory others have put another in the place of.
func TestMoved(t *testing.T) {
	s := newStore(t)
	dir := s.dir.Name()
	other, err := Open(dir + "2")
	if err != nil {
		t.Fatal(err)
	}
	put(t, other, Key{}, &Entry{BuildID: "theirs"})
	if err := errors.Join(os.Rename(dir, dir+"3"), os.Rename(dir+"2", dir)); err != nil {
		t.Skip(err) // a system that does not move what is open
	}
	if s.Get(Key{}) != nil {
		t.Error("an entry of the other directory was found")
	}
	put(t, s, Key{1}, &Entry{BuildID: "ours"})
	if other.Get(Key{1}) != nil {
		t.Error("an entry went to the other directory")
	}
}

// TestCorrupt changes each byte of an entry's file, and cuts it at each length.
func TestCorrupt(t *testing.T) {
	s := newStore(t)
	name := filepath.Join(s.dir.Name(), s.name(Key{}))
	put(t, s, Key{}, &Entry{BuildID: "a/b", Object: []byte("object")})
	good, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var spoiled [][]byte
	for i := range good {
		other := bytes.Clone(good)
		other[i] ^= 0x40
		spoiled = append(spoiled, other, good[:i])
	}
	for _, data := range append(spoiled, append(bytes.Clone(good), 0)) {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if s.Get(Key{}) != nil {
			t.Fatalf("%q is taken for an entry", data)
		}
		if _, err := os.Stat(name); err == nil {
			t.Fatalf("%q was not removed", data)
		}
	}
}

func TestConcurrent(t *testing.T) {
	s := newStore(t)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for j := range 50 {
				object := bytes.Repeat([]byte{byte(i)}, 10000)
				if err := s.Put(Key{byte(j % 3)}, &Entry{Object: object}); err != nil {
					t.Error(err)
				}
				if got := s.Get(Key{byte(j % 3)}); got == nil || len(got.Object) != 10000 || bytes.Count(got.Object, got.Object[:1]) != 10000 {
					t.Error("an entry is not as one of its writers left it")
				}
			}
		})
	}
	group.Wait()
}

func TestTrim(t *testing.T) {
	s := newStore(t)
	now := time.Now()
	file := func(age time.Duration, name ...string) string {
		path := filepath.Join(append([]string{s.dir.Name()}, name...)...)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	text := strings.Repeat("ab", sha256.Size)
	remain := []string{
		file(unused-time.Hour, "ab", text),
		file(2*unused, "ab", "notes"),                    // none of ours, like the next ones
		file(2*unused, "ac", text),                       //
		file(2*unused, "go", strings.Repeat("go", 40)),   //
		file(2*unused, "ab.txt"),                         //
		file(2*unused, "abc", strings.Repeat("abc", 30)), //
	}
	remove := []string{file(unused+time.Hour, "ab", text+"1"), file(unused+time.Hour, "ab", text+".123")}
	check := func(removed bool) {
		t.Helper()
		for _, name := range remain {
			if _, err := os.Stat(name); err != nil {
				t.Errorf("%s was removed", name)
			}
		}
		for _, name := range remove {
			if _, err := os.Stat(name); (err != nil) != removed {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	file(trimInterval-time.Hour, "trimmed")
	put(t, s, Key{}, &Entry{})
	check(false)
	file(trimInterval+time.Hour, "trimmed")
	put(t, s, Key{}, &Entry{})
	check(true)
	if info, err := os.Stat(filepath.Join(s.dir.Name(), "trimmed")); err != nil || time.Since(info.ModTime()) > time.Hour {
		t.Error("the next Put would trim again")
	}
}

// TestUse: what is used stays.
func TestUse(t *testing.T) {
	s := newStore(t)
	put(t, s, Key{}, &Entry{})
	for _, age := range []time.Duration{unused + time.Hour, used / 2} {
		then := time.Now().Add(-age)
		if err := os.Chtimes(filepath.Join(s.dir.Name(), s.name(Key{})), then, then); err != nil {
			t.Fatal(err)
		}
		s.Get(Key{})
		info, err := os.Stat(filepath.Join(s.dir.Name(), s.name(Key{})))
		if err != nil {
			t.Fatal(err)
		}
		if touched := info.ModTime().Sub(then) > time.Minute; touched != (age > used) {
			t.Errorf("last used %v ago: time changed is %t", age, touched)
		}
	}
}

func TestOpenFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(file); err == nil {
		t.Error("a file is no store")
	}
}

func TestObjectAs(t *testing.T) {
	entry := &Entry{BuildID: "old1/old1", Object: []byte("build id \"old1/old1\"\nold1\nbuild id \"old1/old1\"\n")}
	if got, want := string(entry.ObjectAs("new2/new2")), "build id \"new2/new2\"\nold1\nbuild id \"new2/new2\"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := entry.ObjectAs("longer/longer"); got != nil {
		t.Errorf("with an ID of another length: %q", got)
	}
	if got := (&Entry{BuildID: "a/b", Object: []byte("none")}).ObjectAs("c/d"); got != nil {
		t.Errorf("without an ID to replace: %q", got)
	}
}

func TestContentID(t *testing.T) {
	id := func(content string) string {
		name := filepath.Join(t.TempDir(), "x.a")
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		id, err := ContentID(name)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	const archive = "!<arch>\n__.PKGDEF  0 0 0 644 100 `\ngo object linux amd64 go1.26.8\n%s\n$$B\nrest"
	for header, want := range map[string]string{
		`build id "act/content"`: "content",
		`build id "same/same"`:   "", // hashed, as all the following
		`build id "half"`:        "",
		`build id "half/"`:       "",
		`build id "open/end`:     "",
		``:                       "",
	} {
		content := fmt.Sprintf(archive, header)
		if want == "" {
			want = fmt.Sprintf("%x", sha256.Sum256([]byte(content)))
		}
		if got := id(content); got != want {
			t.Errorf("%q: got %s, want %s", header, got, want)
		}
	}
	long := fmt.Sprintf(archive, strings.Repeat("x", 5000))
	if got, want := id(long), fmt.Sprintf("%x", sha256.Sum256([]byte(long))); got != want {
		t.Errorf("a long file: got %s, want %s", got, want)
	}
	if _, err := ContentID(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("no error for a file that is not there")
	}
}
