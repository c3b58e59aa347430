package gocmd

import (
	"slices"
	"strings"
	"testing"
)

// TestToolexecFlag: a -toolexec of the user's is refused, unless GOFLAGS has ftrace-wrap itself.
func TestToolexecFlag(t *testing.T) {
	for _, c := range []struct{ goflags, args, fault string }{
		{"", "./...", ""},
		{"-v -toolexec=/bin/ftrace-wrap", "./...", ""},
		{"-v '-toolexec=/with space/ftrace-wrap'", "./...", ""},
		{"-toolexec=/bin/other", "./...", "GOFLAGS has -toolexec=/bin/other"},
		{"", "-toolexec=x ./...", "-toolexec=x: the go command takes one -toolexec"},
		{"", ". -args -toolexec=x", ""},
	} {
		t.Setenv("GOFLAGS", c.goflags)
		flag, err := ToolexecFlag("test", strings.Fields(c.args))
		switch {
		case c.fault == "" && (err != nil || !strings.HasPrefix(flag, "-toolexec=")):
			t.Errorf("%+v: %q, %v", c, flag, err)
		case c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault)):
			t.Errorf("%+v: %q, %v", c, flag, err)
		}
	}
}

// TestInsertFlags: -C stays first.
func TestInsertFlags(t *testing.T) {
	for args, want := range map[string]string{
		"test": "test -x", "test ./...": "test -x ./...", "test -C d .": "test -C d -x .", "test -C=d .": "test -C=d -x .", "test -C": "test -C -x",
	} {
		if got := InsertFlags(strings.Fields(args), "-x"); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%q: got %q, want %q", args, got, want)
		}
	}
}
