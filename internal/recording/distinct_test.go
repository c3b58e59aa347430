package recording

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestDistinct: a directory is the same by whatever name, and one that is not there is none.
func TestDistinct(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"a", "b"} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	absolute, err := filepath.Abs("a")
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"a", "./a", "b/../a", absolute}
	if os.Symlink("a", "link") == nil {
		names = append(names, "link")
	}
	for _, name := range names[1:] {
		if err := Distinct([]string{"a", "b", name}); err == nil || err.Error() != "a and "+name+" are the same recording: leave one out" {
			t.Errorf("a and %s: %v", name, err)
		}
	}
	if err := Distinct([]string{"a", "b", "none", "none"}); err != nil {
		t.Error(err)
	}
	if rest := Without([]string{"b", "none", absolute}, names); !slices.Equal(rest, []string{"b", "none"}) {
		t.Errorf("without a: %q", rest)
	}
}
