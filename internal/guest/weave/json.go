//go:build ftrace_core

// FTRACE_FORMAT=json: what the program writes, as JSON objects.

package runtime

import (
	"internal/bytealg"
	"unsafe"
)

// json adds what is woven: each line, or a logger's record. A line that is already an object gets
// its place in the trace.
func (w *ftraceWeaver) json(text []byte, r *ftraceRecord) {
	const most = 8 << 10 // bytes of a message; the rest is continued
	level, line := 0, text
	if r != nil {
		level = r.level
		if r.object {
			line = r.line.data[:r.line.n]
		}
		if w.jsonObject(line) || len(text) <= most && w.jsonMessage(text[r.message:len(text)-1], level, false, false) {
			w.at = len(text)
			return
		}
	}
	continued := w.gp.ftraceWeave.partial>>w.fd&1 != 0
	for w.at < len(text) {
		line := text[w.at:]
		end := bytealg.IndexByte(line, '\n')
		if end >= 0 {
			line = line[:end]
		}
		if continued || !w.jsonObject(line) {
			partial := end < 0
			if len(line) > most {
				line, end, partial = line[:most], -1, true
			}
			if !w.jsonMessage(line, level, continued, partial) {
				return
			}
		}
		continued = end < 0
		w.at += len(line)
		if end >= 0 {
			w.at++
		}
	}
}

// jsonMessage adds a line of the program.
func (w *ftraceWeaver) jsonMessage(text []byte, level int, continued, partial bool) bool {
	if !w.room(6*len(text) + 1024) {
		return false
	}
	b := w.b
	b.jsonPrefix(w.gp, w.depth, level)
	if n := len(text); n > 0 && text[n-1] == '\r' && !partial {
		text = text[:n-1]
	}
	b.str(`,"msg":`)
	b.jsonString(unsafe.String(unsafe.SliceData(text), len(text)))
	if continued {
		b.str(`,"continued":true`)
	}
	if partial {
		b.str(`,"partial":true`)
	}
	b.str("}\n")
	return true
}

// jsonObject adds line, if it is a whole JSON object, with its place in the trace. The program's
// own members of these names come after that.
func (w *ftraceWeaver) jsonObject(line []byte) bool {
	if len(line) > ftraceTextSize-4096 {
		return false // a line of the trace has no room for it
	}
	from, end, ok := ftrace_jsonline_Object(line)
	if !ok || !w.room(len(line)+1024) {
		return false
	}
	b := w.b
	b.byte('{')
	at := b.n
	b.jsonPlace(w.gp, w.depth)
	b.n = at + copy(b.data[at:], b.data[at+1:b.n]) // without the comma
	rest := line[from+1 : end]
	for rest[0] <= ' ' {
		rest = rest[1:]
	}
	if rest[0] != '}' {
		b.byte(',')
	}
	b.bytes(rest)
	b.byte('\n')
	return true
}
