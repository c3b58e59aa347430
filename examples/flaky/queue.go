// Package flaky has a queue whose test fails now and then, for docs/flaky.md.
package flaky

import "sync"

// A Queue gives out tickets, and counts who has been served.
type Queue struct {
	mu     sync.Mutex
	next   int
	served []int
}

// Ticket returns a new ticket.
func (q *Queue) Ticket() int {
	n := q.last() + 1
	q.set(n)
	return n
}

func (q *Queue) last() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.next
}

func (q *Queue) set(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.next = n
}

// Serve notes that the holder of a ticket was served.
func (q *Queue) Serve(ticket int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.served = append(q.served, ticket)
}

// Served returns how many tickets were served, each counted once.
func (q *Queue) Served() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	different := map[int]bool{}
	for _, ticket := range q.served {
		different[ticket] = true
	}
	return len(different)
}
