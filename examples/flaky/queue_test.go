package flaky

import (
	"os"
	"sync"
	"testing"
)

func TestServed(t *testing.T) {
	if os.Getenv("FTRACE_RECORD") == "" {
		t.Skip("it would fail now and then: ftrace-wrap flake runs it")
	}
	var q Queue
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() { visit(&q) })
	}
	all.Wait()
	if n := q.Served(); n != 3 {
		t.Errorf("%d were served, want 3", n)
	}
}

func visit(q *Queue) {
	q.Serve(q.Ticket())
}
