// Workers adds up numbers with a pool of goroutines. Its trace shows where each was started.
//
// Lines are dealt to the workers in turn, a round at a time. The first error cancels the context of
// all of them, and is what the pool returns.
package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

func main() {
	lines := []string{"1 2 3", "10 20 30", "100 200", "4 five 6"}
	total, err := sum(context.Background(), lines, 3)
	fmt.Println(total, err)
}

// A group runs goroutines that end together: the first error of one cancels the context of all.
type group struct {
	running sync.WaitGroup
	ctx     context.Context
	cancel  context.CancelCauseFunc
}

func newGroup(ctx context.Context) (*group, context.Context) {
	ctx, cancel := context.WithCancelCause(ctx)
	return &group{ctx: ctx, cancel: cancel}, ctx
}

func (g *group) start(work func() error) {
	g.running.Go(func() {
		if err := work(); err != nil {
			g.cancel(err) // the first one counts
		}
	})
}

// wait returns the first error when all goroutines have ended.
func (g *group) wait() error {
	g.running.Wait()
	defer g.cancel(nil)
	return context.Cause(g.ctx)
}

// sum has workers add up the numbers in lines. After an error it returns the sum of those that came in before.
func sum(ctx context.Context, lines []string, workers int) (total int, err error) {
	g, ctx := newGroup(ctx)
	sums := make(chan int)
	queues := make([]chan string, workers)
	for i := range queues {
		queues[i] = make(chan string)
		g.start(func() error { return worker(ctx, i, queues[i], sums) })
	}
	for round := range slices.Chunk(lines, workers) {
		for i, line := range round {
			if send(ctx, queues[i], line) != nil {
				return total, g.wait()
			}
		}
		for range round {
			select {
			case n := <-sums:
				total += n
			case <-ctx.Done():
				return total, g.wait()
			}
		}
	}
	for _, queue := range queues {
		close(queue)
	}
	return total, g.wait()
}

// worker adds up the lines in its queue until that is closed, a line is wrong, or the context is cancelled.
func worker(ctx context.Context, id int, queue <-chan string, sums chan<- int) error {
	for {
		select {
		case line, ok := <-queue:
			if !ok {
				return nil
			}
			n, err := add(line)
			if err != nil {
				return fmt.Errorf("worker %d: %w", id, err)
			}
			if err := send(ctx, sums, n); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// send sends a value unless the context is cancelled first.
func send[T any](ctx context.Context, to chan<- T, value T) error {
	select {
	case to <- value:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// add returns the sum of the numbers in a line.
func add(line string) (sum int, err error) {
	for word := range strings.FieldsSeq(line) {
		n, err := strconv.Atoi(word)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}
