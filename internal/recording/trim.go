package recording

// Trim gives the space of the oldest packets back, if those that the stream has passed take more
// than limit bytes: whole packets of all processors, up to one moment, so that about 7/8 of limit
// are left. Begins returns that moment. Whoever reads the recording anew finds what is left. Where
// the system can't give parts of a file back, nothing is.
func (s *Stream) Trim(limit int64) {
	total, most := int64(0), (*cursor)(nil)
	for _, c := range s.cursors {
		total += c.offset - c.first
		if most == nil || c.offset-c.first > most.offset-most.first {
			most = c
		}
	}
	if total <= limit {
		return
	}
	give := int64(float64(most.offset-most.first) * (1 - float64(limit-limit/8)/float64(total)))
	p, ok := most.packetAt(most.first + max(give, 1)/packetUsual*packetUsual)
	if !ok {
		return
	}
	for _, c := range s.cursors {
		c.trim(p.begin)
	}
	s.r.begins = max(s.r.begins, p.begin)
}

// trim frees the packets before the one that the cursor is in which are followed by one that began
// before these ticks, or then.
func (c *cursor) trim(ticks uint64) {
	first := c.first
	for first < c.offset {
		p, ok := c.packetAt(first)
		if !ok {
			break
		}
		next := first + int64(p.size)
		if following, ok := c.packetAt(next); next > c.offset || !ok || following.begin > ticks {
			break
		}
		first = next
	}
	if first == c.first {
		return
	}
	f, err := openToFree(c.file.Name())
	if err != nil {
		return
	}
	defer f.Close()
	free(f, c.first, first-c.first)
	c.first = first
}

// Begins returns the ticks from which on all events are there that Trim has left, 0 if it has
// given nothing back.
func (r *Recording) Begins() uint64 { return r.begins }
