package wire

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "run the clients of testdata/conversations, and record what they send")

// A conversation is what a client sent on each of its connections, packet by packet.
type conversation [][]packet

type packet struct {
	sequence byte
	content  string
}

// readPacket reads one packet, as either side sends it.
func readPacket(r io.Reader) (packet, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return packet{}, err
	}
	content := make([]byte, binary.LittleEndian.Uint32(head[:])&0xFFFFFF)
	_, err := io.ReadFull(r, content)
	return packet{head[3], string(content)}, err
}

func (p packet) bytes() []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(p.content)))
	return append(append(b[:3], p.sequence), p.content...)
}

// command returns the command that begins with a packet, 0 if none does.
func (p packet) command() byte {
	if p.sequence != 0 || p.content == "" {
		return 0
	}
	return p.content[0]
}

// TestConversations sends what real clients sent, as testdata/conversations has it, and reads the
// answers: each command has one, and none is an error but those that the recording has.
//
// With -update, it runs the clients first, whose commands stand in the files behind "#$ ". They
// connect to $PORT. Then each file is written anew.
func TestConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/conversations/*.txt")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			server := func() string {
				return serve(t, 20, func(s *Server) { s.Catalog.Accounts = nil }) // any answer to any salt is right
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			head, script := "", ""
			var said conversation
			want := ""
			for line := range strings.Lines(string(text)) {
				line = strings.TrimSuffix(line, "\n")
				switch {
				case strings.HasPrefix(line, "#"):
					head += line + "\n"
					if command, ok := strings.CutPrefix(line, "#$ "); ok {
						script += command + "\n"
					}
				case line == "connection":
					said = append(said, nil)
				case strings.HasPrefix(line, "error "):
					want += line + "\n"
				default:
					number, quoted, _ := strings.Cut(line, " ")
					sequence, err1 := strconv.ParseUint(number, 10, 8)
					content, err2 := strconv.Unquote(quoted)
					if err := errors.Join(err1, err2); err != nil {
						t.Fatalf("%s: %v", line, err)
					}
					said[len(said)-1] = append(said[len(said)-1], packet{byte(sequence), content})
				}
			}
			if *update {
				said = record(t, server(), script)
			}
			got, asked, addr := "", 0, server()
			for _, packets := range said {
				failures, commands := replay(t, addr, packets)
				got += failures
				asked += commands
			}
			if *update {
				b := bytes.NewBufferString(head)
				for _, packets := range said {
					fmt.Fprintln(b, "connection")
					for _, p := range packets {
						fmt.Fprintln(b, p.sequence, strconv.Quote(p.content))
					}
				}
				b.WriteString(got)
				if err := os.WriteFile(file, b.Bytes(), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			if asked < 5 {
				t.Errorf("%d commands", asked)
			}
			if got != want {
				t.Errorf("failed:\n%swant:\n%s", got, want)
			}
		})
	}
}

// record runs a client, and returns what it sent.
func record(t *testing.T, addr, script string) (said conversation) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var mu sync.Mutex
	var clients sync.WaitGroup
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			number := len(said)
			said = append(said, nil)
			mu.Unlock()
			clients.Go(func() {
				defer client.Close()
				server, err := net.Dial("tcp", addr)
				if err != nil {
					t.Error(err)
					return
				}
				defer server.Close()
				go func() {
					io.Copy(client, server)
					client.Close()
				}()
				for {
					p, err := readPacket(client)
					if err != nil {
						return
					}
					mu.Lock()
					said[number] = append(said[number], p)
					mu.Unlock()
					if _, err := server.Write(p.bytes()); err != nil {
						return
					}
				}
			})
		}
	}()
	command := exec.CommandContext(t.Context(), "sh", "-ec", script)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	command.Env = append(os.Environ(), "PORT="+port)
	out, err := command.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
	clients.Wait()
	return said
}

// replay sends what a client sent on one connection. It returns a line for each error, and how many
// commands were answered.
func replay(t *testing.T, addr string, packets []packet) (failures string, commands int) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Minute))
	a := &answers{r: bufio.NewReader(conn)}
	if _, err := readPacket(a.r); err != nil { // the greeting
		t.Fatal(err)
	}
	for i, p := range packets {
		if i == 0 {
			a.eof = binary.LittleEndian.Uint32([]byte(p.content))&deprecateEOF == 0
		}
		if _, err := conn.Write(p.bytes()); err != nil {
			t.Fatal(err)
		}
		of := strconv.Quote(p.content[:min(len(p.content), 200)])
		if p.command() == 0 {
			of = "the login"
		}
		failed, err := a.next(p.command())
		if err != nil {
			t.Fatalf("%s: %v", of, err)
		}
		if failed != 0 {
			failures += fmt.Sprintf("error %d of %s\n", failed, of)
		}
		if p.command() != 0 {
			commands++
		}
	}
	return failures, commands
}

// answers reads what a server answers.
type answers struct {
	r   io.Reader
	eof bool // a packet comes after columns
}

// next reads the answer to a command, 0 for a packet of the login. It returns the number of the
// error that the answer is, or 0.
func (a *answers) next(command byte) (failed uint16, err error) {
	switch command {
	case comQuit, comStmtClose, comLongData:
		return 0, nil
	case comFieldList:
		return 0, a.skip(-1)
	}
	for {
		p, err := readPacket(a.r)
		if err != nil {
			return 0, err
		}
		head := byte(0)
		if len(p.content) > 0 {
			head = p.content[0]
		}
		switch {
		case head == 0xFF:
			return binary.LittleEndian.Uint16([]byte(p.content[1:3])), nil
		case command == 0 && head == 1: // the password is right, and OK follows
			continue
		case command == comPrepare:
			columns, params := binary.LittleEndian.Uint16([]byte(p.content[5:7])), binary.LittleEndian.Uint16([]byte(p.content[7:9]))
			for _, n := range []uint16{params, columns} {
				if n > 0 {
					err = errors.Join(err, a.skip(int(n)))
				}
			}
			return 0, err
		case command == comFetch && head == 0xFE:
			return 0, nil
		case command != comQuery && command != comExecute:
			return 0, nil
		}
		status := uint16(0)
		if head == 0 {
			r := &reader{b: []byte(p.content[1:])}
			r.length()
			r.length()
			status = r.uint16()
		} else {
			n := (&reader{b: []byte(p.content)}).length()
			if err := a.skip(n); err != nil {
				return 0, err
			}
			if status, failed, err = a.rows(); err != nil || failed != 0 {
				return failed, err
			}
		}
		if status&moreResults == 0 {
			return 0, nil
		}
	}
}

// skip reads n columns and what comes after them; -1: those up to the last.
func (a *answers) skip(n int) error {
	for n != 0 {
		p, err := readPacket(a.r)
		if err != nil || n < 0 && p.content[0] != 3 {
			return err
		}
		n--
	}
	if a.eof {
		_, err := readPacket(a.r)
		return err
	}
	return nil
}

// rows reads the rows of a result. It returns the status after them, or the number of an error.
func (a *answers) rows() (status, failed uint16, err error) {
	for {
		p, err := readPacket(a.r)
		switch {
		case err != nil:
			return 0, 0, err
		case p.content == "":
		case p.content[0] == 0xFF:
			return 0, binary.LittleEndian.Uint16([]byte(p.content[1:3])), nil
		case p.content[0] == 0xFE && len(p.content) < 100:
			return binary.LittleEndian.Uint16([]byte(p.content[3:5])), 0, nil
		}
	}
}
