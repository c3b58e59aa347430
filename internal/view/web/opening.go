package web

import (
	"context"
	"sync"
	"time"
)

// opening lets a page that is opened have the processors: until it has its first picture,
// recordings are not read any further. The zero value is of no page.
type opening struct {
	mu    sync.Mutex
	until chan struct{} // closed when the page is there; nil: none is opened
}

const (
	openingMax = time.Second            // it may be that the page asks for no picture
	drawing    = 100 * time.Millisecond // from the answer to the picture
	readFirst  = 1 << 20                // events, so that there is something to draw
)

// begin is told that a browser loads the page.
func (o *opening) begin() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.until == nil {
		o.until = make(chan struct{})
		o.endAfter(openingMax)
	}
}

// pictured is told that a page has an answer to draw.
func (o *opening) pictured() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.until != nil {
		o.endAfter(drawing)
	}
}

// endAfter ends what has begun. The caller holds the lock.
func (o *opening) endAfter(d time.Duration) {
	until := o.until
	time.AfterFunc(d, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.until == until {
			close(until)
			o.until = nil
		}
	})
}

// wait waits until no page is opened.
func (o *opening) wait(ctx context.Context) {
	o.mu.Lock()
	until := o.until
	o.mu.Unlock()
	if until == nil {
		return
	}
	select {
	case <-until:
	case <-ctx.Done():
	}
}
