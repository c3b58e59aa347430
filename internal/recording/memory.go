package recording

import (
	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
)

// FromTables returns a recording without records: what the tables of a running program say, given
// as packets as in the file "tables". Package live uses it for the names of functions, and for the
// values in single records.
func FromTables(env Env, packets []byte) *Recording {
	env.Version = format.Version
	env.stringLimit, env.elemLimit, env.fieldLimit, env.nestLimit = stringLimit, elemLimit, fieldLimit, nestLimit
	r := &Recording{Dir: "memory", Env: env, seen: map[string]bool{}, lost: map[int]uint64{}, codes: map[uint64]string{}, channels: map[uint64][]uint64{}}
	r.tables.r = r
	for at := int64(0); len(packets) >= packetHead; {
		p, wrong := parsePacket(packets, format.TablesStream, env.UUID)
		if wrong == "" && p.size > uint64(len(packets)) {
			wrong = "the tables end within a packet"
		}
		if wrong != "" {
			r.damaged(Damage{"tables", at, int64(len(packets)), wrong})
			break
		}
		if stopped, what := r.parseTables(packets[packetHead:p.content]); what != "" {
			r.damaged(Damage{"tables", at + packetHead + int64(stopped), int64(p.content) - packetHead - int64(stopped), what})
		}
		packets = packets[p.size:]
		at += int64(p.size)
	}
	return r
}

// Through returns a converter of the ticks of a timer (see Recording.Timer), given two moments.
func Through(timer int, first, last Clock) Converter {
	return (&Recording{Timer: timer, clocks: []Clock{first, last}}).Converter()
}
