//go:build ftrace_core

// Protocols: connections of client libraries whose events go to a plugin (package protocol, or
// test_trace, see probe/test_trace.go).
//
// The wrapper puts calls into the libraries that it knows (internal/inject/protocol.go). It adds
// files to each that follow the protocol: they say in which stage a connection is and which events
// happen. Here is what all protocols have in common: who listens; that a connection's events come
// one at a time; that what is done within an event makes no events; and that the last one is
// DISCONNECTED.

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// ftraceProtocols is not 0 once a connection was traced, or is to be. Libraries read it where they
// know of no connection.
//
//go:linkname ftraceProtocols
var ftraceProtocols uint32

// What a plugin gets. Package protocol and the libraries' files know these numbers.
const (
	ftraceWantsNotes      = 1 << iota // remarks on events, in words
	ftraceWantsSecrets                // authentication, and passwords in statements
	ftraceWantsParameters             // of prepared statements
)

// ftracePlugin is a plugin.
type ftracePlugin struct {
	name    string
	wants   uint32
	builtin bool
	broken  uint32 // it panicked and gets no more events; atomic
	start   func(c unsafe.Pointer, protocol string) any
	stop    func(c unsafe.Pointer, data any)
	event   func(c unsafe.Pointer, data any, stage, event string, args *ftrace_protocol_Args) bool
}

var ftracePlugins = struct {
	lock   uint32        // semaphore
	loaded *ftracePlugin // connections that begin are traced by it
	first  *ftraceDefinition
}{lock: 1}

// ftraceConn is a connection that is traced.
type ftraceConn struct {
	plugin   *ftracePlugin // nil: only static probes get the events
	probed   bool          // static probes get the events
	data     any           // belongs to the plugin
	protocol string
	driver   any    // the library's connection, on which commands can be sent
	id       uint64 // its number on the server
	number   uint64 // among the connections of the program that are or were traced
	address  string // what it is connected to, and as whom
	user     string
	database string
	stage    string
	state    uint32 // atomic: ftraceConnBusy...
}

const (
	ftraceConnBusy    = 1 << iota // its goroutine is between an event and the end of it; others stay out
	ftraceConnClosed              // it was closed meanwhile: DISCONNECTED is still to come
	ftraceConnStopped             // its tracing has ended
)

// ftraceProtocolG is what is kept of a goroutine, in its g.
type ftraceProtocolG struct {
	quiet    int32 // within a plugin's method
	protocol string
	pending  unsafe.Pointer // a connection that the goroutine is making; the library's file knows its type
}

// ftrace_protocol_begin begins tracing a connection, in stage CONNECTING, unless nobody listens.
// probed says that the protocol's static probes do.
//
//go:linkname ftrace_protocol_begin
func ftrace_protocol_begin(protocol string, probed bool, address, user, database string) (c *ftraceConn, wants uint32) {
	gp := getg()
	p := (*ftracePlugin)(atomic.Loadp(unsafe.Pointer(&ftracePlugins.loaded)))
	if p == nil && !probed || gp.ftraceProtocol.quiet != 0 {
		return nil, 0
	}
	c = new(ftraceConn)
	c.plugin, c.probed, c.protocol, c.stage, c.state = p, probed, protocol, "CONNECTING", ftraceConnBusy
	c.number, c.address, c.user, c.database = atomic.Xadd64(&ftraceConnectionsTraced, 1), address, user, database
	atomic.Store(&ftraceProtocols, 1)
	if p == nil {
		return c, 0
	}
	gp.ftraceProtocol.quiet++
	c.data = p.start(unsafe.Pointer(c), protocol)
	gp.ftraceProtocol.quiet--
	return c, p.wants
}

// ftrace_protocol_pend sets the connection that the goroutine is making from now on, nil for none.
// It returns the one that it was making.
//
//go:linkname ftrace_protocol_pend
func ftrace_protocol_pend(protocol string, pending unsafe.Pointer) (outerProtocol string, outer unsafe.Pointer) {
	g := &getg().ftraceProtocol
	outerProtocol, outer = g.protocol, g.pending
	g.protocol, g.pending = protocol, pending
	return outerProtocol, outer
}

// ftrace_protocol_pending returns the connection that the goroutine is making, if it is of this
// protocol.
//
//go:linkname ftrace_protocol_pending
func ftrace_protocol_pending(protocol string) unsafe.Pointer {
	if g := &getg().ftraceProtocol; g.protocol == protocol {
		return g.pending
	}
	return nil
}

// ftrace_protocol_enter says that what the goroutine does on the connection makes events, until
// ftrace_protocol_leave. It returns false within a plugin's method, for a connection whose tracing
// has ended, and while another goroutine is using it.
//
//go:linkname ftrace_protocol_enter
func ftrace_protocol_enter(c *ftraceConn) bool {
	if getg().ftraceProtocol.quiet != 0 || !atomic.Cas(&c.state, 0, ftraceConnBusy) {
		return false
	}
	if raceenabled {
		raceacquire(unsafe.Pointer(&c.state))
	}
	return true
}

// ftrace_protocol_leave ends what ftrace_protocol_enter began. If the connection was closed in
// between, it reports that now and returns true.
//
//go:linkname ftrace_protocol_leave
func ftrace_protocol_leave(c *ftraceConn) (ended bool) {
	if raceenabled {
		racerelease(unsafe.Pointer(&c.state))
	}
	for {
		state := atomic.Load(&c.state)
		if state&(ftraceConnClosed|ftraceConnStopped) == ftraceConnClosed {
			c.event("DISCONNECTED", new(ftrace_protocol_Args))
			ended = true
			continue
		}
		if atomic.Cas(&c.state, state, state&^ftraceConnBusy) {
			return ended
		}
	}
}

// ftrace_protocol_close says that the connection was closed, by whichever goroutine. It never
// waits.
//
//go:linkname ftrace_protocol_close
func ftrace_protocol_close(c *ftraceConn) (ended bool) {
	for {
		state := atomic.Load(&c.state)
		if state&(ftraceConnClosed|ftraceConnStopped) != 0 {
			return false
		}
		if state&ftraceConnBusy != 0 {
			if atomic.Cas(&c.state, state, state|ftraceConnClosed) {
				return false
			}
		} else if atomic.Cas(&c.state, state, ftraceConnBusy|ftraceConnClosed) {
			if raceenabled {
				raceacquire(unsafe.Pointer(&c.state))
			}
			return ftrace_protocol_leave(c)
		}
	}
}

// ftrace_protocol_stage sets the connection's stage. Like the functions below it is called between
// enter and leave.
//
//go:linkname ftrace_protocol_stage
func ftrace_protocol_stage(c *ftraceConn, stage string) { c.stage = stage }

// ftrace_protocol_identify sets the connection's number on the server.
//
//go:linkname ftrace_protocol_identify
func ftrace_protocol_identify(c *ftraceConn, id uint64) { c.id = id }

// ftrace_protocol_number returns a number for a connection whose server gives it none.
//
//go:linkname ftrace_protocol_number
func ftrace_protocol_number() uint64 { return atomic.Xadd64(&ftraceConnections, 1) }

var ftraceConnections uint64

// ftraceConnectionsTraced counts the connections that are or were traced; atomic.
var ftraceConnectionsTraced uint64

// ftrace_protocol_address sets what the connection is connected to, where that is known late.
//
//go:linkname ftrace_protocol_address
func ftrace_protocol_address(c *ftraceConn, address string) { c.address = address }

// ftrace_protocol_driver sets which of the library's values is the connection.
//
//go:linkname ftrace_protocol_driver
func ftrace_protocol_driver(c *ftraceConn, driver any) { c.driver = driver }

// ftrace_protocol_event delivers an event.
//
//go:linkname ftrace_protocol_event
func ftrace_protocol_event(c *ftraceConn, event string, args *ftrace_protocol_Args) {
	c.event(event, args)
}

// ftrace_protocol_note remarks on the last event. Only test_trace gets it.
//
//go:linkname ftrace_protocol_note
func ftrace_protocol_note(c *ftraceConn, note string) {
	if atomic.Load(&c.state)&ftraceConnStopped == 0 && c.plugin != nil && c.plugin.wants&ftraceWantsNotes != 0 {
		ftraceTestTraceNote(c, note)
	}
}

func (c *ftraceConn) event(event string, args *ftrace_protocol_Args) {
	if atomic.Load(&c.state)&ftraceConnStopped != 0 {
		return
	}
	if c.plugin == nil {
		if event == "DISCONNECTED" {
			atomic.Or(&c.state, ftraceConnStopped)
		}
		return
	}
	g := &getg().ftraceProtocol
	g.quiet++
	stop := atomic.Load(&c.plugin.broken) != 0
	if !stop {
		stop = c.plugin.event(unsafe.Pointer(c), c.data, c.stage, event, args) || event == "DISCONNECTED"
	}
	if stop {
		if event == "DISCONNECTED" || !c.probed {
			atomic.Or(&c.state, ftraceConnStopped)
		}
		if atomic.Load(&c.plugin.broken) == 0 {
			c.plugin.stop(unsafe.Pointer(c), c.data)
		}
		c.plugin, c.data = nil, nil
	}
	g.quiet--
}

// ftrace_protocol_load loads a plugin, or returns the name of the one that is loaded.
//
//go:linkname ftrace_protocol_load
func ftrace_protocol_load(name string, wants uint32, start func(c unsafe.Pointer, protocol string) any, stop func(c unsafe.Pointer, data any),
	event func(c unsafe.Pointer, data any, stage, event string, args *ftrace_protocol_Args) bool) (loaded string) {
	p := new(ftracePlugin)
	p.name, p.wants, p.start, p.stop, p.event = name, wants, start, stop, event
	return ftraceLoadPlugin(p)
}

func ftraceLoadPlugin(p *ftracePlugin) (loaded string) {
	semacquire(&ftracePlugins.lock)
	if ftracePlugins.loaded != nil {
		loaded = ftracePlugins.loaded.name
	} else {
		atomicstorep(unsafe.Pointer(&ftracePlugins.loaded), unsafe.Pointer(p))
		for d := ftracePlugins.first; d != nil; d = d.next {
			d.complain()
		}
		atomic.Store(&ftraceProtocols, 1)
	}
	semrelease(&ftracePlugins.lock)
	return loaded
}

// ftrace_protocol_unload unloads the plugin unless it is built in.
//
//go:linkname ftrace_protocol_unload
func ftrace_protocol_unload() {
	semacquire(&ftracePlugins.lock)
	if p := ftracePlugins.loaded; p != nil && !p.builtin {
		atomicstorep(unsafe.Pointer(&ftracePlugins.loaded), nil)
	}
	semrelease(&ftracePlugins.lock)
}

// ftrace_protocol_detach takes the plugin of this connection off all connections because it
// panicked.
//
//go:linkname ftrace_protocol_detach
func ftrace_protocol_detach(c *ftraceConn, report string) {
	p := c.plugin
	semacquire(&ftracePlugins.lock)
	first := atomic.Cas(&p.broken, 0, 1)
	if ftracePlugins.loaded == p {
		atomicstorep(unsafe.Pointer(&ftracePlugins.loaded), nil)
	}
	semrelease(&ftracePlugins.lock)
	if first {
		ftraceComplain("protocol: the plugin " + p.name + " panicked in " + report + "\nftrace: protocol: it is detached; the program and its connections live on")
	}
}

// ftrace_protocol_conn returns what package protocol shows of a connection.
//
//go:linkname ftrace_protocol_conn
func ftrace_protocol_conn(c *ftraceConn) (id uint64, driver any) { return c.id, c.driver }

// ftrace_protocol_facts returns what package protocol shows of a connection from its beginning on.
//
//go:linkname ftrace_protocol_facts
func ftrace_protocol_facts(c *ftraceConn) (number uint64, address, user, database string) {
	return c.number, c.address, c.user, c.database
}

// ftraceDefinition is a protocol that one of the program's libraries has.
type ftraceDefinition struct {
	next    *ftraceDefinition
	missing string // "" if the library has all the functions that are needed; else what to tell the user
	said    bool
}

// ftrace_protocol_define is called when a library's package is initialised.
//
//go:linkname ftrace_protocol_define
func ftrace_protocol_define(missing string) bool {
	d := new(ftraceDefinition)
	d.missing = missing
	semacquire(&ftracePlugins.lock)
	d.next = ftracePlugins.first
	ftracePlugins.first = d
	if ftracePlugins.loaded != nil {
		d.complain()
	}
	semrelease(&ftracePlugins.lock)
	return true
}

// complain says once what can't be traced.
func (d *ftraceDefinition) complain() {
	if d.missing != "" && !d.said {
		d.said = true
		ftraceComplain("protocol: " + d.missing)
	}
}

// ftrace_protocol_quiet reports whether the goroutine is within a plugin's method.
//
//go:linkname ftrace_protocol_quiet
func ftrace_protocol_quiet() bool { return getg().ftraceProtocol.quiet != 0 }

// ftrace_protocol_wait is ftrace_protocol_enter for connections that several goroutines use at
// once: it waits until the others' events are over.
//
//go:linkname ftrace_protocol_wait
func ftrace_protocol_wait(c *ftraceConn) bool {
	if getg().ftraceProtocol.quiet != 0 {
		return false
	}
	for !atomic.Cas(&c.state, 0, ftraceConnBusy) {
		if atomic.Load(&c.state)&ftraceConnStopped != 0 {
			return false
		}
		Gosched()
	}
	if raceenabled {
		raceacquire(unsafe.Pointer(&c.state))
	}
	return true
}
