package protocol

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"runtime/debug"
	"unsafe"
)

// A Plugin hears of connections. The goroutine that uses a connection calls the methods: one at a
// time for one connection, several at once for several. What a plugin does on connections makes no
// events.
//
// A plugin that panics is detached from all connections, and a message on stderr says so. The
// connections live on.
type Plugin interface {
	// TracingStart is called when a connection begins, before CONNECTING. The other methods get
	// what it returns as data.
	TracingStart(c *Conn) (data any)
	// TracingStop is called when the tracing of a connection ends: after DISCONNECTED, or after
	// TraceEvent returned true.
	TracingStop(c *Conn, data any)
	// TraceEvent is called at each event, with the stage that the connection is in. args is valid
	// until TraceEvent returns. If it returns true, the tracing of this connection ends.
	TraceEvent(c *Conn, data any, stage Stage, event Event, args *Args) (stop bool)
}

// A Stage is the part of its protocol that a connection is in. It tells which packets can come
// next.
type Stage string

// The stages. MySQL connections go through all of them, Redis connections through some.
const (
	StageConnecting      Stage = "CONNECTING"
	StageInitPacket      Stage = "WAIT_FOR_INIT_PACKET"
	StageAuthenticate    Stage = "AUTHENTICATE"
	StageSSLNegotiation  Stage = "SSL_NEGOTIATION"
	StageReadyForCommand Stage = "READY_FOR_COMMAND"
	StageWaitForPacket   Stage = "WAIT_FOR_PACKET"
	StageWaitForResult   Stage = "WAIT_FOR_RESULT"
	StageWaitForFieldDef Stage = "WAIT_FOR_FIELD_DEF"
	StageWaitForRow      Stage = "WAIT_FOR_ROW"
	StageFileRequest     Stage = "FILE_REQUEST"
	StagePSDescription   Stage = "WAIT_FOR_PS_DESCRIPTION"
	StagePSParameter     Stage = "WAIT_FOR_PS_PARAMETER"
)

// An Event is something that happens on a connection.
type Event string

// The events. Each comment tells what has happened; the fields of [Args] name their events.
const (
	Connecting         Event = "CONNECTING"           // the client is connecting
	Connected          Event = "CONNECTED"            // there is a physical connection
	Disconnected       Event = "DISCONNECTED"         // the connection has ended
	SendSSLRequest     Event = "SEND_SSL_REQUEST"     // the client asks for TLS
	SSLConnect         Event = "SSL_CONNECT"          // the TLS handshake begins
	SSLConnected       Event = "SSL_CONNECTED"        // it succeeded
	InitPacketReceived Event = "INIT_PACKET_RECEIVED" // the server's first packet was understood
	AuthPlugin         Event = "AUTH_PLUGIN"          // an authentication plugin was chosen
	SendAuthResponse   Event = "SEND_AUTH_RESPONSE"   // the client answers the challenge
	SendAuthData       Event = "SEND_AUTH_DATA"       // more packets of the authentication
	Authenticated      Event = "AUTHENTICATED"        // the server has accepted the connection
	SendCommand        Event = "SEND_COMMAND"         // a command
	SendFile           Event = "SEND_FILE"            // a piece of a local file (LOCAL INFILE), the last one empty
	ReadPacket         Event = "READ_PACKET"          // the client begins to wait for a packet
	PacketReceived     Event = "PACKET_RECEIVED"      // it came
	PacketSent         Event = "PACKET_SENT"          // a command or a piece of a file has been sent
	Error              Event = "ERROR"                // an error, the server's or the client's own
)

// ErrInactive is the error of [Load] in a program built without ftrace-wrap.
var ErrInactive = errors.New("protocol: this program was not built with ftrace-wrap")

// An Option lets a plugin see what is withheld otherwise. Without options it sees no secrets.
type Option uint32

const (
	// Secrets shows authentication packets, and passwords in statements.
	Secrets Option = 1 << 1
	// Parameters shows the parameters of prepared statements.
	Parameters Option = 1 << 2
)

// Load loads a plugin. It hears of connections that begin from now on, and not of those that are
// there already.
//
// One plugin can be loaded at a time. If there is one, also a built-in one that FTRACE_PROTOCOL
// loaded, Load returns an error that names it. Without the wrapper the error is [ErrInactive]. Load
// may be called from several goroutines at once.
func Load(p Plugin, options ...Option) error {
	switch {
	case p == nil:
		return errors.New("protocol: Load of a nil Plugin")
	case coreLoad == nil:
		return ErrInactive
	}
	var wants Option
	for _, o := range options {
		wants |= o
	}
	a := &adapter{plugin: p, name: fmt.Sprintf("%T", p)}
	if loaded := coreLoad(a.name, uint32(wants), a.start, a.stop, a.event); loaded != "" {
		return fmt.Errorf("protocol: Load of %s: %s is loaded already", a.name, loaded)
	}
	return nil
}

// Unload unloads the plugin that [Load] loaded. It hears no more of new connections, but of those
// that it is tracing until they end. If no plugin is loaded, Unload does nothing.
func Unload() {
	if coreUnload != nil {
		coreUnload()
	}
}

// A Conn is a connection that is being traced. It is valid until TracingStop returns.
type Conn struct {
	core     unsafe.Pointer // the core's
	protocol string
	data     any
	event    Event // that is being delivered
}

// Protocol returns the name of the connection's protocol, "mysql" or "redis".
func (c *Conn) Protocol() string { return c.protocol }

// ID returns the number that the server gave the connection, such as MySQL's CONNECTION_ID(). It is
// 0 until the server has given one.
func (c *Conn) ID() uint64 {
	id, _ := coreConn(c.core)
	return id
}

// Number returns the connection's number among those of the program that a plugin or static probes
// have heard of, from 1 on. It has one from TracingStart on.
func (c *Conn) Number() uint64 {
	number, _, _, _ := coreFacts(c.core)
	return number
}

// Address returns what the connection is connected to, as the program named it: host:port, or the
// path of a socket. Redis's connections have it from CONNECTED on, as the system knows it.
func (c *Conn) Address() string {
	_, address, _, _ := coreFacts(c.core)
	return address
}

// User returns whom the program connects as, and Database the database that it asked for. Both are
// empty for Redis, whose library tells them with commands.
func (c *Conn) User() string {
	_, _, user, _ := coreFacts(c.core)
	return user
}

// Database returns the database that the program asked for, see [Conn.User].
func (c *Conn) Database() string {
	_, _, _, database := coreFacts(c.core)
	return database
}

// Query sends a statement on the connection and returns the rows. The plugin must close them before
// TraceEvent returns.
//
// Query may be called while TraceEvent handles [Authenticated] on a MySQL connection. At all other
// times the connection may be in the middle of a conversation, and Query returns an error.
func (c *Conn) Query(query string, args ...driver.Value) (driver.Rows, error) {
	d, err := c.driver()
	if err != nil {
		return nil, err
	}
	return d.Query(query, args)
}

// Exec sends a statement that returns no rows. It may be called where [Conn.Query] may.
func (c *Conn) Exec(query string, args ...driver.Value) (driver.Result, error) {
	d, err := c.driver()
	if err != nil {
		return nil, err
	}
	return d.Exec(query, args)
}

// A commander is a driver's connection.
type commander interface {
	Query(query string, args []driver.Value) (driver.Rows, error)
	Exec(query string, args []driver.Value) (driver.Result, error)
}

func (c *Conn) driver() (commander, error) {
	if c.event != Authenticated {
		return nil, fmt.Errorf("protocol: commands can be sent within the event %s only", Authenticated)
	}
	_, d := coreConn(c.core)
	if d, ok := d.(commander); ok {
		return d, nil
	}
	return nil, fmt.Errorf("protocol: no commands can be sent on connections of the protocol %s with this version of its driver", c.protocol)
}

// An adapter is what the core knows of a plugin. What the core keeps for it with a connection is
// the *Conn.
type adapter struct {
	plugin Plugin
	name   string
}

func (a *adapter) start(core unsafe.Pointer, protocol string) any {
	c := &Conn{core: core, protocol: protocol}
	a.guard(c, "TracingStart", func() { c.data = a.plugin.TracingStart(c) })
	return c
}

func (a *adapter) stop(_ unsafe.Pointer, conn any) {
	c := conn.(*Conn)
	a.guard(c, "TracingStop", func() { a.plugin.TracingStop(c, c.data) })
}

func (a *adapter) event(_ unsafe.Pointer, conn any, stage, event string, args *Args) (stop bool) {
	c := conn.(*Conn)
	c.event = Event(event)
	stop = true // if it panics
	a.guard(c, "TraceEvent", func() { stop = a.plugin.TraceEvent(c, c.data, Stage(stage), Event(event), args) })
	c.event = ""
	return stop
}

// guard calls a method of the plugin, and detaches the plugin if it panics.
func (a *adapter) guard(c *Conn, method string, call func()) {
	returned := false
	defer func() {
		if !returned { // by a panic, or runtime.Goexit, which can't be stopped
			coreDetach(c.core, fmt.Sprintf("%s: %v\n%s", method, recover(), debug.Stack()))
		}
	}()
	call()
	returned = true
}

// The links into the core: nil in a program built without the wrapper. When the wrapper compiles
// this package it adds a file that sets them (see internal/inject).
var (
	coreLoad func(name string, wants uint32, start func(core unsafe.Pointer, protocol string) any, stop func(core unsafe.Pointer, conn any),
		event func(core unsafe.Pointer, conn any, stage, event string, args *Args) bool) (loaded string)
	coreUnload func()
	coreDetach func(core unsafe.Pointer, report string)
	coreConn   func(core unsafe.Pointer) (id uint64, driver any)
	coreFacts  func(core unsafe.Pointer) (number uint64, address, user, database string)
)
