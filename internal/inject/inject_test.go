package inject

import (
	"path"
	"testing"
)

// A file of links takes the place of one that is there for programs that are built without the
// wrapper, or is added.
func TestLinksHaveTheirNames(t *testing.T) {
	for importPath, link := range linked {
		there := []File{{Name: "/module/" + link.name, Source: []byte("package p\n")}}
		changed, added, err := Patch(importPath, "go1.26", "linux", "amd64", there)
		if err != nil || len(changed) != 1 || len(added) != 0 {
			t.Errorf("%s: %d files changed, %d added, error %v, want its %s to change", importPath, len(changed), len(added), err, link.name)
		}
		_, added, err = Patch(importPath, "go1.26", "linux", "amd64", nil)
		if err != nil || len(added) != 1 || path.Base(added[0].Name) != link.name {
			t.Errorf("%s: added %v, error %v, want %s", importPath, added, err, link.name)
		}
	}
}
