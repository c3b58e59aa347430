package flake

import (
	"strings"
	"testing"
)

// TestExcerpt: of a long output the end is shown, and of a data race the first report, from its
// beginning: there the two accesses are.
func TestExcerpt(t *testing.T) {
	plain := strings.Repeat("line\n", 100) + "FAIL\n"
	if got := string(excerpt([]byte(plain))); !strings.HasSuffix(got, "line\nFAIL\n") || strings.Count(got, "\n") > 40 {
		t.Errorf("of a plain output: %q", got)
	}
	report := "WARNING: DATA RACE\nRead at 0x00c0000b4108 by goroutine 10:\n  m.(*Cache).note()\n\nPrevious write\n"
	const rule = "==================\n"
	raced := "before\n" + rule + report + rule + rule + strings.Repeat("WARNING: DATA RACE\nanother\n", 40) + rule + "--- FAIL: TestGet (0.00s)\n    testing.go:1712: race detected during execution of test\nFAIL\n"
	want := report + "...\n" + rule + "--- FAIL: TestGet (0.00s)\n    testing.go:1712: race detected during execution of test\nFAIL\n"
	if got := string(excerpt([]byte(raced))); got != want {
		t.Errorf("of a data race:\n%s\nwant\n%s", got, want)
	}
	long := rule + "WARNING: DATA RACE\n" + strings.Repeat("frame\n", 100) + rule + "FAIL\n"
	if got := string(excerpt([]byte(long))); !strings.HasPrefix(got, "WARNING") || !strings.HasSuffix(got, "FAIL\n") || strings.Count(got, "\n") > 50 {
		t.Errorf("of a long report: %q", got)
	}
}
