package schema

import (
	"os"
	"slices"
	"sync"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
)

// findEvery is the shortest time between two searches for processes.
const findEvery = time.Second

// Follow adds the processes of this user whose executable has one of the names to
// performance_schema as they appear. It removes them when they have ended.
func (c *Catalog) Follow(names ...string) {
	f := &finder{catalog: c, names: names, known: map[int]source.Source{}}
	c.Find = f.find
}

// finder finds processes by name.
type finder struct {
	catalog *Catalog
	names   []string

	mu    sync.Mutex
	last  time.Time
	known map[int]source.Source
}

func (f *finder) find() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Since(f.last) < findEvery {
		return
	}
	found := map[int]bool{}
	for _, p := range live.List() {
		if p.PID == os.Getpid() || !slices.ContainsFunc(f.names, p.Called) {
			continue
		}
		found[p.PID] = true
		if f.known[p.PID] != nil {
			continue
		}
		if s, err := source.Attach(p.PID); err == nil {
			f.known[p.PID] = s
			f.catalog.Add(s)
		}
	}
	for pid, s := range f.known {
		if !found[pid] {
			delete(f.known, pid)
			f.catalog.Remove(s)
			s.Close()
		}
	}
	f.last = time.Now()
}
