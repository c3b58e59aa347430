// Recordings makes the recordings in testdata/recordings anew: of examples/parser, workers, convoy
// and books, of internal/view/export/testdata/kinds, and of the shop and the stock of
// examples/protocol/services, or of those that it is given: services are both. No path of the
// machine on which it runs is in them.
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
	"net/http"
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
		name, in, rules string
		goroutines      int      // that the recording has
		files           []string // of processors
	}{
		{"parser", "examples", "1", 1, []string{"calls_0"}},
		{"workers", "examples", "1", 4, []string{"calls_0", "calls_1"}},
		{"convoy", "examples", "main.*;wait/*", 6, []string{"calls_0", "calls_1"}},
		{"books", "examples", "main.(*shelf).*;stage/*;statement/*;wait/sleep", 2, []string{"calls_0"}},
		{"kinds", "internal/view/export/testdata", "main.*=changes;main.shallow=args;main.fields=args,capture=o.Next.ID+o.Customer.Region", 1, []string{"calls_0"}},
	} {
		if len(names) > 0 && !slices.Contains(names, one.name) {
			continue
		}
		exe := filepath.Join(dir, one.name)
		if err := build("-trimpath", "-toolexec="+wrap, "-o", exe, module+"/"+one.in+"/"+one.name); err != nil {
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
	if len(names) == 0 || slices.Contains(names, "services") {
		return services(wrap)
	}
	return nil
}

// services records a shop that is asked by HTTP, and the stock that it asks by gRPC.
func services(wrap string) error {
	exe := filepath.Join(dir, "services")
	if err := build("-C", "examples/protocol/services", "-trimpath", "-toolexec="+wrap, "-o", exe, "."); err != nil {
		return err
	}
	stock, err := startService(exe, "stock")
	if err != nil {
		return err
	}
	defer stock.Process.Kill()
	shop, err := startService(exe, "shop", "-stock", stock.address)
	if err != nil {
		return err
	}
	defer shop.Process.Kill()
	for _, item := range []string{"cheese", "nothing", "bread"} {
		r, err := http.Get("http://" + shop.address + "/items/" + item)
		if err != nil {
			return err
		}
		r.Body.Close()
	}
	for _, s := range []*service{shop, stock} {
		if err := errors.Join(s.Process.Signal(os.Interrupt), s.Wait()); err != nil {
			return err
		}
		files, err := filepath.Glob(filepath.Join(s.made, "calls_*"))
		for _, name := range files {
			err = errors.Join(err, cut(name))
		}
		to := filepath.Join("testdata", "recordings", filepath.Base(s.made))
		if err := errors.Join(err, os.RemoveAll(to), os.CopyFS(to, os.DirFS(s.made))); err != nil {
			return err
		}
	}
	return nil
}

// A service is a program that serves at an address, and is recorded.
type service struct {
	*exec.Cmd
	made    string // its recording
	address string
}

// startService starts a service, and waits until it serves.
func startService(exe, name string, args ...string) (*service, error) {
	s := &service{Cmd: exec.Command(exe, args...), made: filepath.Join(dir, name)}
	s.Dir = dir
	s.Env = append(os.Environ(), "FTRACE=main.*;stage/*", "FTRACE_PROPAGATE=on", "FTRACE_RECORD="+s.made, "GOMAXPROCS=2")
	s.Stderr = os.Stderr
	out, err := s.StdoutPipe()
	if err == nil {
		err = s.Start()
	}
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Fscanln(out, &s.address); err != nil {
		return nil, errors.Join(fmt.Errorf("%s printed no address: %w", name, err), s.Process.Kill())
	}
	return s, nil
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
