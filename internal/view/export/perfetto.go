package export

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/rule"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// The fields of Perfetto's messages that are written, by the numbers in its protos/perfetto/trace.
const (
	tracePacket = 1 // of Trace

	packetClocks    = 6 // of TracePacket
	packetTimestamp = 8
	packetSequence  = 10
	packetEvent     = 11
	packetInterned  = 12
	packetFlags     = 13
	packetTrack     = 60

	snapshotClock = 1 // of ClockSnapshot
	clockID       = 1 // of ClockSnapshot.Clock
	clockTime     = 2

	trackUUID     = 1 // of TrackDescriptor
	trackName     = 2
	trackProcess  = 3
	trackParent   = 5
	trackOrdering = 11

	processID      = 1 // of ProcessDescriptor
	processCommand = 2
	processName    = 6

	eventCategory    = 3 // of TrackEvent
	eventAnnotation  = 4
	eventType        = 9
	eventNameID      = 10
	eventTrack       = 11
	eventName        = 23
	eventLocation    = 34
	eventFlow        = 47
	eventFlowEnd     = 48
	annotationNameID = 1 // of DebugAnnotation
	annotationBool   = 2
	annotationInt    = 4
	annotationString = 6

	internedCategories  = 1 // of InternedData
	internedNames       = 2
	internedAnnotations = 3
	internedLocations   = 4
	internedID          = 1 // of what is interned
	internedName        = 2
	locationFunction    = 3 // of SourceLocation
	locationLine        = 4
)

const (
	sequenceBegins = 1 // flags of a packet: what is interned begins anew
	sequenceNeeds  = 2 // what was interned is needed

	sliceBegin = 1 // types of TrackEvent
	sliceEnd   = 2
	instant    = 3

	chronological = 2 // ordering of tracks

	clockReal, clockMonotonic, clockBoot = 1, 3, 6 // clocks; that of timestamps is the last if nothing is said
)

// perfetto writes packets of a trace.
type perfetto struct {
	r        *recording.Recording
	out      io.Writer
	clock    recording.Converter
	start    int64  // ns by the monotonic clock
	base     uint64 // number of the process's track; those of goroutines follow
	begun    bool
	tracks   map[uint64]bool
	flows    map[uint64]bool // goroutines whose first slice has an arrow to it
	interned [internedLocations + 1]map[string]uint64
	err      error

	news, event, part, packet []byte // parts of the packet that is being made
}

// exportPerfetto writes a trace for https://ui.perfetto.dev and trace_processor_shell: a track for
// each goroutine, a slice for each call, with values as debug annotations, an arrow from where a
// goroutine was started to its first call, and lines as instants. A wait is a slice too, with one
// within for the time when the goroutine could have run, to which an arrow leads from who woke it.
func exportPerfetto(from walk.Source, out *output) error {
	w := walk.New[struct{}, struct{}](from)
	first, _ := w.Recording.Clocks()
	p := &perfetto{r: w.Recording, out: out, clock: w.Recording.Converter(), start: first.Monotonic, tracks: map[uint64]bool{}, flows: map[uint64]bool{}}
	for i := range p.interned {
		p.interned[i] = map[string]uint64{}
	}
	for i, b := range w.Recording.Env.UUID[:8] {
		p.base |= uint64(b) << (8 * i)
	}
	p.process(first)
	printer := w.Recording.Printer(recording.DefaultFormat)
	w.Begin = func(st *stack, c *frame, e *recording.Event) {
		f := w.Recording.Function(c.Function)
		p.begin(sliceBegin, st.Goroutine)
		p.number(eventCategory, p.intern(internedCategories, f.Package, nil))
		p.number(eventNameID, p.intern(internedNames, f.ShortName(), nil))
		p.number(eventLocation, p.intern(internedLocations, fmt.Sprintf("%s:%d %s", f.File, f.Line, f.FullName()), func(b []byte) []byte {
			b = appendText(b, internedName, f.File)
			b = appendText(b, locationFunction, f.FullName())
			return appendNumber(b, locationLine, uint64(f.Line))
		}))
		if p.flows[st.Goroutine] {
			delete(p.flows, st.Goroutine)
			p.fixed(eventFlowEnd, p.base+st.Goroutine)
		}
		p.annotate("call", strconv.FormatUint(c.Number, 10))
		if e.Kind == recording.EntryArgs && c.Data.Clause.Detail >= rule.Args {
			p.annotateAll(printer.Values(e, f.Params), "arg")
		}
		p.end(e.Ticks)
	}
	w.End = func(st *stack, c *frame, e *recording.Event) {
		if c == nil {
			return
		}
		p.begin(sliceEnd, st.Goroutine)
		if e == nil {
			p.annotate("end", "not seen")
			p.end(max(w.Last, c.Start))
			return
		}
		args := c.Data.Clause.Detail >= rule.Args
		switch {
		case e.Kind == recording.ExitResults && args:
			p.annotateAll(printer.Values(e, w.Recording.Function(c.Function).Results), "result")
		case e.Kind == recording.ExitPanic && args && e.Layout != 0:
			p.annotate("panic", string(printer.AppendPanic(nil, 0, e)))
		case e.Kind == recording.ExitPanic, e.Kind == recording.ExitGoexit:
			p.annotate(e.Kind.String(), "true")
		}
		if c.Mock {
			p.annotate("mock", "true")
		}
		if c.Late() {
			p.annotate("lasted", string(recording.AppendDuration(nil, int64(p.clock.Between(c.Start, e.Ticks)))))
		}
		if c.Note != "" {
			p.annotate("note", c.Note)
		}
		p.end(e.Ticks)
	}
	w.More = func(st *stack, c *frame, e *recording.Event) {
		switch e.Kind {
		case recording.GoroutineStart:
			if parent := w.Stacks.Lookup(e.Parent); parent != nil && !parent.Data.Hidden {
				p.begin(instant, e.Parent)
				p.text(eventName, fmt.Sprintf("go G%d", e.Goroutine))
				p.fixed(eventFlow, p.base+e.Goroutine)
				p.flows[e.Goroutine] = true
				p.end(e.Ticks)
			}
		case recording.Line:
			p.begin(instant, e.Goroutine)
			p.number(eventCategory, p.intern(internedCategories, "log", nil))
			p.text(eventName, string(e.Data))
			if e.Level != recording.UnknownLevel {
				p.annotate("level", strconv.Itoa(int(e.Level)))
			}
			p.end(e.Ticks)
		case recording.Probe:
			f := w.Recording.Function(e.Function)
			p.begin(instant, e.Goroutine)
			p.number(eventCategory, p.intern(internedCategories, "probe", nil))
			p.text(eventName, f.FullName())
			if e.Layout != 0 {
				p.annotateAll(printer.Values(e, f.Params), "arg")
			}
			p.end(e.Ticks)
		case recording.Recovered:
			p.begin(instant, e.Goroutine)
			p.text(eventName, "recovered")
			if e.Layout != 0 && c.Data.Clause.Detail >= rule.Args {
				p.annotate("panic", string(printer.AppendPanic(nil, 0, e)))
			}
			p.end(e.Ticks)
		case recording.Lost:
			p.begin(instant, 0)
			p.text(eventName, fmt.Sprintf("%d records were lost here", e.Call))
			p.end(e.Ticks)
		}
	}
	flows := p.base + 1<<40 // of waits; those of goroutines are below
	w.Wait = func(st *stack, e *recording.Event) {
		of, name := e.Wait(), w.Recording.Function(e.Function).FullName()
		flows++
		if by := w.Stacks.Lookup(of.Goroutine); of.Ready != 0 && by != nil && !by.Data.Hidden {
			p.begin(instant, of.Goroutine)
			p.text(eventName, fmt.Sprintf("wakes G%d", st.Goroutine))
			p.fixed(eventFlow, flows)
			p.end(of.Ready)
		}
		slice := func(name string) {
			p.begin(sliceBegin, st.Goroutine)
			p.number(eventCategory, p.intern(internedCategories, "wait", nil))
			p.number(eventNameID, p.intern(internedNames, name, nil))
		}
		slice(name)
		for _, v := range waitValues(w.Recording, p.clock, e) {
			p.annotate(v.Name, v.Text)
		}
		p.end(of.Begin)
		if of.Ready != 0 {
			slice("runnable")
			if of.Goroutine != 0 {
				p.fixed(eventFlowEnd, flows)
			}
			p.end(of.Ready)
			p.begin(sliceEnd, st.Goroutine)
			p.end(e.Ticks)
		}
		p.begin(sliceEnd, st.Goroutine)
		p.end(e.Ticks)
	}
	// Calls under way at the end stay open: a trace may have such slices.
	err := w.Walk(func() bool { return p.err == nil })
	return cmp.Or(p.err, err)
}

// process writes the clocks and the process's track.
func (p *perfetto) process(first recording.Clock) {
	var b, part []byte
	for _, c := range []struct{ id, time uint64 }{{clockReal, uint64(first.Wall)}, {clockMonotonic, uint64(first.Monotonic)}, {clockBoot, uint64(first.Monotonic)}} {
		part = appendNumber(appendNumber(part[:0], clockID, c.id), clockTime, c.time)
		b = appendBytes(b, snapshotClock, part)
	}
	p.write(appendBytes(nil, packetClocks, b))
	part = appendNumber(part[:0], processID, uint64(p.r.Env.PID))
	for _, arg := range p.r.Process.Args {
		part = appendText(part, processCommand, arg)
	}
	part = appendText(part, processName, filepath.Base(p.r.Env.Executable))
	b = appendNumber(b[:0], trackUUID, p.base)
	b = appendBytes(b, trackProcess, part)
	b = appendNumber(b, trackOrdering, chronological)
	p.write(appendBytes(nil, packetTrack, b))
}

// begin begins an event on the track of a goroutine, or, if that is 0, of the process.
func (p *perfetto) begin(kind, goroutine uint64) {
	if goroutine != 0 && !p.tracks[goroutine] {
		p.tracks[goroutine] = true
		b := appendNumber(nil, trackUUID, p.base+goroutine)
		b = appendNumber(b, trackParent, p.base)
		p.write(appendBytes(nil, packetTrack, appendText(b, trackName, fmt.Sprintf("G%d", goroutine))))
	}
	p.news, p.event = p.news[:0], p.event[:0]
	p.number(eventType, kind)
	p.number(eventTrack, p.base+goroutine)
}

// end writes the event.
func (p *perfetto) end(ticks uint64) {
	b := appendNumber(p.packet[:0], packetTimestamp, uint64(max(0, p.start+int64(p.clock.Since(ticks)))))
	if len(p.news) > 0 {
		b = appendBytes(b, packetInterned, p.news)
	}
	p.packet = appendBytes(b, packetEvent, p.event)
	p.write(p.packet)
}

// write writes a packet.
func (p *perfetto) write(packet []byte) {
	flags := uint64(sequenceNeeds)
	if !p.begun {
		flags = sequenceBegins
	}
	p.begun = true
	packet = appendNumber(packet, packetSequence, 1)
	packet = appendNumber(packet, packetFlags, flags)
	p.part = appendBytes(p.part[:0], tracePacket, packet)
	if _, err := p.out.Write(p.part); err != nil && p.err == nil {
		p.err = err
	}
}

// intern returns the number of a text among those of a kind. One that is new is said with the
// event; more says what of it beside the text, which is then its name here only.
func (p *perfetto) intern(kind protowire.Number, text string, more func([]byte) []byte) uint64 {
	known := p.interned[kind]
	if id := known[text]; id != 0 {
		return id
	}
	id := uint64(len(known) + 1)
	known[text] = id
	b := appendNumber(nil, internedID, id)
	if more != nil {
		b = more(b)
	} else {
		b = appendText(b, internedName, text)
	}
	p.news = appendBytes(p.news, kind, b)
	return id
}

// annotate adds a value to the event: as a number or a bool if it is one.
func (p *perfetto) annotate(name, text string) {
	b := appendNumber(p.part[:0], annotationNameID, p.intern(internedAnnotations, name, nil))
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		b = appendNumber(b, annotationInt, uint64(n))
	} else if text == "true" || text == "false" {
		b = appendNumber(b, annotationBool, protowire.EncodeBool(text == "true"))
	} else {
		b = appendText(b, annotationString, text)
	}
	p.part = b
	p.event = appendBytes(p.event, eventAnnotation, b)
}

// annotateAll adds values, of which those without a name get one.
func (p *perfetto) annotateAll(values []recording.Value, unnamed string) {
	for i, v := range values {
		name := v.Name
		if name == "" || name == "_" {
			name = unnamed
			if len(values) > 1 {
				name = fmt.Sprint(unnamed, i+1)
			}
		}
		p.annotate(name, v.Text)
	}
}

func (p *perfetto) number(field protowire.Number, v uint64) {
	p.event = appendNumber(p.event, field, v)
}
func (p *perfetto) text(field protowire.Number, s string) { p.event = appendText(p.event, field, s) }
func (p *perfetto) fixed(field protowire.Number, v uint64) {
	p.event = protowire.AppendFixed64(protowire.AppendTag(p.event, field, protowire.Fixed64Type), v)
}

func appendNumber(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}

func appendText(b []byte, field protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), valid(s))
}

func appendBytes(b []byte, field protowire.Number, part []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), part)
}
