package examples

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// seedSession has the client talk to a server that says, byte by byte, what the server in WL#6226 said, and compares the trace with the one that stands there.
func seedSession(t *testing.T, program string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	served := make(chan error, 1)
	go func() { served <- seedServer(listener) }()
	got := runProgram(t, []string{"FTRACE_PROTOCOL=test_trace,secrets"}, program,
		"root@tcp("+listener.Addr().String()+")/", "select @@version_comment limit 1", "SELECT user()\n")
	if err := <-served; err != nil {
		t.Error(err)
	}
	if got.Stdout != "Source distribution\nroot@localhost\n" {
		t.Errorf("the client prints %q", got.Stdout)
	}
	seed, err := os.ReadFile("protocol/session/seed.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(seedLines(string(seed)), seedLines(got.Stderr)); diff != "" {
		t.Errorf("trace (-WL#6226 +now):\n%s", diff)
	}
}

// seedLines are the lines of the trace that WL#6226 shows, without those that are of that client alone: it was on Windows, and tried shared memory first; its own answer to the
// greeting has its own capabilities; and it printed a table in between.
func seedLines(trace string) []string {
	lines := strings.Split(strings.ReplaceAll(trace, "\r", ""), "\n")
	return slices.DeleteFunc(lines, func(line string) bool {
		switch {
		case line == "test_trace: stage: CONNECTING, event: ERROR",
			strings.HasPrefix(line, "test_trace: error 2038: Can't open shared memory"), line == "t event (0)",
			strings.HasPrefix(line, "+-"), strings.HasPrefix(line, "| "):
			return true
		}
		for _, capabilities := range []string{"  85 A2 3F 00 ", "  85 A2 0A 00 "} {
			if strings.HasPrefix(line, capabilities) {
				return true
			}
		}
		return strings.HasPrefix(line, "  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00 ")
	})
}

// seedServer is the server of one client. What WL#6226 does not show, since dumps end after 32 bytes, is as the protocol has it.
func seedServer(listener net.Listener) error {
	c, err := listener.Accept()
	if err != nil {
		return err
	}
	defer c.Close()
	greeting := []byte("\x0a5.5.27\x00\x51\x00\x00\x00(?Cs<l.?\x00\xff\xf7\x21\x02\x00\x0f\x80\x15")
	greeting = append(greeting, make([]byte, 10)...)
	greeting = append(greeting, "123456789012\x00mysql_native_password\x00"...)
	ok := []byte{0, 0, 0, 2, 0, 0, 0}
	eof := []byte{0xFE, 0, 0, 2, 0}
	version := []byte("\x03def\x00\x00\x00\x11@@version_comment\x00\x0c\x08\x00\x13\x00\x00\x00\xfd\x00\x00\x1f\x00\x00")
	user := []byte("\x03def\x00\x00\x00\x06user()\x00\x0c\x08\x00\x4d\x00\x00\x00\xfd\x00\x00\x1f\x00\x00")
	if err := sendPackets(c, 0, greeting); err != nil {
		return err
	}
	for _, answer := range [][][]byte{
		{ok},
		{{1}, version, eof, []byte("\x13Source distribution"), eof},
		{{1}, user, eof, []byte("\x0eroot@localhost"), eof},
	} {
		sequence, _, err := receivePacket(c)
		if err != nil {
			return err
		}
		if err := sendPackets(c, sequence+1, answer...); err != nil {
			return err
		}
	}
	_, _, err = receivePacket(c) // QUIT
	return err
}

func sendPackets(c net.Conn, sequence byte, packets ...[]byte) error {
	var out bytes.Buffer
	for _, p := range packets {
		out.Write([]byte{byte(len(p)), byte(len(p) >> 8), byte(len(p) >> 16), sequence})
		out.Write(p)
		sequence++
	}
	_, err := c.Write(out.Bytes())
	return err
}

func receivePacket(c net.Conn) (sequence byte, packet []byte, err error) {
	var head [4]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return 0, nil, err
	}
	packet = make([]byte, binary.LittleEndian.Uint32(head[:])&0xFFFFFF)
	_, err = io.ReadFull(c, packet)
	return head[3], packet, err
}
