package diff

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// TestJSON: the object has both values of a parameter that differs, which it is, and when it was in
// both recordings.
func TestJSON(t *testing.T) {
	good := open(t, "parser")
	dir := filepath.Join(t.TempDir(), "changed")
	w, err := good.Recording.NewWriter(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := good.Recording.Events(recording.Window{})
	defer s.Close()
	var before []byte // the parameters of the call before
	for e := (recording.Event{}); s.Next(&e); {
		if e.Enters() && good.Recording.Function(e.Function).Name == "factor" {
			data := bytes.Clone(e.Data)
			if e.Call == 6 {
				e.Data = before
			}
			before = data
		}
		if err := w.Write(&e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	bad, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{JSON: true, Context: 1}
	d, err := Compare([]walk.Source{good, {Recording: bad}}, o)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := d.Write(&out, o); err != nil {
		t.Fatal(err)
	}
	var have struct {
		Divergence struct {
			What   string
			Times  [2]int64
			Values [2][]struct{ Name, Value string }
			Differ []int
		}
	}
	if err := json.Unmarshal(out.Bytes(), &have); err != nil {
		t.Fatal(err)
	}
	v := have.Divergence
	if v.What != "another text of main.factor" || !slices.Equal(v.Differ, []int{0}) || v.Values[0][0].Value != "0" || v.Values[1][0].Value != "1/0" || v.Times[0] == 0 || v.Times[0] != v.Times[1] {
		t.Errorf("%s", out.Bytes())
	}
}
