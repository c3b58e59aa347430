//go:build ftrace_core

// This file is added to package net. It tells the core of operations on sockets, see
// wait/operation.go in package runtime.

package net

import (
	"net/netip"
	"syscall"
	"unsafe"
)

// ftraceOperations is not 0 while operations are observed.
//
//go:linkname ftraceOperations runtime.ftraceOperations
var ftraceOperations uint32

//go:linkname ftrace_operates runtime.ftrace_operates
//go:noescape
func ftrace_operates(file *uint64, descriptor unsafe.Pointer, operation uint8, name string) bool

//go:linkname ftrace_named runtime.ftrace_named
//go:noescape
func ftrace_named(file *uint64) bool

//go:linkname ftrace_operated runtime.ftrace_operated
func ftrace_operated(bytes int64)

// The operations, as package format numbers them, of sockets.
const (
	ftraceOpClose   = 0x80 + 4
	ftraceOpReceive = 0x80 + 8
	ftraceOpSend    = 0x80 + 9
	ftraceOpConnect = 0x80 + 10
	ftraceOpAccept  = 0x80 + 11
)

// ftraceOperates begins an operation. It reports whether ftrace_operated is to be called.
func (fd *netFD) ftraceOperates(operation uint8) bool {
	if !ftrace_named(&fd.ftraceFile) {
		return fd.ftraceOperatesNamed(operation)
	}
	return ftrace_operates(&fd.ftraceFile, unsafe.Pointer(&fd.pfd.Sysfd), operation, "")
}

// ftraceOperatesNamed is ftraceOperates when the socket's name is to be told. It is a function of
// its own since the room for the name has to be cleared.
//
//go:noinline
func (fd *netFD) ftraceOperatesNamed(operation uint8) bool {
	var room ftraceName
	name := room.begin(fd.net).ends(fd.laddr, fd.raddr).text()
	return ftrace_operates(&fd.ftraceFile, unsafe.Pointer(&fd.pfd.Sysfd), operation, name)
}

// ftraceConnecting begins to connect. The socket gets its name when it is connected.
func (fd *netFD) ftraceConnecting(to syscall.Sockaddr) bool {
	var room ftraceName
	var file uint64
	room.begin(fd.net).str("->")
	switch to := to.(type) {
	case *syscall.SockaddrInet4:
		room.address(netip.AddrFrom4(to.Addr), to.Port)
	case *syscall.SockaddrInet6:
		room.address(netip.AddrFrom16(to.Addr), to.Port)
	case *syscall.SockaddrUnix:
		room.str(to.Name)
	}
	return ftrace_operates(&file, unsafe.Pointer(&fd.pfd.Sysfd), ftraceOpConnect, room.text())
}

// ftraceOperated ends an operation if it was begun.
func ftraceOperated(begun bool, err error) error {
	if begun {
		ftrace_operated(0)
	}
	return err
}

// ftraceName is room for the name of a socket: network, space, address, and after -> that of the
// other end if there is one. Nothing is allocated for it.
type ftraceName struct {
	n int
	b [256]byte
}

func (t *ftraceName) text() string { return unsafe.String(&t.b[0], t.n) }

func (t *ftraceName) str(s string) *ftraceName {
	t.n += copy(t.b[t.n:], s)
	return t
}

func (t *ftraceName) begin(network string) *ftraceName { return t.str(network).str(" ") }

func (t *ftraceName) ends(local, remote Addr) *ftraceName {
	t.end(local)
	if remote != nil {
		t.str("->").end(remote)
	}
	return t
}

func (t *ftraceName) end(a Addr) {
	switch a := a.(type) {
	case *TCPAddr:
		if a != nil {
			t.ip(a.IP, a.Zone, a.Port)
		}
	case *UDPAddr:
		if a != nil {
			t.ip(a.IP, a.Zone, a.Port)
		}
	case *IPAddr:
		if a != nil {
			t.ip(a.IP, a.Zone, 0)
		}
	case *UnixAddr:
		if a != nil {
			t.str(a.Name)
		}
	}
}

func (t *ftraceName) ip(ip IP, zone string, port int) {
	addr, ok := netip.AddrFromSlice(ip)
	if !ok {
		addr = netip.IPv6Unspecified()
	}
	if zone != "" {
		addr = addr.WithZone(zone)
	}
	t.address(addr, port)
}

func (t *ftraceName) address(ip netip.Addr, port int) {
	const most = 128
	if len(t.b)-t.n >= most {
		t.n = len(netip.AddrPortFrom(ip.Unmap(), uint16(port)).AppendTo(t.b[:t.n]))
	}
}
