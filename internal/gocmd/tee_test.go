//go:build unix

package gocmd

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// teeOf calls Tee, for a go command that is a shell script. Our standard output and standard error
// are out and errs.
func teeOf(t *testing.T, script string, out, errs *os.File) (copied, errors string, status int, err error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	stdout, stderr := os.Stdout, os.Stderr
	defer func() { os.Stdout, os.Stderr = stdout, stderr }()
	os.Stdout, os.Stderr = out, errs
	var toOut, toErrs bytes.Buffer
	status, err = Tee(nil, &toOut, &toErrs)
	return toOut.String(), toErrs.String(), status, err
}

// file returns an empty file, and what reads it.
func file(t *testing.T) (f *os.File, text func() string) {
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f, func() string {
		b, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
}

// TestTee: what is printed goes where it would, and is copied.
func TestTee(t *testing.T) {
	out, printed := file(t)
	errs, printedErrs := file(t)
	copied, copiedErrs, status, err := teeOf(t, "printf 'a\\000b\\r\\n'; head -c 300000 /dev/zero; printf err >&2; printf end; exit 7", out, errs)
	want := "a\x00b\r\n" + strings.Repeat("\x00", 300000) + "end"
	if printed() != want || copied != want {
		t.Errorf("%d bytes were printed and %d copied, not %d", len(printed()), len(copied), len(want))
	}
	if printedErrs() != "err" || copiedErrs != "err" || status != 7 || err != nil {
		t.Errorf("got %q, %q, %d, %v", printedErrs(), copiedErrs, status, err)
	}
}

// TestTeeOrder: what goes to one file stays in order.
func TestTeeOrder(t *testing.T) {
	out, printed := file(t)
	copied, copiedErrs, _, err := teeOf(t, "for i in 1 2 3 4 5 6 7 8 9; do echo out $i; echo err $i >&2; done", out, out)
	want := ""
	for _, i := range "123456789" {
		want += "out " + string(i) + "\nerr " + string(i) + "\n"
	}
	if printed() != want || copied != want || copiedErrs != "" || err != nil {
		t.Errorf("printed %q, copied %q and %q, %v", printed(), copied, copiedErrs, err)
	}
}

// TestTeeLeft: a program that was left behind is not waited for.
func TestTeeLeft(t *testing.T) {
	out, printed := file(t)
	errs, _ := file(t)
	begun := time.Now()
	_, _, status, err := teeOf(t, "sleep 60 & echo $!", out, errs)
	if took := time.Since(begun); took > 30*time.Second || status != 0 || err != nil {
		t.Errorf("got %d, %v, after %v", status, err, took)
	}
	teeOf(t, "kill "+printed(), out, errs)
}

// TestTeeSignal: signals are passed on, and the exit status is the go command's.
func TestTeeSignal(t *testing.T) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT) // though we run in nohup
	defer signal.Stop(c)
	for _, name := range []string{"INT", "TERM", "HUP", "QUIT"} {
		out, printed := file(t)
		errs, _ := file(t)
		_, _, status, err := teeOf(t, "trap 'echo got; kill $!; exit 3' "+name+"; sleep 60 & kill -"+name+" $PPID; wait", out, errs)
		if printed() != "got\n" || status != 3 || err != nil {
			t.Errorf("%s: got %q, %d, %v", name, printed(), status, err)
		}
	}
	out, _ := file(t)
	if _, _, status, err := teeOf(t, "kill -KILL $$", out, out); status != 128+9 || err != nil {
		t.Errorf("killed: got %d, %v", status, err)
	}
}

// TestTeeUnread: where nobody reads what we print, the go command ends, as it would by itself.
func TestTeeUnread(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	read := make(chan error)
	go func() {
		_, err := io.ReadFull(r, make([]byte, 1000))
		r.Close()
		read <- err
	}()
	errs, _ := file(t)
	copied, _, status, err := teeOf(t, "while :; do echo y; done", w, errs)
	if err := <-read; err != nil {
		t.Fatal(err)
	}
	if status != 128+int(syscall.SIGPIPE) || !errors.Is(err, syscall.EPIPE) || len(copied) < 1000 {
		t.Errorf("got %d, %v, %d bytes", status, err, len(copied))
	}
}
