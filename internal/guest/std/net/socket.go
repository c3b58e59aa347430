//go:build ftrace_core && linux

// Options of sockets, and addresses.

package net

import (
	"net/netip"
	"syscall"
	"unsafe"
)

// ftraceAddress is an address and port. The zero value is none.
type ftraceAddress struct {
	ip   netip.Addr
	zone string
	port int
}

// ftraceAddressOf returns an address that the system uses. One of IPv4 that is mapped into IPv6
// becomes one of IPv4.
func ftraceAddressOf(sa syscall.Sockaddr) ftraceAddress {
	switch sa := sa.(type) {
	case *syscall.SockaddrInet4:
		return ftraceAddress4(sa)
	case *syscall.SockaddrInet6:
		return ftraceAddress6(sa)
	}
	return ftraceAddress{}
}

func ftraceAddress4(sa *syscall.SockaddrInet4) ftraceAddress {
	if sa == nil {
		return ftraceAddress{}
	}
	return ftraceAddress{ip: netip.AddrFrom4(sa.Addr), port: sa.Port}
}

func ftraceAddress6(sa *syscall.SockaddrInet6) ftraceAddress {
	if sa == nil {
		return ftraceAddress{}
	}
	a := ftraceAddress{ip: netip.AddrFrom16(sa.Addr).Unmap(), port: sa.Port}
	if sa.ZoneId != 0 {
		a.zone = zoneCache.name(int(sa.ZoneId))
	}
	return a
}

// ftraceEndOf returns an address that the package uses.
func ftraceEndOf(a Addr) ftraceAddress {
	switch a := a.(type) {
	case *TCPAddr:
		if a != nil {
			return ftraceAddressIn(a.IP, a.Zone, a.Port)
		}
	case *UDPAddr:
		if a != nil {
			return ftraceAddressIn(a.IP, a.Zone, a.Port)
		}
	}
	return ftraceAddress{}
}

func ftraceAddressIn(ip IP, zone string, port int) ftraceAddress {
	addr, _ := netip.AddrFromSlice(ip)
	return ftraceAddress{addr.Unmap(), zone, port}
}

func (a *ftraceAddress) known() bool { return a.ip.IsValid() }

// ftraceText is room for the text of the longest address, with an interface's name after it.
type ftraceText [64]byte

// text writes the address to room. It returns "" if there is none.
func (a *ftraceAddress) text(room *ftraceText) string {
	if !a.known() {
		return ""
	}
	b := a.ip.AppendTo(room[:0])
	if a.zone != "" && len(b)+1+len(a.zone) <= len(room) {
		b = append(append(b, '%'), a.zone...)
	}
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// packet is text, except that packets do not have the wildcard as an address.
func (a *ftraceAddress) packet(room *ftraceText) string {
	if a.ip.IsUnspecified() {
		return ""
	}
	return a.text(room)
}

// ftraceLocal reports whether packets between these addresses stay on the machine, as far as the
// addresses show.
func ftraceLocal(a, b *ftraceAddress) int32 {
	if b.known() && (b.ip.IsLoopback() || a.ip == b.ip) {
		return 1
	}
	return 0
}

// ftraceTCPInfo is the beginning of Linux's struct tcp_info. An older system writes less of it.
type ftraceTCPInfo struct {
	state, caState, retransmits, probes, backoff, options, scales, flags uint8
	rto, ato, sndMSS, rcvMSS                                             uint32
	unacked, sacked, lost, retrans, fackets                              uint32
	lastDataSent, lastAckSent, lastDataRecv, lastAckRecv                 uint32
	pmtu, rcvSsthresh, rtt, rttvar, sndSsthresh, sndCwnd, advMSS         uint32
	reordering, rcvRTT, rcvSpace, totalRetrans                           uint32
	pacingRate, maxPacingRate, bytesAcked, bytesReceived                 uint64
	segsOut, segsIn, notsentBytes, minRTT, dataSegsIn, dataSegsOut       uint32
	deliveryRate, busyTime, rwndLimited, sndbufLimited                   uint64
	delivered, deliveredCE                                               uint32
	bytesSent, bytesRetrans                                              uint64
	dsackDups, reordSeen, rcvOOOPack                                     uint32
	sndWnd                                                               uint32 // from Linux 5.4 on
	rcvWnd                                                               uint32 // from Linux 6.2 on
}

// ftraceAsk reads a socket's options: its cookie, which stays, and its TCP_INFO, whose size in
// bytes it returns.
func (fd *netFD) ftraceAsk(cookie bool, info *ftraceTCPInfo) (n uintptr) {
	cookie = cookie && fd.ftrace.cookie.Load() == 0
	if !cookie && info == nil {
		return 0
	}
	// The descriptor is held: one that was closed meanwhile may be another file.
	fd.pfd.RawControl(func(sysfd uintptr) {
		if cookie {
			const soCookie = 57
			var c uint64
			if ftraceGetsockopt(sysfd, syscall.SOL_SOCKET, soCookie, unsafe.Pointer(&c), unsafe.Sizeof(c)) == unsafe.Sizeof(c) {
				fd.ftrace.cookie.Store(c)
			}
		}
		if info != nil {
			n = ftraceGetsockopt(sysfd, syscall.IPPROTO_TCP, syscall.TCP_INFO, unsafe.Pointer(info), unsafe.Sizeof(*info))
		}
	})
	return n
}

// ftraceGetsockopt returns how many bytes the system wrote to p. It does not wait, so the scheduler
// need not know.
func ftraceGetsockopt(fd uintptr, level, option int, p unsafe.Pointer, size uintptr) uintptr {
	length := uint32(size)
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_GETSOCKOPT, fd, uintptr(level), uintptr(option), uintptr(p), uintptr(unsafe.Pointer(&length)), 0); errno != 0 {
		return 0
	}
	return uintptr(length)
}
