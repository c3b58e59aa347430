package source

import (
	"strings"
	"testing"
)

// TestNames: functions as instruments.
func TestNames(t *testing.T) {
	for _, c := range []struct{ pkg, name, instrument, of string }{
		{"main", "main", "call/main/main", ""},
		{"net/http", "(*Client).Do", "call/net/http/Client.Do", "Client"},
		{"net/http", "(*Client).Do.func1", "call/net/http/Client.Do.func1", "Client"},
		{"time", "Time.Add", "call/time/Time.Add", "Time"},
		{"main", "run.func1", "call/main/run.func1", ""},
		{"main", "(*List[...]).Push", "call/main/List[...].Push", "List[...]"},
	} {
		f := Function{Package: c.pkg, Name: c.name}
		if got := f.Instrument(); got != c.instrument {
			t.Errorf("%s: %s", c.name, got)
		}
		if got := f.Type() + "." + f.Method(); strings.TrimPrefix(got, ".") != strings.TrimPrefix(plainReceiver(c.name), ".") {
			t.Errorf("the type and name of %s: %s", c.name, got)
		}
		if got := f.Type(); got != c.of {
			t.Errorf("the type of %s: %q", c.name, got)
		}
		if got := InstrumentOf(c.pkg + "." + c.name); got != c.instrument {
			t.Errorf("%s.%s: %s", c.pkg, c.name, got)
		}
	}
}
