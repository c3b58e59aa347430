package web

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// A flame has the time of calls by their paths: what calls what. Node 0 is around all. A node's
// parent is before it. Times are without those of the nodes below, in ns.
type flame struct {
	Keys     []uint32 `json:"keys"` // of functions, and of kinds of waits
	Parents  []int32  `json:"parents"`
	Calls    []uint64 `json:"calls"`
	Running  []int64  `json:"running"`  // with what is not known to be anything else
	Runnable []int64  `json:"runnable"` // it could have run, for want of a processor it did not
	Waiting  []int64  `json:"waiting"`
	Merged   uint64   `json:"merged"` // calls that count for the call around them: there were too many paths

	depth []int
	index map[flamePath]int32
}

type flamePath struct {
	parent int32
	key    uint32
}

const (
	flameMax  = 100_000 // paths
	flameDeep = 250     // calls in one; those further in count for paths that end there
)

// child returns the node of a function that a node calls, or the node itself if there are too many.
func (f *flame) child(parent int32, key uint32) int32 {
	if f.depth[parent] == flameDeep {
		parent = f.Parents[parent]
	}
	p := flamePath{parent, key}
	if n, ok := f.index[p]; ok {
		return n
	}
	if len(f.Keys) == flameMax {
		return parent
	}
	return f.add(p, f.depth[parent]+1)
}

func (f *flame) add(p flamePath, depth int) int32 {
	n := int32(len(f.Keys))
	f.index[p] = n
	f.Keys, f.Parents, f.depth = append(f.Keys, p.key), append(f.Parents, p.parent), append(f.depth, depth)
	f.Calls, f.Running = append(f.Calls, 0), append(f.Running, 0)
	f.Runnable, f.Waiting = append(f.Runnable, 0), append(f.Waiting, 0)
	return n
}

// flameCall is what is noted of a call under way: its node, and the time in it that it did not run.
type flameCall struct {
	node  int32
	other uint64 // ticks
}

// newFlame adds up the calls of a stretch of time. Those that are under way at its end last until
// their goroutine's last event.
func newFlame(from walk.Source) (*flame, error) {
	f := &flame{index: map[flamePath]int32{}}
	f.add(flamePath{-1, math.MaxUint32}, 0)
	w := walk.New[uint64, flameCall](from) // of a goroutine it notes when its last event was
	w.Begin = func(st *walk.Stack[uint64, flameCall], c *walk.Frame[flameCall], e *recording.Event) {
		st.Data.View = e.Ticks
		parent := int32(0)
		if caller := walk.ShownCaller(st); caller != nil {
			parent = caller.Data.View.node
		}
		c.Data.View.node = f.child(parent, c.Function)
	}
	w.End = func(st *walk.Stack[uint64, flameCall], c *walk.Frame[flameCall], e *recording.Event) {
		if e != nil {
			st.Data.View = e.Ticks
		}
		if c == nil {
			return
		}
		call := c.Data.View
		if f.Keys[call.node] != c.Function {
			f.Merged++
		}
		f.Calls[call.node]++
		lasted := st.Data.View - min(st.Data.View, c.Start)
		self := lasted - min(lasted, c.Data.Inner)
		f.Running[call.node] += int64(self - min(self, call.other))
		if caller := walk.ShownCaller(st); caller != nil && e == nil {
			caller.Data.Inner += lasted
		}
	}
	w.Wait = func(st *walk.Stack[uint64, flameCall], e *recording.Event) {
		st.Data.View = e.Ticks
		if len(st.Calls) == 0 {
			return
		}
		c := &st.Calls[len(st.Calls)-1]
		of := e.Wait()
		begun, ready := max(of.Begin, min(c.Start, e.Ticks)), of.Ready
		if ready == 0 {
			ready = e.Ticks
		}
		ready = max(ready, begun)
		c.Data.View.other += e.Ticks - begun
		f.Runnable[c.Data.View.node] += int64(e.Ticks - ready)
		n := f.child(c.Data.View.node, e.Function)
		f.Calls[n]++
		f.Waiting[n] += int64(ready - begun)
	}
	w.More = func(*walk.Stack[uint64, flameCall], *walk.Frame[flameCall], *recording.Event) {}
	if err := w.Run(nil); err != nil {
		return nil, err
	}
	clock := from.Recording.Converter()
	for _, list := range [][]int64{f.Running, f.Runnable, f.Waiting} {
		for i, ticks := range list {
			list[i] = int64(clock.Between(0, uint64(ticks)))
		}
	}
	return f, nil
}

// flame returns the times of call paths, of all of the recording or of a stretch of time.
func (s *shown) flame(w http.ResponseWriter, r *http.Request) {
	var err error
	q := r.URL.Query()
	from, to := number(q, "from", &err), number(q, "to", &err)
	if err != nil {
		refuse(w, err)
		return
	}
	s.cached(w, r, fmt.Sprint("flame ", from, to), "application/json", func(reader *recording.Recording) ([]byte, error) {
		f, err := newFlame(walk.Source{Recording: reader, Window: s.window(from, to)})
		if err != nil {
			return nil, err
		}
		return json.Marshal(f)
	})
}
