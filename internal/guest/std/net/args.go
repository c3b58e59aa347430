//go:build ftrace_core && linux

// The arguments of the probes: DTrace's structures, under its names, without the fields that user
// space cannot know. The fields that are only sometimes known come last. A structure without them
// has a type that ends earlier: readers of a recording see by the type what is there.

//lint:file-ignore U1000 fields of the arguments are read by name

package net

import (
	"syscall"
	"unsafe"
)

//go:linkname ftrace_declare runtime.ftrace_declare
func ftrace_declare(provider, file, text string, hooks *any, n uintptr, parts string, wanted *uint64)

//go:linkname ftrace_fire runtime.ftrace_fire
//go:noescape
func ftrace_fire(hook *any, args ...any)

const (
	ftraceTCPArgs = " pktinfo,csinfo,ipinfo,tcpsinfo,tcpinfo;;func(pktinfo pktinfo_t, csinfo csinfo_t, ipinfo ipinfo_t, tcpsinfo tcpsinfo_t, tcpinfo tcpinfo_t)\n"

	ftraceTCPLines = "0 0 send" + ftraceTCPArgs + "0 0 receive" + ftraceTCPArgs +
		"0 0 state-change pktinfo,csinfo,ipinfo,tcpsinfo,tcpinfo,tcplsinfo;;func(pktinfo pktinfo_t, csinfo csinfo_t, ipinfo ipinfo_t, tcpsinfo tcpsinfo_t, tcpinfo tcpinfo_t, tcplsinfo tcplsinfo_t)\n" +
		"0 0 connect-request" + ftraceTCPArgs + "0 0 connect-established" + ftraceTCPArgs + "0 0 connect-refused" + ftraceTCPArgs + "0 0 accept-established" + ftraceTCPArgs

	ftraceUDPArgs = " pktinfo,csinfo,ipinfo,udpsinfo,udpinfo;;func(pktinfo pktinfo_t, csinfo csinfo_t, ipinfo ipinfo_t, udpsinfo udpsinfo_t, udpinfo udpinfo_t)\n"

	ftraceUDPLines = "0 0 send" + ftraceUDPArgs + "0 0 receive" + ftraceUDPArgs
)

// The parts of the arguments by which the rules say what is wanted.
const (
	ftraceWantPacket = 1 << iota
	ftraceWantConn
	ftraceWantCookie
	ftraceWantIP
	ftraceWantState
	ftraceWantInfo // udp has none
	ftraceWantHeader
	ftraceWantLast
)

const (
	ftraceParts    = "pktinfo,pkt_addr csinfo,cs_pid csinfo,cs_cid ipinfo,ip_ver,ip_plength,ip_saddr,ip_daddr "
	ftraceTCPParts = ftraceParts + "tcpsinfo,tcps_local,tcps_active,tcps_lport,tcps_rport,tcps_laddr,tcps_raddr,tcps_state,tcps_retransmit " +
		"tcpsinfo,tcps_snd_ws,tcps_rcv_ws,tcps_cwnd,tcps_cwnd_ssthresh,tcps_rto,tcps_mss,tcps_swnd,tcps_rwnd tcpinfo,tcp_sport,tcp_dport,tcp_offset tcplsinfo,tcps_state"
	ftraceUDPParts = ftraceParts + "udpsinfo,udps_lport,udps_rport,udps_laddr,udps_raddr - udpinfo,udp_sport,udp_dport,udp_length"
)

// pktinfo_t has no more than DTrace's. Its one field is always 0.
type pktinfo_t struct{ pkt_addr uintptr }

// csinfo_t describes the connection. cs_cid is set if it is wanted and the system has
// SO_COOKIE.
type csinfo_t struct {
	cs_pid int32
	cs_cid uint64
}

type ipinfo_t struct {
	ip_ver             uint8
	ip_plength         uint64
	ip_saddr, ip_daddr string
}

// tcpsinfo_t is the connection's state. The fields from tcps_snd_ws on come from TCP_INFO.
type tcpsinfo_t struct {
	tcps_local, tcps_active                                                     int32
	tcps_lport, tcps_rport                                                      uint16
	tcps_laddr, tcps_raddr                                                      string
	tcps_state, tcps_retransmit                                                 int32
	tcps_snd_ws, tcps_rcv_ws, tcps_cwnd, tcps_cwnd_ssthresh, tcps_rto, tcps_mss uint32
	tcps_swnd                                                                   uint32
	tcps_rwnd                                                                   uint32
}

type tcpinfo_t struct {
	tcp_sport, tcp_dport uint16
	tcp_offset           uint8
}

type tcplsinfo_t struct{ tcps_state int32 }

type udpsinfo_t struct {
	udps_lport, udps_rport uint16
	udps_laddr, udps_raddr string
}

type udpinfo_t struct{ udp_sport, udp_dport, udp_length uint16 }

// The types that end earlier: csinfo_t without cs_cid, and tcpsinfo_t without TCP_INFO, and as
// Linux before 5.4 and before 6.2 has it. They have the names of the whole types.
var (
	ftraceCsinfo   [2]any
	ftraceTcpsinfo [4]any
)

func init() {
	{
		type csinfo_t struct{ cs_pid int32 }
		ftraceCsinfo[0] = csinfo_t{}
	}
	ftraceCsinfo[1] = csinfo_t{}
	{
		type tcpsinfo_t struct {
			tcps_local, tcps_active     int32
			tcps_lport, tcps_rport      uint16
			tcps_laddr, tcps_raddr      string
			tcps_state, tcps_retransmit int32
		}
		ftraceTcpsinfo[0] = tcpsinfo_t{}
	}
	{
		type tcpsinfo_t struct {
			tcps_local, tcps_active                                                     int32
			tcps_lport, tcps_rport                                                      uint16
			tcps_laddr, tcps_raddr                                                      string
			tcps_state, tcps_retransmit                                                 int32
			tcps_snd_ws, tcps_rcv_ws, tcps_cwnd, tcps_cwnd_ssthresh, tcps_rto, tcps_mss uint32
		}
		ftraceTcpsinfo[1] = tcpsinfo_t{}
	}
	{
		type tcpsinfo_t struct {
			tcps_local, tcps_active                                                     int32
			tcps_lport, tcps_rport                                                      uint16
			tcps_laddr, tcps_raddr                                                      string
			tcps_state, tcps_retransmit                                                 int32
			tcps_snd_ws, tcps_rcv_ws, tcps_cwnd, tcps_cwnd_ssthresh, tcps_rto, tcps_mss uint32
			tcps_swnd                                                                   uint32
		}
		ftraceTcpsinfo[2] = tcpsinfo_t{}
	}
	ftraceTcpsinfo[3] = tcpsinfo_t{}

	ftraceNetMoved = ftraceMoved
	ftrace_declare("tcp", "net", ftraceTCPLines, &ftraceTCP[0], ftraceTCPProbes, ftraceTCPParts, &ftraceTCPWanted[0])
	ftrace_declare("udp", "net", ftraceUDPLines, &ftraceUDP[0], ftraceUDPProbes, ftraceUDPParts, &ftraceUDPWanted[0])
}

// ftraceAs sets v to the value at p, of the type of the value in of. Neither v nor p lets what is
// at p escape: v is used before the caller returns.
//
//go:nocheckptr
func ftraceAs(v *any, of *any, p unsafe.Pointer) {
	type eface struct {
		typ  unsafe.Pointer
		data uintptr
	}
	(*eface)(unsafe.Pointer(v)).typ = (*eface)(unsafe.Pointer(of)).typ
	//lint:ignore SA4016 the compiler does not follow p through it
	hidden := uintptr(p) ^ 0
	(*struct{ typ, data unsafe.Pointer })(unsafe.Pointer(v)).data = unsafe.Pointer(hidden)
}

// ftraceTCPEvent is what happens to a connection. For what it leaves open the netFD is used.
type ftraceTCPEvent struct {
	outbound      bool // the packet, if the event is about one, goes out
	bytes         int64
	local, remote ftraceAddress
	state, before int32 // of a change of state: the new one, the old one
}

// ftraceFireTCP fires a probe of provider tcp.
func ftraceFireTCP(probe int, fd *netFD, e ftraceTCPEvent) {
	wanted := ftraceTCPWanted[probe]
	if !e.local.known() {
		e.local = ftraceEndOf(fd.laddr)
	}
	if !e.remote.known() {
		e.remote = ftraceEndOf(fd.raddr)
	}
	if e.state == 0 {
		e.state = fd.ftraceStateNow()
	}
	change := probe == ftraceTCPStateChange
	var args [6]any
	var texts [4]ftraceText

	packet := pktinfo_t{}
	if wanted&ftraceWantPacket != 0 {
		args[0] = packet
	}
	var info ftraceTCPInfo
	n := uintptr(0)
	if wanted&ftraceWantInfo != 0 {
		n = fd.ftraceAsk(wanted&ftraceWantCookie != 0, &info)
	} else {
		fd.ftraceAsk(wanted&ftraceWantCookie != 0, nil)
	}
	var conn csinfo_t
	fd.ftraceFillConn(&args[1], &conn, wanted)

	from, to := &e.remote, &e.local
	if e.outbound {
		from, to = to, from
	}
	if wanted&ftraceWantIP != 0 && !change {
		args[2] = ipinfo_t{ftraceVersion(from, to), uint64(e.bytes), from.packet(&texts[0]), to.packet(&texts[1])}
	}
	state := tcpsinfo_t{tcps_local: ftraceLocal(&e.local, &e.remote), tcps_lport: uint16(e.local.port), tcps_rport: uint16(e.remote.port),
		tcps_laddr: e.local.text(&texts[2]), tcps_raddr: e.remote.text(&texts[3]), tcps_state: e.state}
	switch fd.ftrace.opened {
	case 0:
		state.tcps_active = -1
		if e.state == ftraceListen {
			state.tcps_active = 0
		}
	case ftraceOpenedActive:
		state.tcps_active = 1
	}
	if wanted&(ftraceWantState|ftraceWantInfo) != 0 {
		ftraceAs(&args[3], &ftraceTcpsinfo[state.fill(&info, n)], unsafe.Pointer(&state))
	}
	if wanted&ftraceWantHeader != 0 && !change {
		args[4] = tcpinfo_t{tcp_sport: uint16(from.port), tcp_dport: uint16(to.port)}
	}
	last := tcplsinfo_t{e.before}
	if !change {
		ftrace_fire(&ftraceTCP[probe], args[:5]...)
		return
	}
	if wanted&ftraceWantLast != 0 {
		args[5] = last
	}
	ftrace_fire(&ftraceTCP[probe], args[:]...)
}

// fill takes over what TCP_INFO has. n is its size in bytes. fill returns the index of the type
// that ends after that.
func (s *tcpsinfo_t) fill(info *ftraceTCPInfo, n uintptr) int {
	if n < unsafe.Offsetof(info.totalRetrans) || info.state == ftraceListen { // a listening socket has nothing but its queue
		return 0
	}
	s.tcps_snd_ws, s.tcps_rcv_ws = uint32(info.scales&15), uint32(info.scales>>4)
	s.tcps_cwnd = ftraceBytes(info.sndCwnd, info.sndMSS)
	s.tcps_cwnd_ssthresh = ftraceBytes(info.sndSsthresh, info.sndMSS)
	s.tcps_rto, s.tcps_mss = info.rto/1000, info.sndMSS
	s.tcps_swnd, s.tcps_rwnd = info.sndWnd, info.rcvWnd
	switch {
	case n >= unsafe.Offsetof(info.rcvWnd)+4:
		return 3
	case n >= unsafe.Offsetof(info.sndWnd)+4:
		return 2
	}
	return 1
}

// ftraceBytes turns packets, in which Linux counts, into bytes, up to the largest number.
func ftraceBytes(packets, mss uint32) uint32 {
	return uint32(min(uint64(packets)*uint64(mss), 1<<32-1))
}

// ftraceFillConn sets v to conn if it is wanted, with the cookie if there is one.
func (fd *netFD) ftraceFillConn(v *any, conn *csinfo_t, wanted uint64) {
	if wanted&(ftraceWantConn|ftraceWantCookie) == 0 {
		return
	}
	conn.cs_pid = int32(syscall.Getpid())
	conn.cs_cid = fd.ftrace.cookie.Load()
	with := 0
	if wanted&ftraceWantCookie != 0 && conn.cs_cid != 0 {
		with = 1
	}
	ftraceAs(v, &ftraceCsinfo[with], unsafe.Pointer(conn))
}

// ftraceVersion returns the version of IP between two addresses. One of them may be the wildcard,
// which is of both versions.
func ftraceVersion(a, b *ftraceAddress) uint8 {
	if a.ip.Is4() || b.ip.Is4() {
		return 4
	}
	return 6
}

// ftraceFireUDP fires a probe of provider udp: n bytes to or from other, or the peer if that is no
// address.
func ftraceFireUDP(probe int, fd *netFD, other ftraceAddress, n int64) {
	const header = 8
	wanted := ftraceUDPWanted[probe]
	local, peer := ftraceEndOf(fd.laddr), ftraceEndOf(fd.raddr)
	if !other.known() {
		other = peer
	}
	fd.ftraceAsk(wanted&ftraceWantCookie != 0, nil)
	var args [5]any
	var texts [4]ftraceText
	if wanted&ftraceWantPacket != 0 {
		args[0] = pktinfo_t{}
	}
	var conn csinfo_t
	fd.ftraceFillConn(&args[1], &conn, wanted)
	from, to := &other, &local
	if probe == ftraceUDPSend {
		from, to = to, from
	}
	if wanted&ftraceWantIP != 0 {
		args[2] = ipinfo_t{ftraceVersion(from, to), uint64(n) + header, from.packet(&texts[0]), to.packet(&texts[1])}
	}
	if wanted&ftraceWantState != 0 {
		args[3] = udpsinfo_t{uint16(local.port), uint16(peer.port), local.text(&texts[2]), peer.text(&texts[3])}
	}
	if wanted&ftraceWantHeader != 0 {
		args[4] = udpinfo_t{uint16(from.port), uint16(to.port), uint16(n + header)}
	}
	ftrace_fire(&ftraceUDP[probe], args[:]...)
}
