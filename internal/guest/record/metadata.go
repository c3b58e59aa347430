//go:build ftrace_core

// The file "metadata" of a recording. It says what the bytes mean, in the language of the Common
// Trace Format 1.8, so that other tools can read the recording as it is. Our own reader needs only
// the trace's byte order from it, and the limits in env.

package runtime

import "unsafe"

// ftraceFormatVersion is the version of all that docs/format.md describes.
const ftraceFormatVersion = 1

// ftraceMetadataTypes declares the streams and their records: ftraceChunk, ftraceEvent and what
// follows it by kind, and the tables.
const ftraceMetadataTypes = `
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 16; align = 8; signed = false; } := uint16_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 32; align = 8; signed = true; } := int32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
typealias integer { size = 64; align = 8; signed = true; } := int64_t;
typealias integer { size = 8; align = 8; signed = false; encoding = UTF8; } := char_t;
typealias integer { size = 64; align = 8; signed = false; map = clock.ticks.value; } := ticks_t;

trace {
	major = 1;
	minor = 8;
	uuid = "UUID";
	byte_order = le;
	packet.header := struct { uint32_t magic; uint32_t stream_id; uint8_t uuid[16]; };
};
`

const ftraceMetadataStreams = `
struct packet {
	ticks_t timestamp_begin;
	uint64_t content_size;
	uint64_t packet_size;
	uint64_t events_discarded;
	uint64_t packet_seq_num;
	uint64_t cpu_id;
};

stream {
	id = 0;
	packet.context := struct packet;
	event.header := struct { ticks_t timestamp; uint8_t id; } align(64);
	event.context := struct { uint8_t words; uint16_t depth; func_t func; uint64_t goroutine; };
};
stream {
	id = 1;
	packet.context := struct packet;
	event.header := struct { ticks_t timestamp; uint32_t id; };
	event.context := struct { uint32_t bytes; };
};

struct values { uint32_t layout; uint32_t size; uint8_t data[size]; };
event { name = "entry"; id = 1; stream_id = 0; fields := struct { uint64_t call; }; };
event { name = "entry_args"; id = 2; stream_id = 0; fields := struct { uint64_t call; struct values args; }; };
event { name = "exit"; id = 3; stream_id = 0; fields := struct { }; };
event { name = "exit_results"; id = 4; stream_id = 0; fields := struct { struct values results; }; };
event { name = "exit_panic"; id = 5; stream_id = 0; fields := struct { struct values value; }; };
event { name = "exit_goexit"; id = 6; stream_id = 0; fields := struct { }; };
event { name = "recovered"; id = 7; stream_id = 0; fields := struct { struct values value; }; };
event { name = "mock"; id = 8; stream_id = 0; fields := struct { }; };
event { name = "goroutine_start"; id = 9; stream_id = 0; fields := struct { uint64_t parent; uint64_t call; }; };
event { name = "goroutine_end"; id = 10; stream_id = 0; fields := struct { }; };
event { name = "note"; id = 11; stream_id = 0; fields := struct { uint32_t zero; uint32_t size; char_t text[size]; }; };
event { name = "line"; id = 12; stream_id = 0; fields := struct { int32_t level; uint32_t size; char_t text[size]; }; };
event { name = "probe"; id = 13; stream_id = 0; fields := struct { uint64_t call; struct values args; }; };

event { name = "process"; id = 1; stream_id = 1; fields := struct { uint64_t pid; int64_t start; uint64_t nargs;
	string release; string os; string arch; string executable; string args[nargs]; }; };
event { name = "clock"; id = 2; stream_id = 1; fields := struct { uint64_t ticks; int64_t monotonic; int64_t wall; }; };
event { name = "func"; id = 3; stream_id = 1; fields := struct { uint64_t key; uint64_t line;
	string import_path; string symbol; string name; string file; string params; }; };
event { name = "type"; id = 4; stream_id = 1; fields := struct { uint64_t number; uint64_t kind; uint64_t flags; uint64_t size; uint64_t length;
	uint64_t elem; uint64_t nfields; string name; struct { uint64_t type; string name; } fields[nfields]; }; };
event { name = "layout"; id = 5; stream_id = 1; fields := struct { uint64_t number; uint64_t flags; uint64_t ntypes; uint64_t types[ntypes]; }; };
event { name = "lost"; id = 6; stream_id = 1; fields := struct { uint64_t processor; uint64_t records; }; };
event { name = "code"; id = 7; stream_id = 1; fields := struct { uint64_t address; string name; }; };
event { name = "probe"; id = 8; stream_id = 1; fields := struct { uint64_t key; uint64_t line;
	string import_path; string symbol; string name; string file; string params; }; };
event { name = "captured"; id = 9; stream_id = 1; fields := struct { uint64_t layout; uint64_t npaths; string paths[npaths]; }; };
event { name = "timer"; id = 10; stream_id = 1; fields := struct { uint64_t number; }; };
`

// ftraceWriteMetadata writes the metadata over what is there. It only gets longer, as more
// functions and more of the clock are known.
func ftraceWriteMetadata() {
	b := ftraceNewText()
	offset := int64(0)
	flush := func() {
		if errno := ftraceWriteAt(ftraceRecording.metadata, unsafe.Pointer(&b.data), b.n, offset); errno != 0 {
			ftraceRecordingFailed(errno)
		}
		offset += int64(b.n)
		b.n = 0
	}
	b.str("/* CTF 1.8 */\n")
	b.clock()
	b.env()
	b.types()
	b.str("typealias enum : uint32_t {\n\t\"-\" = 0,\n")
	for p := ftraceRegistry.first; p != nil; p = p.next {
		if p.fn(0).pkg == nil {
			continue
		}
		for i := range p.nfuncs {
			f := p.fn(i)
			if f.hook._type == nil {
				continue
			}
			b.str("\t\"")
			b.quoted(p.symbol, len(b.data))
			if p.probes() {
				b.str(":::")
			} else {
				b.byte('.')
			}
			b.quoted(f.name, len(b.data))
			b.str("\" = ")
			b.uint(uint64(f.key))
			b.str(",\n")
			if b.n > len(b.data)/2 {
				flush()
			}
		}
	}
	b.str("} := func_t;\n")
	b.str(ftraceMetadataStreams)
	flush()
	ftraceFreeText(b)
}

// clock appends the clock's frequency, from the time since the process began, and its beginning.
func (b *ftraceText) clock() {
	c := ftraceReadClock()
	frequency := uint64(1e9)
	if fixed := ftraceFrequencies[ftraceTimer]; fixed != 0 {
		frequency = fixed
	} else if since := c.monotonic - ticks.startTime; since > 0 && c.ticks > uint64(ticks.startTicks) {
		frequency = uint64(float64(c.ticks-uint64(ticks.startTicks)) * 1e9 / float64(since))
	}
	// The ticks begin before this clock's epoch, which is in whole seconds and must not come after
	// them.
	seconds := c.wall/1e9 - int64(c.ticks/frequency) - 1
	offset := uint64(float64(c.wall-seconds*1e9)/1e9*float64(frequency)) - c.ticks
	b.str("clock {\n\tname = ticks;\n\tdescription = \"the timer ")
	b.str(ftraceTimerNames[ftraceTimer])
	b.str("\";\n\tfreq = ")
	for _, v := range [...]struct {
		value uint64
		then  string
	}{{frequency, ";\n\toffset_s = "}, {uint64(seconds), ";\n\toffset = "}, {offset, ";\n};\n\n"}} {
		at := b.n
		b.uint(v.value)
		b.pad(at, 20)
		b.str(v.then)
	}
}

// env appends what a reader may want to know without the tables.
func (b *ftraceText) env() {
	b.str("env {\n\tdomain = \"ust\";\n\ttracer_name = \"ftrace-wrap\";\n\tftrace_format = ")
	b.uint(ftraceFormatVersion)
	for _, v := range [...]struct {
		name  string
		value uint64
	}{{"string_limit", ftraceCaptureString}, {"element_limit", ftraceCaptureElements}, {"nest_limit", ftraceCaptureNest}, {"field_limit", ftraceCaptureFields}, {"pid", uint64(ftracePid())}} {
		b.str(";\n\t")
		b.str(v.name)
		b.str(" = ")
		b.uint(v.value)
	}
	b.str(";\n\texecutable = \"")
	b.quoted(ftraceBinary, len(b.data))
	b.str("\";\n\trelease = \"")
	b.quoted(buildVersion, len(b.data))
	b.str("\";\n};\n")
}

// types appends the declarations of types, with the trace's number.
func (b *ftraceText) types() {
	const place = "UUID"
	s := ftraceMetadataTypes
	for i := range s {
		if s[i:i+len(place)] == place {
			b.str(s[:i])
			for j, v := range ftraceRecording.uuid {
				if j == 4 || j == 6 || j == 8 || j == 10 {
					b.byte('-')
				}
				b.byte("0123456789abcdef"[v>>4])
				b.byte("0123456789abcdef"[v&15])
			}
			b.str(s[i+len(place):])
			return
		}
	}
}
