package selection

import (
	"os"
	"path/filepath"
	"strings"
)

// All directories and import paths are compared in one form: clean, with
// slashes. Symbolic links are not resolved, as the go command doesn't either.

func cleanDir(dir string) string {
	return filepath.ToSlash(filepath.Clean(dir))
}

// within reports whether path is root or below it.
func within(path, root string) bool {
	_, ok := below(path, root)
	return ok
}

// below returns path relative to root, "" if they are the same.
func below(path, root string) (rel string, ok bool) {
	rel, ok = strings.CutPrefix(path, root)
	if !ok || root == "" {
		return "", false
	}
	if rel == "" || strings.HasSuffix(root, "/") {
		return rel, true
	}
	return strings.CutPrefix(rel, "/")
}

// join appends rel, which may be empty, to a clean path.
func join(path, rel string) string {
	if rel == "" || path == "" {
		return path + rel
	}
	return strings.TrimSuffix(path, "/") + "/" + rel
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && !info.IsDir()
}

// maxWalk bounds the search for packages below a directory. Who has more
// directories than this and no Go file in the first of them gets no error.
const maxWalk = 10000

// findPackage searches root and, if deep, what is below it, nearest first, for a
// directory with Go files whose path relative to root is accepted.
func findPackage(root string, deep bool, accept func(rel string) bool) bool {
	queue := []string{""}
	for seen := 0; len(queue) > 0; seen++ {
		if seen == maxWalk {
			return true
		}
		rel := queue[0]
		queue = queue[1:]
		entries, err := os.ReadDir(join(root, rel))
		if err != nil {
			continue
		}
		hasGo := false
		for _, entry := range entries {
			name := entry.Name()
			switch {
			case strings.HasPrefix(name, "."), strings.HasPrefix(name, "_"):
			case entry.IsDir():
				if deep && name != "testdata" {
					queue = append(queue, join(rel, name))
				}
			case strings.HasSuffix(name, ".go"):
				hasGo = true
			}
		}
		if hasGo && accept(rel) {
			return true
		}
	}
	return false
}
