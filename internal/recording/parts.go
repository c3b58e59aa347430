package recording

import (
	"math"
	"sync/atomic"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
)

// Parts are consecutive windows that together are a whole window. Each has some packets of each
// file, so that several goroutines can read a recording at once, each a part. Events of the same
// tick are in the same part.
//
// What spans two parts is in neither: whoever reads a part does not know which calls were under way
// when it began.
//
// Next is for one goroutine at a time. The events of the windows are for any.
type Parts struct {
	window  Window
	files   []*cursor // files with more packets, each with its next one
	packets int       // of a part
	from    uint64    // of the next part
	ended   bool
	size    int64
	given   atomic.Int64
}

// Parts divides a window into parts of about that many packets of each file, or fewer if there are
// many files. The caller closes it.
//
// A packet that spans two parts is read twice. So large parts are read faster, and small ones need
// less memory where something is kept of each event.
func (r *Recording) Parts(w Window, packets int) (*Parts, error) {
	names, err := r.callFiles()
	if err != nil {
		return nil, err
	}
	p := &Parts{window: w, from: w.From}
	if p.window.To == 0 {
		p.window.To = math.MaxUint64
	}
	for _, name := range names {
		c, err := r.newCursor(name, false)
		if err == nil && w.From != 0 {
			err = c.seek(w.From)
		}
		if err != nil {
			p.Close()
			return nil, err
		}
		p.size += c.left()
		p.files = append(p.files, c)
	}
	p.packets = min(max(1, packets*len(p.files)), partMax)
	for i := 0; i < len(p.files); {
		if p.files[i].head() {
			i++
		} else {
			p.leave(i)
		}
	}
	return p, nil
}

const partMax = 256 // packets

// Size returns how many bytes there were to read. Done returns how many of these are in the windows
// that were given out. Another goroutine may call Done.
func (p *Parts) Size() int64 { return p.size }

func (p *Parts) Done() int64 { return p.given.Load() }

// Next returns the next window, or false if there is none.
func (p *Parts) Next() (Window, bool) {
	if p.ended {
		return Window{}, false
	}
	w := Window{From: p.from, To: p.window.To, part: true}
	packets := p.packets
	if p.from == p.window.From {
		packets = 1 // the first one is wanted soon
	}
	for n := 0; ; n++ {
		first := p.first()
		if first < 0 || p.files[first].packet.begin > p.window.To {
			break
		}
		c := p.files[first]
		if begin := c.packet.begin; n >= packets && begin > p.from {
			p.from, w.To = begin, begin-1
			return w, true
		}
		c.offset += c.stored
		p.given.Add(c.stored)
		if !c.head() {
			p.leave(first)
		}
	}
	p.ended = true
	return w, true
}

// first returns the file whose next packet began first, or -1.
func (p *Parts) first() int {
	first := -1
	for i, c := range p.files {
		if first < 0 || c.packet.begin < p.files[first].packet.begin {
			first = i
		}
	}
	return first
}

// leave leaves a file that has no more packets.
func (p *Parts) leave(i int) {
	p.files[i].close()
	p.files[i] = p.files[len(p.files)-1]
	p.files = p.files[:len(p.files)-1]
}

// Close releases what the parts hold.
func (p *Parts) Close() {
	for _, c := range p.files {
		c.close()
	}
	p.files = nil
}

// head reads the head of the packet at offset, or of the next one that can be read. It returns
// false if there is none.
func (c *cursor) head() bool {
	for {
		var head [packedHead]byte
		n, _ := c.file.ReadAt(head[:], c.offset)
		if n < packetHead || c.packed != nil && n < packedHead {
			return false
		}
		p, wrong := packet{}, ""
		if c.packed == nil {
			p, wrong = parsePacket(head[:packetHead], format.CallsStream, c.r.Env.UUID)
		} else {
			p, _, wrong = parsePacked(head[:], c.r.Env.UUID)
		}
		if wrong == "" {
			c.packet, c.stored = p, int64(p.size)
			return true
		}
		if !c.skip(c.left()) {
			return false
		}
	}
}
