package tables

import (
	"cmp"
	"maps"
	"net"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
)

// fileTables have the files, pipes and sockets that were read and written, and sums of that. They
// are made of the summaries of waits.
var fileTables = []*Table{
	withParts(reading(live.SumsOfWaits, New("file_summary_by_event_name", func(v *View) []fileSummary { return v.filesByName("file_instances") },
		fileColumns(fileEvent)...)), source.WaitGlobalPart),
	withParts(reading(live.SumsByReceiver, New("file_summary_by_instance", func(v *View) []fileSummary { return v.filesByInstance("file_instances") },
		fileColumns(Text("FILE_NAME", NameKind, func(_ *View, s *fileSummary) string { return s.called }), fileEvent, fileObject)...)), source.ByInstancePart),
	withParts(reading(live.SumsOfWaits, New("socket_summary_by_event_name", func(v *View) []fileSummary { return v.filesByName("socket_instances") },
		fileColumns(fileEvent)...)), source.WaitGlobalPart),
	withParts(reading(live.SumsByReceiver, New("socket_summary_by_instance", func(v *View) []fileSummary { return v.filesByInstance("socket_instances") },
		fileColumns(fileEvent, fileObject, Text("OBJECT_NAME", NameKind, func(_ *View, s *fileSummary) string { return s.called }))...)), source.ByInstancePart),
	instanceTable("file_instances",
		Known("FILE_NAME", NameKind, func(_ *View, i *instance) string { return i.called }),
		Text("EVENT_NAME", NameKind, func(_ *View, i *instance) string { return i.name }),
		Number("OPEN_COUNT", func(i *instance) int64 { return int64(i.open) })),
	instanceTable("socket_instances",
		Text("EVENT_NAME", NameKind, func(_ *View, i *instance) string { return i.name }),
		Unsigned("THREAD_ID", func(i *instance) uint64 { return i.thread }),
		id("SOCKET_ID", func(i *instance) uint64 { return i.object & format.ObjectDescriptor }),
		Optional("IP", "varchar(64)", func(_ *View, i *instance) (string, bool) {
			host, _, ok := i.address()
			return host, ok
		}),
		Optional("PORT", WordKind, func(_ *View, i *instance) (string, bool) {
			_, port, ok := i.address()
			return port, ok
		}),
		Text("STATE", "enum('IDLE','ACTIVE')", func(_ *View, i *instance) string {
			if i.waiting > 0 {
				return "ACTIVE"
			}
			return "IDLE"
		})),
}

// address returns the address of a socket's other end, or its own if there is no other.
func (i *instance) address() (host, port string, ok bool) {
	name := i.called[strings.IndexByte(i.called, ' ')+1:]
	if at := strings.LastIndex(name, "->"); at >= 0 {
		name = name[at+2:]
	}
	host, port, err := net.SplitHostPort(name)
	return host, port, err == nil
}

// A fileSummary sums up the operations on files of a kind, or on one.
type fileSummary struct {
	name                   string // wait/io/file
	called                 string
	object                 uint64
	all, read, write, misc source.Summary
}

var (
	fileEvent  = Text("EVENT_NAME", NameKind, func(_ *View, s *fileSummary) string { return s.name })
	fileObject = id("OBJECT_INSTANCE_BEGIN", func(s *fileSummary) uint64 { return s.object })
)

// add adds the operations of a kind of waits.
func (s *fileSummary) add(kind string, of *source.Summary) {
	s.all.Merge(of)
	switch kind[strings.LastIndexByte(kind, '/')+1:] {
	case "read":
		s.read.Merge(of)
	case "write":
		s.write.Merge(of)
	default:
		s.misc.Merge(of)
	}
}

// filesByName returns a row for each of the kinds of files in a table of instances.
func (v *View) filesByName(table string) []fileSummary {
	var rows []fileSummary
	for _, s := range every(v.only(v.Global, source.WaitClass), v.Waits) {
		of := v.waitKind(s.Function)
		if of.table != table {
			continue
		}
		at := slices.IndexFunc(rows, func(r fileSummary) bool { return r.name == of.name })
		if at < 0 {
			at = len(rows)
			rows = append(rows, fileSummary{name: of.name})
		}
		rows[at].add(v.Function(s.Function).Name, &s)
	}
	slices.SortFunc(rows, func(a, b fileSummary) int { return cmp.Compare(a.name, b.name) })
	return rows
}

// filesByInstance returns a row for each file, by its name, or for each socket.
func (v *View) filesByInstance(table string) []fileSummary {
	type key struct {
		name, called string
		object       uint64
	}
	found := map[key]*fileSummary{}
	for _, s := range v.only(v.ByInstance(), source.WaitClass) {
		of := v.waitKind(s.Function)
		if of.table != table {
			continue
		}
		called := v.ObjectName(s.Function, s.Object, false)
		k := key{name: of.name, called: called}
		if table == "socket_instances" {
			k.object = s.Object
		}
		if found[k] == nil {
			found[k] = &fileSummary{name: of.name, called: called, object: s.Object}
		}
		found[k].add(v.Function(s.Function).Name, &s)
	}
	rows := make([]fileSummary, 0, len(found))
	for _, s := range slices.SortedFunc(maps.Values(found), func(a, b *fileSummary) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.called, b.called), cmp.Compare(a.object, b.object))
	}) {
		rows = append(rows, *s)
	}
	return rows
}

// fileColumns are those of MySQL, after what the rows are by.
func fileColumns(by ...Column[fileSummary]) []Column[fileSummary] {
	list := by
	for _, part := range []struct {
		count, name string
		bytes       bool
		of          func(*fileSummary) *source.Summary
	}{
		{"STAR", "WAIT", false, func(s *fileSummary) *source.Summary { return &s.all }},
		{"READ", "READ", true, func(s *fileSummary) *source.Summary { return &s.read }},
		{"WRITE", "WRITE", true, func(s *fileSummary) *source.Summary { return &s.write }},
		{"MISC", "MISC", false, func(s *fileSummary) *source.Summary { return &s.misc }},
	} {
		list = append(list, sumColumns(part.count, part.name, part.of)...)
		if part.bytes {
			list = append(list, Number("SUM_NUMBER_OF_BYTES_"+part.name, func(s *fileSummary) int64 { return int64(part.of(s).Bytes) }))
		}
	}
	return list
}
