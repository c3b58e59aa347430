package format

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// docs returns the page that describes what this package declares.
func docs(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/format.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// tables returns the rows of the tables of a page whose heads begin so, without the heads.
func tables(page, head string) (list [][][]string) {
	for rest := page; ; {
		_, after, found := strings.Cut(rest, "\n"+head)
		if !found {
			return list
		}
		_, after, _ = strings.Cut(after, "\n") // the head's rest
		_, after, _ = strings.Cut(after, "\n") // the rule
		table, _, _ := strings.Cut(after, "\n\n")
		var rows [][]string
		for line := range strings.Lines(table) {
			cells := strings.Split(strings.Trim(line, "| \n"), "|")
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			rows = append(rows, cells)
		}
		list, rest = append(list, rows), after
	}
}

// TestOffsets compares what the page says of heads with the structures: each row begins where a
// field does, where the row before has ended, and the last one ends where the structure does.
func TestOffsets(t *testing.T) {
	described := tables(docs(t), "| offset | size |")
	structures := []reflect.Type{reflect.TypeFor[Packet](), reflect.TypeFor[Record](), reflect.TypeFor[Head]()}
	if len(described) != len(structures) {
		t.Fatalf("the page has %d tables of offsets, want %d", len(described), len(structures))
	}
	for i, s := range structures {
		var fields []int
		for f := range s.NumField() {
			fields = append(fields, int(s.Field(f).Offset))
		}
		end := 0
		for _, row := range described[i] {
			if row[0] != strconv.Itoa(end) || !slices.Contains(fields, end) {
				t.Errorf("%v: the page has a field at %s; the one before ends at %d, and fields are at %d", s, row[0], end, fields)
				break
			}
			for part := range strings.SplitSeq(row[1], ", ") {
				times, size, many := strings.Cut(part, " × ")
				if !many {
					times, size = "1", times
				}
				n, err := strconv.Atoi(times)
				bytes, err2 := strconv.Atoi(size)
				if err != nil || err2 != nil {
					t.Fatalf("%v: what is the size %q?", s, row[1])
				}
				end += n * bytes
			}
		}
		if end != int(s.Size()) {
			t.Errorf("%v: the page ends at %d, the structure at %d", s, end, s.Size())
		}
	}
}

// TestKinds compares the kinds of records that the page lists with those of the metadata, and
// how many these are with the constants.
func TestKinds(t *testing.T) {
	described := tables(docs(t), "| kind | name |")
	if len(described) != 2 {
		t.Fatalf("the page has %d tables of kinds, want 2", len(described))
	}
	event := regexp.MustCompile(`event \{ name = "(\w+)"; id = (\d+); stream_id = (\d);`)
	metadata := [2][]string{}
	for _, m := range event.FindAllStringSubmatch(MetadataStreams, -1) {
		stream := int(m[3][0] - '0')
		metadata[stream] = append(metadata[stream], m[2]+" "+m[1])
	}
	for stream, end := range []int{CallsStream: KindEnd, TablesStream: TableEnd} {
		var page []string
		for _, row := range described[stream] {
			page = append(page, row[0]+" "+row[1])
		}
		if !slices.Equal(page, metadata[stream]) {
			t.Errorf("stream %d: the page has %q, the metadata %q", stream, page, metadata[stream])
		}
		if len(page) != end-1 {
			t.Errorf("stream %d: the page has %d kinds, the package %d", stream, len(page), end-1)
		}
	}
	for kind, name := range map[int]string{KindEntry: "entry", KindExitPanic: "exit_panic", KindRecovered: "recovered", KindProbe: "probe"} {
		if got := described[CallsStream][kind-1][1]; got != name {
			t.Errorf("the page has %q as kind %d, want %q", got, kind, name)
		}
	}
	for kind, name := range map[int]string{TableProcess: "process", TableLayout: "layout", TableTimer: "timer"} {
		if got := described[TablesStream][kind-1][1]; got != name {
			t.Errorf("the page has %q as kind %d of the tables, want %q", got, kind, name)
		}
	}
}

// TestRequests compares the numbers of requests, consumers and timers.
func TestRequests(t *testing.T) {
	page := docs(t)
	asks := map[string]int{"look": AskLook, "rules": AskRules, "switch": AskSwitch, "record": AskRecord, "ring": AskRing, "stop": AskStop,
		"clear": AskClear, "timers": AskTimers, "session": AskSession, "detach": AskDetach, "dump": AskDump, "consumers": AskConsumers, "timer": AskTimer,
		"goroutines": AskMute, "actors": AskActors, "objects": AskObjects, "states": AskStates, "stuck": AskStuck, "what": AskWhat, "locks": AskLocks, "budget": AskBudget, "kept": AskKept}
	described := tables(page, "| request |")
	if len(described) != 1 {
		t.Fatalf("the page has %d tables of requests, want 1", len(described))
	}
	for _, row := range described[0] {
		for ask := range strings.SplitSeq(row[0], ", ") {
			number, name, _ := strings.Cut(ask, " ")
			if n, ok := asks[name]; !ok || number != strconv.Itoa(n) {
				t.Errorf("the page has request %s, the package %d", ask, n)
			}
			delete(asks, name)
		}
	}
	if len(asks) > 0 {
		t.Errorf("the page does not have the requests %v", asks)
	}
	for _, text := range []string{
		fmt.Sprintf("version %d", MemoryVersion),
		fmt.Sprintf("0x%X", MemoryMagic),
		fmt.Sprintf("0x%X", PacketMagic),
		fmt.Sprintf("%d history, %d long history, %d summary, %d summary by goroutine, %d by caller, %d by receiver, %d calls under way",
			ConsumerHistory, ConsumerHistoryLong, ConsumerSummary, ConsumerGoroutines, ConsumerCallers, ConsumerReceivers, ConsumerCurrent),
		fmt.Sprintf("%d cycle, %d nanosecond, %d microsecond, %d millisecond, %d tick", TimerCycle, TimerNanosecond, TimerMicrosecond, TimerMillisecond, TimerTick),
		fmt.Sprintf("%d pages of %d bytes", HeadSize/Page, Page),
	} {
		if !strings.Contains(page, text) {
			t.Errorf("the page does not say %q", text)
		}
	}
}
