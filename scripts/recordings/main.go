// Recordings makes the recordings in testdata/recordings anew: of examples/parser, workers, convoy
// and books, or of those that it is given. No path of the machine on which it runs is in them.
//
// Usage, from the repository of ftrace-wrap:
//
//	go run ./scripts/recordings [-wrap PATH] [NAME...]
//
// Tests may expect what the old recordings had. Read what they say then, and adjust them.
package main

import (
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"unsafe"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// dir is where the programs are while they run: a recording has its program's path.
const dir = "/tmp/app"

const module = "github.com/ftrace-wrap/ftrace-wrap"

func main() {
	wrap := flag.String("wrap", "", "`path` of ftrace-wrap (default: build it)")
	flag.Parse()
	if err := run(*wrap, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "recordings:", err)
		os.Exit(1)
	}
}

func run(wrap string, names []string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("making a directory for the programs: %w: remove it if it is of no use", err)
	}
	defer os.RemoveAll(dir)
	if wrap == "" {
		wrap = filepath.Join(dir, "ftrace-wrap")
		if err := build("-o", wrap, module+"/cmd/ftrace-wrap"); err != nil {
			return err
		}
	}
	wrap, err := filepath.Abs(wrap)
	if err != nil {
		return err
	}
	for _, one := range []struct {
		name, rules string
		goroutines  int      // that the recording has
		files       []string // of processors
	}{
		{"parser", "1", 1, []string{"calls_0"}},
		{"workers", "1", 4, []string{"calls_0", "calls_1"}},
		{"convoy", "main.*;wait/*", 6, []string{"calls_0", "calls_1"}},
		{"books", "main.(*shelf).*;stage/*;statement/*;wait/sleep", 2, []string{"calls_0"}},
	} {
		if len(names) > 0 && !slices.Contains(names, one.name) {
			continue
		}
		exe := filepath.Join(dir, one.name)
		if err := build("-trimpath", "-toolexec="+wrap, "-o", exe, module+"/examples/"+one.name); err != nil {
			return err
		}
		made := filepath.Join(dir, "recording")
		for try := 0; ; try++ {
			if try == 1000 {
				return fmt.Errorf("%s: none of %d runs made the files %v, with %d goroutines", one.name, try, one.files, one.goroutines)
			}
			files, goroutines, err := record(exe, one.rules, made)
			if err != nil {
				return fmt.Errorf("%s: %w", one.name, err)
			}
			if slices.Equal(files, one.files) && goroutines == one.goroutines {
				break
			}
		}
		to := filepath.Join("testdata", "recordings", one.name)
		if err := errors.Join(os.RemoveAll(to), os.CopyFS(to, os.DirFS(made))); err != nil {
			return err
		}
	}
	return nil
}

// build runs go build.
func build(args ...string) error {
	if out, err := exec.Command("go", append([]string{"build"}, args...)...).CombinedOutput(); err != nil {
		return fmt.Errorf("go build %v: %w\n%s", args, err, out)
	}
	return nil
}

// record runs a program. It returns the files of processors that its recording has, and how many
// goroutines.
func record(exe, rules, made string) (files []string, goroutines int, err error) {
	if err := os.RemoveAll(made); err != nil {
		return nil, 0, err
	}
	cmd := exec.Command(exe)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "FTRACE="+rules, "FTRACE_RECORD="+made, "GOMAXPROCS=2")
	if out, err := cmd.CombinedOutput(); err != nil {
		if exit := new(exec.ExitError); !errors.As(err, &exit) || !exit.Exited() {
			return nil, 0, fmt.Errorf("%w\n%s", err, out)
		}
	}
	r, err := recording.Open(made)
	if err != nil {
		return nil, 0, err
	}
	seen := map[uint64]bool{}
	s := r.Events(recording.Window{})
	defer s.Close()
	var e recording.Event
	for s.Next(&e) {
		seen[e.Goroutine] = true
	}
	if damage := r.Damage(); len(damage) > 0 || s.Err() != nil {
		return nil, 0, fmt.Errorf("the recording is damaged: %v, %w", damage, s.Err())
	}
	files, err = filepath.Glob(filepath.Join(made, "calls_*"))
	for i, name := range files {
		err = errors.Join(err, cut(name))
		files[i] = filepath.Base(name)
	}
	return files, len(seen), err
}

// cut takes away what is empty in a file of one chunk, which is nearly all. A file that ends early
// is as good as one that is whole; so tests that go through its bytes are quick.
func cut(name string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if len(data) != format.FileChunk {
		return fmt.Errorf("%s: %d bytes, more than a chunk", name, len(data))
	}
	bits := binary.NativeEndian.Uint64(data[unsafe.Offsetof(format.Packet{}.Content):])
	return os.WriteFile(name, data[:bits/8], 0o600)
}
