package schema

import (
	"context"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/functions"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// userLocks are the locks that sessions take by name, with GET_LOCK, of a catalog. The zero value
// has none.
type userLocks struct {
	mu   sync.Mutex
	held map[string]*userLock // by name in lower case
}

// A userLock is one that a session holds.
type userLock struct {
	owner *Session
	times int           // that the owner took it, and has not let it go
	freed chan struct{} // closed when the owner has let it go
}

// maxLockName is how many characters the name of a lock can have.
const maxLockName = 64

// lockName returns the name by which a lock is known.
func lockName(v value) (string, error) {
	name := functions.AsText(v)
	if name == "" || utf8.RuneCountInString(name) > maxLockName {
		return "", mysqlerr.New(mysqlerr.LockName, "Incorrect user-level lock name '%s'.", name[:functions.Characters(name, 2*maxLockName)])
	}
	return strings.ToLower(strings.Clone(name)), nil // the text is the engine's own
}

// lockFunctions are those of locks by name.
var lockFunctions = []sessionFunction{
	{"get_lock", 2, getLock},
	{"release_lock", 1, withLock(func(s *Session, name string, l *userLock) value {
		switch {
		case l == nil:
			return nil
		case l.owner != s:
			return int64(0)
		}
		if l.times--; l.times == 0 {
			s.catalog.locks.free(name)
		}
		return int64(1)
	})},
	{"is_free_lock", 1, withLock(func(_ *Session, _ string, l *userLock) value { return functions.Truth(l == nil) })},
	{"is_used_lock", 1, withLock(func(_ *Session, _ string, l *userLock) value {
		if l == nil {
			return nil
		}
		return int64(l.owner.who.Load().id)
	})},
	{"release_all_locks", 0, func(s *Session, _ []value) value { return s.releaseLocks() }},
}

// withLock returns a function of a lock, which is nil if nobody holds it.
func withLock(f func(s *Session, name string, l *userLock) value) func(*Session, []value) value {
	return func(s *Session, a []value) value {
		name, err := lockName(a[0])
		if err != nil {
			return err
		}
		s.catalog.locks.mu.Lock()
		defer s.catalog.locks.mu.Unlock()
		return f(s, name, s.catalog.locks.held[name])
	}
}

// free lets those go on who wait for a lock. The caller has locked mu.
func (u *userLocks) free(name string) {
	close(u.held[name].freed)
	delete(u.held, name)
}

// getLock is GET_LOCK(name, seconds): 1 if the session has the lock, 0 if it was held by another
// for so long. Below 0 there is no limit.
func getLock(s *Session, a []value) value {
	name, err := lockName(a[0])
	if err != nil {
		return err
	}
	ctx := context.Background()
	if s.running != nil {
		ctx = s.running.ctx
	}
	waits := min(functions.AsNumber(a[1]), maxTime/1000)
	if waits < 0 {
		waits = maxTime / 1000
	}
	timer := time.NewTimer(time.Duration(waits * float64(time.Second)))
	defer timer.Stop()
	u := &s.catalog.locks
	u.mu.Lock()
	defer u.mu.Unlock()
	for {
		l := u.held[name]
		switch {
		case l == nil:
			if u.held == nil {
				u.held = map[string]*userLock{}
			}
			u.held[name] = &userLock{owner: s, times: 1, freed: make(chan struct{})}
			return int64(1)
		case l.owner == s:
			l.times++
			return int64(1)
		case waits == 0:
			return int64(0)
		}
		for other := l; other != nil; other = other.owner.awaits {
			if other.owner == s {
				return mysqlerr.New(mysqlerr.LockDeadlock, "Deadlock found when trying to get user-level lock; try rolling back transaction/releasing locks and restarting lock acquisition.")
			}
		}
		s.awaits = l
		u.mu.Unlock()
		select {
		case <-l.freed:
		case <-timer.C:
			waits = 0
		case <-ctx.Done():
			err = s.interrupted()
		}
		u.mu.Lock()
		if s.awaits = nil; err != nil {
			return err
		}
	}
}

// releaseLocks lets all locks of a session go. It returns how many times they were taken.
func (s *Session) releaseLocks() (times int64) {
	u := &s.catalog.locks
	u.mu.Lock()
	defer u.mu.Unlock()
	for name, l := range u.held {
		if l.owner == s {
			times += int64(l.times)
			u.free(name)
		}
	}
	return times
}
