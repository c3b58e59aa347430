//go:build ftrace_core

// The file "metadata" of a recording. It says what the bytes mean, in the language of the Common
// Trace Format 1.8, so that other tools can read the recording as it is. Our own reader needs only
// the trace's byte order from it, and the limits in env.

package runtime

import "unsafe"

// writeMetadata writes the metadata over what is there. It only gets longer, as more
// functions and more of the clock are known.
func (s *ftraceStream) writeMetadata() {
	b := ftraceNewText()
	offset := int64(0)
	flush := func() {
		if errno := ftraceWriteAt(s.metadata, unsafe.Pointer(&b.data), b.n, offset); errno != 0 {
			s.fail(errno)
		}
		offset += int64(b.n)
		b.n = 0
	}
	b.str("/* CTF 1.8 */\n")
	b.clock()
	b.env()
	b.types()
	b.str("typealias enum : uint32_t {\n\t\"-\" = 0,\n")
	for p := ftraceRegistry.first; p != nil; p = p.next() {
		if p.fn(0).pkg == nil {
			continue
		}
		for i := range p.Nfuncs {
			f := p.fn(i)
			if f.hook._type == nil {
				continue
			}
			b.str("\t\"")
			b.quoted(p.Symbol, len(b.data))
			switch {
			case p.probes():
				b.str(":::")
			case p.waits(), p.spans():
				b.byte('/')
			default:
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
	b.str(ftrace_format_MetadataStreams)
	flush()
	ftraceFreeText(b)
}

// clock appends the clock's frequency, from the time since the process began, and its beginning.
func (b *ftraceText) clock() {
	c := ftraceReadClock()
	frequency := uint64(1e9)
	if fixed := ftraceFrequencies[ftraceTimer]; fixed != 0 {
		frequency = fixed
	} else if since := c.Monotonic - ticks.startTime; since > 0 && c.Ticks > uint64(ticks.startTicks) {
		frequency = uint64(float64(c.Ticks-uint64(ticks.startTicks)) * 1e9 / float64(since))
	}
	// The ticks begin before this clock's epoch, which is in whole seconds and must not come after
	// them.
	seconds := c.Wall/1e9 - int64(c.Ticks/frequency) - 1
	offset := uint64(float64(c.Wall-seconds*1e9)/1e9*float64(frequency)) - c.Ticks
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
	b.uint(ftrace_format_Version)
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
	s := ftrace_format_MetadataTypes
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
