package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/frames"
)

// leastFrame is how large frames are whose growth is told as a ratio. A function that has next to
// none plainly has many times as much with any hook, which means nothing.
const leastFrame = 64

// measureFrames prints by how much hooks make the stack frames of functions larger, in the standard
// library and in esbuild.
func measureFrames(w io.Writer, tmp string, opt options) error {
	programs, err := benchDir()
	if err != nil {
		return err
	}
	programs = filepath.Join(programs, "programs")
	sets := []struct{ name, own, pattern string }{
		{"the standard library", "std", "std"},
		{"esbuild", "github.com/evanw/esbuild/...", "github.com/evanw/esbuild/..."},
	}
	if opt.short {
		sets = []struct{ name, own, pattern string }{{"encoding/json", "encoding/json", "encoding/json"}}
	}
	var worst strings.Builder
	fmt.Fprint(w, "| frames | functions | median | 90th | 99th percentile | with frames | median | 90th | 99th percentile |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, set := range sets {
		before, err := readFrames(tmp, build{"plain", "", nil}, programs, set.pattern)
		if err != nil {
			return fmt.Errorf("%s, plainly: %v", set.name, err)
		}
		after, err := readFrames(tmp, build{"hooks", opt.wrap, []string{"FTRACE_PACKAGES=" + set.own}}, programs, set.pattern)
		if err != nil {
			return fmt.Errorf("%s, with hooks: %v", set.name, err)
		}
		all, framed := frames.Compare(before, after, 0), frames.Compare(before, after, leastFrame)
		fmt.Fprintf(w, "| %s | %d |", set.name, len(all))
		for _, p := range []int{50, 90, 99} {
			fmt.Fprintf(w, " +%d |", frames.Percentile(all, p, frames.Growth.Bytes))
		}
		fmt.Fprintf(w, " %d |", len(framed))
		for _, p := range []int{50, 90, 99} {
			fmt.Fprintf(w, " %.2f |", frames.Percentile(framed, p, frames.Growth.Ratio))
		}
		fmt.Fprintln(w)
		for _, g := range all[:min(10, len(all))] {
			_, function, _ := strings.Cut(g.Name, " ")
			fmt.Fprintf(&worst, "| `%s` | %d | %d | %s |\n", function, g.Before.Size, g.After.Size, g.Reason())
		}
	}
	fmt.Fprintf(w, "\n| the worst | plain | hooks | more places on the stack |\n|---|--:|--:|---|\n%s", &worst)
	return nil
}

// readFrames builds packages with empty caches, so that the compiler lists each, and reads the
// frames of their functions.
func readFrames(tmp string, b build, dir, pattern string) (map[string]frames.Frame, error) {
	caches, err := os.MkdirTemp(tmp, "cache-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(caches)
	b.env = append([]string{"GOCACHE=" + filepath.Join(caches, "go"), "FTRACE_CACHE=off"}, b.env...)
	cmd := b.command(dir, "-gcflags=-S", pattern)
	cmd.Stderr = nil
	out, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	found, err := frames.Read(out)
	io.Copy(io.Discard, out)
	if wait := cmd.Wait(); wait != nil {
		return nil, fmt.Errorf("%v: %v", cmd, wait)
	}
	return found, err
}
