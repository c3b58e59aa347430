package live

import (
	"encoding/binary"
	"reflect"
	"testing"
)

// TestSetup: rules are read as they were written; none are not the same as no rules that are set.
func TestSetup(t *testing.T) {
	answer := func(actors, objects string) string {
		return string(binary.LittleEndian.AppendUint32(nil, uint32(len(actors)))) + actors + objects
	}
	actors := []Rule{{true, false, [3]string{"call/main/%", "tenant=a", ""}}, {false, true, [3]string{"%", "%", ""}}}
	for _, want := range []Setup{{}, {Actors: actors}, {Objects: []Rule{}}, {Actors: []Rule{}, Objects: actors}} {
		got, err := parseSetup(answer(formatRules(want.Actors), formatRules(want.Objects)))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v became %+v: %v", want, got, err)
		}
	}
	for _, wrong := range []string{"", "abc", "\xFF\xFF\xFF\xFFx", answer("x", ""), answer("!YY\x00\x00", ""), answer("", "!Y"), answer("!YNa\x00b\x00c\x00Y", "")} {
		if got, err := parseSetup(wrong); err == nil {
			t.Errorf("%q became %+v", wrong, got)
		}
	}
}
