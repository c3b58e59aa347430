package store

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestLock: of many that want an entry at the same time one makes it.
func TestLock(t *testing.T) {
	needLocks(t)
	s := newStore(t)
	var made atomic.Int32
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			unlock := s.Lock(Key{})
			defer unlock()
			if s.Get(Key{}) != nil {
				return
			}
			made.Add(1)
			time.Sleep(50 * time.Millisecond)
			if err := s.Put(Key{}, &Entry{Object: []byte("object")}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if made.Load() != 1 {
		t.Errorf("the entry was made %d times", made.Load())
	}
	if left, _ := filepath.Glob(filepath.Join(s.dir.Name(), s.name(Key{})+".*")); left != nil {
		t.Errorf("%q is left", left)
	}
}

// TestLockWaits: who has waited long enough goes on, and so do those who want other entries.
func TestLockWaits(t *testing.T) {
	needLocks(t)
	s := newStore(t)
	defer s.lock(Key{}, 0)()
	s.lock(Key{1}, time.Hour)()
	start := time.Now()
	s.lock(Key{}, 100*time.Millisecond)()
	if waited := time.Since(start); waited < 100*time.Millisecond {
		t.Errorf("waited only %v", waited)
	}
}

// TestLockDies: the lock of a process that is killed is free.
func TestLockDies(t *testing.T) {
	needLocks(t)
	if dir := os.Getenv("STORE_TO_LOCK"); dir != "" {
		s, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		s.Lock(Key{})
		os.Stdout.WriteString("locked")
		select {}
	}
	s := newStore(t)
	other := exec.Command(os.Args[0], "-test.run=^TestLockDies$")
	other.Env = append(os.Environ(), "STORE_TO_LOCK="+s.dir.Name())
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer other.Wait()
	defer other.Process.Kill()
	if _, err := out.Read(make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	f, err := s.dir.Open(s.name(Key{}) + ".lock")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if tryLock(f) {
		t.Fatal("the lock of a running process is free")
	}
	other.Process.Kill()
	other.Wait()
	s.lock(Key{}, time.Hour)()
}

func needLocks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("has no locks here")
	}
}
