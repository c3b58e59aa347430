package gocmd

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/signals"
)

// Tee is Build for one who wants to read what the go command prints: it is printed as it comes, and
// copied to out and errs. If standard output and standard error are the same file, all goes to out,
// in the order in which it was printed.
func Tee(args []string, out, errs io.Writer) (status int, err error) {
	path, err := Path()
	if err != nil {
		return 0, err
	}
	if end := AnnounceFirst(); end != nil {
		defer end()
	}
	cmd := exec.Command(path, args...)
	cmd.Stdin = os.Stdin
	t := &tee{}
	defer t.close()
	if cmd.Stdout, err = t.pipe(os.Stdout, out); err != nil {
		return 0, err
	}
	cmd.Stderr = cmd.Stdout
	if !sameFile(os.Stdout, os.Stderr) {
		if cmd.Stderr, err = t.pipe(os.Stderr, errs); err != nil {
			return 0, err
		}
	}
	status, err = t.run(cmd)
	return status, errors.Join(err, t.err)
}

// sameFile reports whether what is written to both is in one order.
func sameFile(a, b *os.File) bool {
	one, err1 := a.Stat()
	other, err2 := b.Stat()
	return err1 == nil && err2 == nil && os.SameFile(one, other)
}

// tee has the pipes through which a command prints.
type tee struct {
	reads, writes []*os.File
	copies        []func()
	mu            sync.Mutex
	err           error
}

// pipe returns the end of a pipe that a command is to write to, for what is to go to two files.
func (t *tee) pipe(to *os.File, copy io.Writer) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	t.reads, t.writes = append(t.reads, r), append(t.writes, w)
	t.copies = append(t.copies, func() { t.note(copyAll(r, to, copy)) })
	return w, nil
}

func (t *tee) note(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		t.err = err
	}
}

func (t *tee) close() {
	for _, file := range append(t.reads, t.writes...) {
		file.Close()
	}
}

// run runs a command, and passes on what signals reach us, as if we were the command: the go
// command minds none that it has got already. SIGPIPE must not end us where nobody reads what we
// print: then the go command gets one of its own, when it goes on printing.
func (t *tee) run(cmd *exec.Cmd) (status int, err error) {
	got := make(chan os.Signal, 1)
	signals.Notify(got, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE)
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	for _, w := range t.writes {
		w.Close()
	}
	var copying sync.WaitGroup
	for _, copy := range t.copies {
		copying.Go(copy)
	}
	done := make(chan struct{})
	go func() {
		for {
			select {
			case s := <-got:
				if s != syscall.SIGPIPE {
					cmd.Process.Signal(s)
				}
			case <-done:
				return
			}
		}
	}()
	err = cmd.Wait()
	close(done)
	for _, r := range t.reads {
		r.SetReadDeadline(time.Now()) // tells copyAll
	}
	copying.Wait()
	return exitStatus(err)
}

const (
	lastWords = 100 * time.Millisecond // without any after the command's end, there are none left
	pipeSize  = 1 << 20                // what a pipe can hold at most, as Linux has it
)

// copyAll copies what comes through a pipe to two files, until no one can write to it any more.
// Programs that a command has left behind may for long. So a deadline of the pipe that passes means
// that the command has ended. From then on only what it has written before is read.
func copyAll(r, to *os.File, copy io.Writer) error {
	defer r.Close() // who writes meets the same error as we do
	b := make([]byte, 32<<10)
	for ended, left := false, pipeSize; left > 0; {
		n, err := r.Read(b)
		if n > 0 {
			if _, err := to.Write(b[:n]); err != nil {
				return err
			}
			copy.Write(b[:n])
		}
		if ended {
			left -= n
		}
		switch {
		case err == io.EOF, ended && errors.Is(err, os.ErrDeadlineExceeded):
			return nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			ended = true
		case err != nil:
			return err
		}
		if ended {
			r.SetReadDeadline(time.Now().Add(lastWords))
		}
	}
	return nil
}
