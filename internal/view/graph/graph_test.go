package graph

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// TestFind: what calls a function and what it calls, and that a name of no function is an error.
func TestFind(t *testing.T) {
	r, err := recording.Open("../../../testdata/recordings/workers")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Find([]walk.Source{{Recording: r}}, nil, "main.none"); err == nil {
		t.Error("main.none was found")
	}
	g, err := Find([]walk.Source{{Recording: r}}, nil, "main.sum")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := g.Write(&out, true); err != nil {
		t.Fatal(err)
	}
	type edge struct {
		Function string
		Calls    int
	}
	var got struct {
		Function         string
		Calls            int
		Callers, Callees []edge
	}
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil {
		t.Fatal(err)
	}
	calls := map[string]int{}
	for _, e := range got.Callees {
		calls[e.Function] = e.Calls
	}
	if got.Calls != 1 || len(got.Callers) != 1 || got.Callers[0] != (edge{"main.main", 1}) || calls["main.(*group).start"] != 3 || calls["main.newGroup"] != 1 {
		t.Errorf("%+v", got)
	}
}
