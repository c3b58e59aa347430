package dtrace

import (
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// The structures that DTrace's providers tcp and udp have as arguments. Fields after the bar are
// unknown to user space: they are absent. docs/probes-providers.md has the rest.
var networkFields = map[string]string{
	"pktinfo":   "pkt_addr |",
	"csinfo":    "cs_cid cs_pid | cs_addr cs_zoneid",
	"ipinfo":    "ip_ver ip_plength ip_saddr ip_daddr |",
	"tcpsinfo":  "tcps_local tcps_active tcps_lport tcps_rport tcps_laddr tcps_raddr tcps_state tcps_retransmit tcps_snd_ws tcps_rcv_ws tcps_cwnd tcps_cwnd_ssthresh tcps_rto tcps_mss tcps_swnd tcps_rwnd | tcps_addr tcps_iss tcps_suna tcps_snxt tcps_rack tcps_rnxt tcps_sack_fack tcps_sack_snxt",
	"tcpinfo":   "tcp_sport tcp_dport tcp_offset | tcp_seq tcp_ack tcp_flags tcp_window tcp_checksum tcp_urgent tcp_hdr",
	"tcplsinfo": "tcps_state |",
	"udpsinfo":  "udps_lport udps_rport udps_laddr udps_raddr | udps_addr",
	"udpinfo":   "udp_sport udp_dport udp_length | udp_checksum udp_hdr",
}

// networkArgs are the structures by their numbers.
var networkArgs = map[string][]string{
	"tcp": {"pktinfo", "csinfo", "ipinfo", "tcpsinfo", "tcpinfo", "tcplsinfo"},
	"udp": {"pktinfo", "csinfo", "ipinfo", "udpsinfo", "udpinfo"},
}

// networkKnows reports whether an argument of a provider's probes has a field.
func networkKnows(provider, field string) bool {
	return slices.ContainsFunc(networkArgs[provider], func(name string) bool {
		known, _, _ := strings.Cut(networkFields[name], "|")
		return slices.Contains(strings.Fields(known), field)
	})
}

// networkPath checks a path in a clause that is only for probes of tcp or udp. absent means that
// user space does not know the field. The misspelt field in the providers' documentation is
// accepted.
func (c *compiler) networkPath(n *node, p *recording.Path) (network, absent bool) {
	var structs []string
	for _, d := range c.clause.descriptions {
		args := networkArgs[d.provider]
		if args == nil {
			return false, false
		}
		switch {
		case p.Name != "" && slices.Contains(args, p.Name):
			structs = append(structs, p.Name)
		case p.Name != "":
			c.fault(n.at, "%s has no argument %s: args[0] to args[%d] are %s", d.text, p.Name, len(args)-1, strings.Join(args, ", "))
		case p.Value >= len(args):
			c.fault(n.at, "%s has no args[%d]: args[0] to args[%d] are %s", d.text, p.Value, len(args)-1, strings.Join(args, ", "))
		default:
			structs = append(structs, args[p.Value])
		}
	}
	if len(p.Fields) == 0 {
		return true, false
	}
	if p.Fields[0] == "upds_lport" {
		p.Fields[0] = "udps_lport"
	}
	absent = true
	for _, name := range structs {
		known, unknown, _ := strings.Cut(networkFields[name], "|")
		switch field := p.Fields[0]; {
		case slices.Contains(strings.Fields(known), field):
			absent = false
		case !slices.Contains(strings.Fields(unknown), field):
			c.fault(n.at, "%s_t has no field %s: it has %s", name, field, strings.Join(strings.Fields(known+unknown), ", "))
		}
	}
	return true, absent
}
