package toolexec

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/inject"
)

// TestCheckRelease checks which Go releases are refused.
func TestCheckRelease(t *testing.T) {
	newest := inject.Releases[len(inject.Releases)-1]
	var minor int
	fmt.Sscanf(newest, "go1.%d", &minor)
	later := fmt.Sprintf("go1.%d", minor+1)
	const refused, offered, unknown = "is not a supported Go release: ", "FTRACE_GO=allow tries it as if it were ", "is not allow"
	for _, test := range []struct{ version, allow, err string }{
		{"go1.25", "", ""},
		{"go1.26.8", "", ""},
		{"go1.26.8 X:nodwarf5", "allow", ""},
		{newest + "rc1", "", ""},
		{"go1.24.3", "", refused},
		{"go1.24.3", "allow", refused},
		{"go1.2", "allow", refused},
		{"go2.1", "allow", refused},
		{"", "allow", refused},
		{later + ".1", "", offered + newest},
		{later + "rc1", "allow", ""},
		{later + "-devel_0123456789 Mon Nov 16 10:00:00 2026 +0000", "", offered + newest},
		{"devel " + later + "-0123456789 Mon Nov 16 10:00:00 2026 +0000", "allow", ""},
		{later, "yes", unknown},
		{"go1.24", "yes", unknown},
		{"go1.26.8", "yes", unknown},
	} {
		t.Setenv("FTRACE_GO", test.allow)
		err := CheckRelease(test.version)
		if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%q, FTRACE_GO=%s: %v; want %q", test.version, test.allow, err, test.err)
		}
		if err != nil && test.err == refused && strings.Contains(err.Error(), "FTRACE_GO") {
			t.Errorf("%q: %v: it can't be allowed", test.version, err)
		}
	}
}
