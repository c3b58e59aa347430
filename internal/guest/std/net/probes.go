//go:build ftrace_core && linux

// The files ftrace_*.go are added to package net on Linux: the static probes of the providers tcp
// and udp, under DTrace's names. docs/probes-providers.md says when each fires and where each of
// its arguments comes from.
//
// This file has what the package's functions call, by a line each that is spliced into them. Where
// nothing is armed that is a test of a pointer or two. A connection's state is followed in any
// case, but that costs something only where connections begin and end.

package net

import (
	"io"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// The probes, as indexes into the hooks, and into ftraceProbeLines.
const (
	ftraceTCPSend = iota
	ftraceTCPReceive
	ftraceTCPStateChange
	ftraceConnectRequest
	ftraceConnectEstablished
	ftraceConnectRefused
	ftraceAcceptEstablished
	ftraceTCPProbes
)

const (
	ftraceUDPSend = iota
	ftraceUDPReceive
	ftraceUDPProbes
)

// The hooks, which the core writes, and the parts of the arguments that are wanted, see
// ftraceTCPParts.
var (
	ftraceTCP       [ftraceTCPProbes]any
	ftraceTCPWanted [ftraceTCPProbes]uint64
	ftraceUDP       [ftraceUDPProbes]any
	ftraceUDPWanted [ftraceUDPProbes]uint64
)

// ftraceConn is what the tracer keeps in a netFD.
type ftraceConn struct {
	opened int32         // how, see ftraceOpened...; 0: not known, because the descriptor came from elsewhere
	state  atomic.Int32  // of TCP, as far as the package saw it; 0: it has seen no state of this socket yet
	cookie atomic.Uint64 // SO_COOKIE, 0: not read yet
}

const (
	ftraceOpenedActive  = 1 + iota // by connect
	ftraceOpenedPassive            // by accept, or it listens
)

// The states of TCP, as Linux numbers them.
const (
	ftraceEstablished = 1
	ftraceSynSent     = 2
	ftraceSynReceived = 3
	ftraceFinWait1    = 4
	ftraceTimeWait    = 6
	ftraceClosed      = 7
	ftraceCloseWait   = 8
	ftraceLastAck     = 9
	ftraceListen      = 10
)

func (fd *netFD) ftraceInternet() bool {
	return fd.family == syscall.AF_INET || fd.family == syscall.AF_INET6
}

func (fd *netFD) ftraceIsTCP() bool { return fd.sotype == syscall.SOCK_STREAM && fd.ftraceInternet() }
func (fd *netFD) ftraceIsUDP() bool { return fd.sotype == syscall.SOCK_DGRAM && fd.ftraceInternet() }

// ftraceSends reports whether any probe wants what is sent.
func ftraceSends() bool { return ftraceTCP[ftraceTCPSend] != nil || ftraceUDP[ftraceUDPSend] != nil }

// ftraceReceives reports whether any probe wants what is received, or whether err says that nothing
// was.
func ftraceReceives(err error) bool {
	return ftraceTCP[ftraceTCPReceive] != nil || ftraceUDP[ftraceUDPReceive] != nil || err != nil
}

// ftraceSent is called when n bytes were written. to is where a datagram went, nil for the peer.
func (fd *netFD) ftraceSent(n int64, to ftraceAddress, err error) {
	switch {
	case fd.ftraceIsTCP():
		if n > 0 && ftraceTCP[ftraceTCPSend] != nil {
			ftraceFireTCP(ftraceTCPSend, fd, ftraceTCPEvent{outbound: true, bytes: n})
		}
	case fd.ftraceIsUDP() && err == nil && ftraceUDP[ftraceUDPSend] != nil:
		ftraceFireUDP(ftraceUDPSend, fd, to, n)
	}
}

// ftraceReceived is called when n bytes were read, or none because of err. from is where a datagram
// came from, nil for the peer.
func (fd *netFD) ftraceReceived(n int64, from ftraceAddress, err error) {
	switch {
	case fd.ftraceIsTCP():
		if n > 0 && ftraceTCP[ftraceTCPReceive] != nil {
			ftraceFireTCP(ftraceTCPReceive, fd, ftraceTCPEvent{bytes: n})
		}
		if err != nil {
			fd.ftraceReadError(err)
		}
	case fd.ftraceIsUDP() && err == nil && ftraceUDP[ftraceUDPReceive] != nil:
		ftraceFireUDP(ftraceUDPReceive, fd, from, n)
	}
}

// ftraceReadError follows the state of a connection that the peer has closed or reset.
func (fd *netFD) ftraceReadError(err error) {
	switch err {
	case io.EOF:
		switch fd.ftraceStateNow() {
		case ftraceEstablished:
			fd.ftraceGoes(ftraceCloseWait)
		case ftraceFinWait1:
			fd.ftraceGoes(ftraceTimeWait)
		}
	case syscall.ECONNRESET:
		fd.ftraceGoes(ftraceClosed)
	}
}

// ftraceStateNow returns the last state seen. If none was, the socket came from elsewhere, and its
// addresses tell.
func (fd *netFD) ftraceStateNow() int32 {
	if s := fd.ftrace.state.Load(); s != 0 {
		return s
	}
	if fd.raddr != nil {
		return ftraceEstablished
	}
	return ftraceListen
}

// ftraceGoes changes the socket's state.
func (fd *netFD) ftraceGoes(state int32) {
	before := fd.ftraceStateNow()
	if fd.ftrace.state.Swap(state) == state || before == state {
		return
	}
	if ftraceTCP[ftraceTCPStateChange] != nil {
		ftraceFireTCP(ftraceTCPStateChange, fd, ftraceTCPEvent{state: state, before: before})
	}
}

// ftraceConnects takes what connect returned, and returns it. If a SYN was sent, the connection was
// requested.
func ftraceConnects(fd *netFD, to syscall.Sockaddr, err error) error {
	if !fd.ftraceIsTCP() {
		return err
	}
	switch err {
	case nil, syscall.EINPROGRESS, syscall.EALREADY, syscall.EINTR, syscall.EISCONN, syscall.ECONNREFUSED:
	default:
		return err
	}
	fd.ftrace.opened = ftraceOpenedActive
	fd.ftrace.state.Store(ftraceSynSent)
	if ftraceTCP[ftraceConnectRequest] == nil && ftraceTCP[ftraceTCPStateChange] == nil {
		return err
	}
	from, _ := syscall.Getsockname(fd.pfd.Sysfd) // the kernel has chosen it by now
	event := ftraceTCPEvent{outbound: true, local: ftraceAddressOf(from), remote: ftraceAddressOf(to)}
	if ftraceTCP[ftraceConnectRequest] != nil {
		ftraceFireTCP(ftraceConnectRequest, fd, event)
	}
	if ftraceTCP[ftraceTCPStateChange] != nil {
		event.state, event.before = ftraceSynSent, ftraceClosed
		ftraceFireTCP(ftraceTCPStateChange, fd, event)
	}
	return err
}

// ftraceConnected is called when dial has succeeded, which has set the addresses.
func (fd *netFD) ftraceConnected() {
	if fd.ftrace.state.Load() != ftraceSynSent {
		return
	}
	if ftraceTCP[ftraceConnectEstablished] != nil {
		ftraceFireTCP(ftraceConnectEstablished, fd, ftraceTCPEvent{state: ftraceEstablished})
	}
	fd.ftraceGoes(ftraceEstablished)
}

// ftraceNotConnected is called with the error of a dial that failed.
func (fd *netFD) ftraceNotConnected(to syscall.Sockaddr, err error) {
	if fd.ftrace.state.Load() != ftraceSynSent {
		return
	}
	fd.ftrace.state.Store(ftraceClosed)
	refused := false
	if err, ok := err.(interface{ Unwrap() error }); ok { // of package os, by its name: connect
		refused = err.Unwrap() == syscall.ECONNREFUSED
	}
	refused = refused && ftraceTCP[ftraceConnectRefused] != nil
	if !refused && ftraceTCP[ftraceTCPStateChange] == nil {
		return
	}
	from, _ := syscall.Getsockname(fd.pfd.Sysfd)
	event := ftraceTCPEvent{local: ftraceAddressOf(from), remote: ftraceAddressOf(to), state: ftraceClosed, before: ftraceSynSent}
	if refused {
		ftraceFireTCP(ftraceConnectRefused, fd, event)
	}
	if ftraceTCP[ftraceTCPStateChange] != nil {
		ftraceFireTCP(ftraceTCPStateChange, fd, event)
	}
}

// ftraceAccepted is called when a connection was accepted.
func (fd *netFD) ftraceAccepted() {
	if !fd.ftraceIsTCP() {
		return
	}
	fd.ftrace.opened = ftraceOpenedPassive
	fd.ftrace.state.Store(ftraceEstablished)
	if ftraceTCP[ftraceAcceptEstablished] != nil {
		ftraceFireTCP(ftraceAcceptEstablished, fd, ftraceTCPEvent{})
	}
	if ftraceTCP[ftraceTCPStateChange] != nil {
		ftraceFireTCP(ftraceTCPStateChange, fd, ftraceTCPEvent{state: ftraceEstablished, before: ftraceSynReceived})
	}
}

// ftraceListens is called when a socket listens. The package has not set its address yet.
func (fd *netFD) ftraceListens() {
	if !fd.ftraceIsTCP() {
		return
	}
	fd.ftrace.opened = ftraceOpenedPassive
	fd.ftrace.state.Store(ftraceListen)
	if ftraceTCP[ftraceTCPStateChange] != nil {
		at, _ := syscall.Getsockname(fd.pfd.Sysfd)
		ftraceFireTCP(ftraceTCPStateChange, fd, ftraceTCPEvent{local: ftraceAddressOf(at), state: ftraceListen, before: ftraceClosed})
	}
}

// ftraceShut is called when a direction was shut down. The peer learns of the end of writing.
func (fd *netFD) ftraceShut(how int) {
	if how == syscall.SHUT_RD || !fd.ftraceIsTCP() {
		return
	}
	switch fd.ftraceStateNow() {
	case ftraceEstablished:
		fd.ftraceGoes(ftraceFinWait1)
	case ftraceCloseWait:
		fd.ftraceGoes(ftraceLastAck)
	}
}

// ftraceCloses is called when the socket is about to be closed. It may have been closed before.
func (fd *netFD) ftraceCloses() {
	if fd.ftraceIsTCP() && (fd.laddr != nil || fd.ftrace.state.Load() != 0) {
		fd.ftraceGoes(ftraceClosed)
	}
}

// ftraceSpliced is called when the kernel has moved n bytes from one socket to another.
func ftraceSpliced(to, from *netFD, n int64) {
	if n <= 0 {
		return
	}
	if ftraceReceives(nil) {
		from.ftraceReceived(n, ftraceAddress{}, nil)
	}
	if ftraceSends() {
		to.ftraceSent(n, ftraceAddress{}, nil)
	}
}

// ftraceNetMoved is called by package os for such copies between files and connections.
//
//go:linkname ftraceNetMoved runtime.ftraceNetMoved
var ftraceNetMoved func(pfd unsafe.Pointer, n int64, sent bool)

// A netFD begins with its poll.FD, which is what package os has.
var _ [0]struct{} = [unsafe.Offsetof(netFD{}.pfd)]struct{}{}

func ftraceMoved(pfd unsafe.Pointer, n int64, sent bool) {
	fd := (*netFD)(pfd)
	switch {
	case sent && ftraceSends():
		fd.ftraceSent(n, ftraceAddress{}, nil)
	case !sent && ftraceReceives(nil):
		fd.ftraceReceived(n, ftraceAddress{}, nil)
	}
}
