package live

import (
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ftrace-wrap/ftrace-wrap/internal/escape"
)

// Files returns a function that says what descriptors of the process are now: a path, pipe:[N], the
// addresses of a socket as LOCAL->REMOTE, or LOCAL if it listens; "" if that is not known.
func (p *Process) Files() func(descriptor uint64) string { return filesOf(p.PID) }

func filesOf(pid int) func(uint64) string {
	sockets := sync.OnceValue(func() map[string]string { return socketsOf(pid) })
	return func(descriptor uint64) string {
		name, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, descriptor))
		if err != nil {
			return ""
		}
		if inode, ok := strings.CutPrefix(name, "socket:["); ok {
			if known := sockets()[strings.TrimSuffix(inode, "]")]; known != "" {
				return known
			}
		}
		return escape.String(name)
	}
}

// socketsOf returns the addresses of sockets that the process can have, by inode.
func socketsOf(pid int) map[string]string {
	known := map[string]string{}
	for _, protocol := range []string{"tcp", "tcp6", "udp", "udp6"} {
		table, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, protocol))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(table)) {
			// sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode
			f := strings.Fields(line)
			if len(f) < 10 {
				continue
			}
			local, ok := addressOf(f[1])
			if !ok {
				continue
			}
			if remote, ok := addressOf(f[2]); ok && remote.Port() != 0 {
				known[f[9]] = local.String() + "->" + remote.String()
			} else {
				known[f[9]] = local.String()
			}
		}
	}
	if table, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/unix", pid)); err == nil {
		for line := range strings.Lines(string(table)) {
			// Num RefCount Protocol Flags Type St Inode Path
			if f := strings.Fields(line); len(f) >= 8 {
				known[f[6]] = escape.String(f[7])
			}
		}
	}
	return known
}

// addressOf reads an address as /proc/net has it: 0100007F:0050, in words of the machine's order.
func addressOf(s string) (netip.AddrPort, bool) {
	ip, port, _ := strings.Cut(s, ":")
	b, err := hex.DecodeString(ip)
	n, wrong := strconv.ParseUint(port, 16, 16)
	if err != nil || wrong != nil || len(b)%4 != 0 {
		return netip.AddrPort{}, false
	}
	for word := range slices.Chunk(b, 4) {
		slices.Reverse(word) // this reader is for little-endian machines, as programs are
	}
	a, ok := netip.AddrFromSlice(b)
	return netip.AddrPortFrom(a.Unmap(), uint16(n)), ok
}
