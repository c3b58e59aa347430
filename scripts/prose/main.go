// Prose checks the project's English: the Markdown pages, and the comments and texts of Go files.
//
//	go run ./scripts/prose          prints what is wrong, and exits with status 1 if anything is
//	go run ./scripts/prose -w DIR   also breaks long lines anew
//
// It looks for phrases that readers stumble over, and for lines of pages and comments that are
// longer than 100 columns. Tables, code and what holds a long link may be longer, and so may a
// comment that stands after code.
package main

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	write := flag.Bool("w", false, "break long lines anew")
	flag.Parse()
	roots := flag.Args()
	if len(roots) == 0 {
		roots = []string{"."}
	}
	bad := false
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() {
				if d.Name() == "testdata" || d.Name() != "." && strings.HasPrefix(d.Name(), ".") && d.Name() != ".github" {
					return filepath.SkipDir
				}
				return nil
			}
			check := checkers[filepath.Ext(path)]
			if check == nil {
				return nil
			}
			source, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if *write {
				changed := fillers[filepath.Ext(path)](string(source))
				if changed != string(source) {
					if err := os.WriteFile(path, []byte(changed), 0o666); err != nil {
						return err
					}
					source = []byte(changed)
				}
			}
			for _, f := range check(string(source)) {
				bad = true
				fmt.Printf("%s:%d: %s\n", path, f.line, f.message)
			}
			return nil
		})
		if err != nil {
			fmt.Fprintln(os.Stderr, "prose:", err)
			os.Exit(2)
		}
	}
	if bad {
		os.Exit(1)
	}
}
