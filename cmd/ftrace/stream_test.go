package main

import (
	"reflect"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/recording"
)

// TestStream reads ahead what package recording reads, with the texts that it would have, and gives up at any event.
func TestStream(t *testing.T) {
	r, err := recording.Open("../../recording/testdata/workers")
	if err != nil {
		t.Fatal(err)
	}
	f, err := parseFormat("")
	if err != nil {
		t.Fatal(err)
	}
	var want []recording.Event
	plain := r.Events(recording.Window{})
	var e recording.Event
	for plain.Next(&e) {
		c := e
		c.Data = append([]byte(nil), e.Data...)
		want = append(want, c)
	}
	plain.Close()
	text := valuesOf(r, f)
	for _, stop := range []int{0, 1, len(want) / 2, len(want)} {
		s := (&walker{r: r}).eventsWithText(recording.Window{}, func() func([]byte, *recording.Event) []byte { return valuesOf(r, f) })
		for i := range stop {
			got := s.Next()
			if got == nil {
				t.Fatalf("%d events of %d", i, len(want))
			}
			c := *got
			c.Data = append([]byte(nil), got.Data...)
			if !reflect.DeepEqual(c, want[i]) {
				t.Fatalf("event %d is %+v, want %+v", i, c, want[i])
			}
			if a, b := string(s.text()), string(text(nil, &want[i])); a != b {
				t.Fatalf("the text of event %d is %q, want %q", i, a, b)
			}
		}
		if stop == len(want) && s.Next() != nil {
			t.Fatal("more events than there are")
		}
		s.Close()
	}
}
