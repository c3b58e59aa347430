package wire

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/language"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// Commands of clients.
const (
	comQuit        = 0x01
	comInitDB      = 0x02
	comQuery       = 0x03
	comFieldList   = 0x04
	comStatistics  = 0x09
	comKill        = 0x0C
	comPing        = 0x0E
	comChangeUser  = 0x11
	comPrepare     = 0x16
	comExecute     = 0x17
	comLongData    = 0x18
	comStmtClose   = 0x19
	comStmtReset   = 0x1A
	comSetOption   = 0x1B
	comFetch       = 0x1C
	comResetClient = 0x1F
)

// conn is a client's connection. It is served by one goroutine.
type conn struct {
	*packets
	raw          net.Conn // without TLS
	server       *Server
	id           uint32
	session      *schema.Session // set under mu; nil: it has not logged in
	capabilities uint32
	secure       *tls.ConnectionState // nil: without TLS
	statements   map[uint32]*prepared
	statement    uint32 // number of the last one

	held    int64 // bytes of the server's limit that it uses
	content int64 // how many of these are the command's

	mu      sync.Mutex
	context context.Context // of the command under way
	cancel  context.CancelFunc
}

// send writes a packet and flushes.
func (c *conn) send(content []byte) error {
	if err := c.write(content); err != nil {
		return err
	}
	return c.flush()
}

// handshakeTime is how long a client may take to log in: MySQL's connect_timeout.
const handshakeTime = 10 * time.Second

// holdContent counts bytes of a command.
func (c *conn) holdContent(n int) error {
	err := c.claim(n)
	if err == nil {
		c.content += int64(n)
	}
	return err
}

// claim counts bytes that the connection needs, of those that all connections may use together.
func (c *conn) claim(n int) error {
	if c.server.used.Add(int64(n)) > heldMax {
		c.server.used.Add(int64(-n))
		return mysqlerr.New(1041, "Out of memory: what all clients send may have %d MB", heldMax>>20)
	}
	c.held += int64(n)
	return nil
}

// release gives bytes back.
func (c *conn) release(n int64) {
	c.held -= n
	c.server.used.Add(-n)
}

// watch calls gone when the client goes away. Until stop is called nothing else reads.
func (c *conn) watch(gone func()) (stop func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			// What it sends meanwhile stays for the next command.
			_, err := c.r.Peek(c.r.Buffered() + 1)
			if err == nil {
				continue
			}
			if !errors.Is(err, bufio.ErrBufferFull) && !errors.Is(err, os.ErrDeadlineExceeded) {
				gone()
			}
			return
		}
	}()
	return func() {
		c.SetReadDeadline(time.Unix(1, 0))
		<-done
		c.SetReadDeadline(time.Time{})
	}
}

// serve serves the connection until it ends.
func (c *conn) serve(ctx context.Context) error {
	defer func() { c.release(c.held) }()
	c.SetReadDeadline(time.Now().Add(handshakeTime))
	if err := c.handshake(ctx); err != nil {
		return err
	}
	c.hold = c.holdContent
	c.patient = true
	for {
		c.sequence = 0
		c.release(c.content)
		c.content = 0
		c.SetReadDeadline(time.Now().Add(c.session.Seconds("wait_timeout")))
		if _, err := c.r.Peek(1); err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, io.EOF) {
				return nil // it was idle for too long, or has gone
			}
			return err
		}
		c.SetReadDeadline(time.Now().Add(readTime))
		content, err := c.read()
		c.SetReadDeadline(time.Time{})
		var known *mysqlerr.Error
		if errors.As(err, &known) {
			return c.refuse(known)
		}
		if err != nil {
			return err
		}
		if len(content) == 0 {
			return errPacket
		}
		if content[0] == comQuit {
			return nil
		}
		if err := c.command(ctx, content[0], content[1:]); err != nil {
			return err
		}
	}
}

func (c *conn) command(ctx context.Context, command byte, content []byte) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c.mu.Lock()
	c.context, c.cancel = ctx, cancel
	c.mu.Unlock()
	c.timed.patience = c.session.Seconds("net_write_timeout")
	switch command {
	case comQuery, comFieldList, comPrepare, comExecute:
		defer c.watch(cancel)()
	}
	switch command {
	case comInitDB:
		return c.run("USE `" + strings.ReplaceAll(string(content), "`", "``") + "`")
	case comQuery:
		return c.query(string(content))
	case comFieldList:
		return c.fieldList(content)
	case comStatistics:
		return c.send([]byte(c.server.Catalog.Statistics(c.server.count())))
	case comKill:
		r := &reader{b: content}
		return c.kill(r.uint32(), false)
	case comPing:
		return c.ok(&schema.Result{}, 0)
	case comSetOption: // that it may send several statements at once, or may not
		if r := (&reader{b: content}); r.uint16() == 0 {
			c.capabilities |= multiStatements
		} else {
			c.capabilities &^= multiStatements
		}
		if err := c.end(0); err != nil {
			return err
		}
		return c.flush()
	case comChangeUser:
		return c.changeUser(ctx, content)
	case comPrepare:
		return c.prepare(string(content))
	case comExecute:
		return c.execute(content)
	case comLongData:
		c.longData(content)
		return nil
	case comStmtClose:
		r := &reader{b: content}
		c.closeStatement(r.uint32())
		return nil
	case comStmtReset:
		r := &reader{b: content}
		if st := c.statements[r.uint32()]; st != nil {
			c.forgetLong(st)
			st.cursor = false
		}
		return c.ok(&schema.Result{}, 0)
	case comFetch:
		r := &reader{b: content}
		return c.fetch(r.uint32())
	case comResetClient:
		c.closeStatements()
		c.session.Reset()
		return c.ok(&schema.Result{}, 0)
	}
	return c.fail(mysqlerr.New(1047, "Unknown command"))
}

// query is COM_QUERY: one statement, or several if the client may send several.
func (c *conn) query(text string) error {
	if id, query, ok := kill(text); ok {
		return c.kill(id, query)
	}
	if c.capabilities&multiStatements != 0 {
		list, rest := language.Split(text)
		if rest != "" {
			list = append(list, rest)
		}
		if len(list) > 1 {
			for i, text := range list {
				status := uint16(moreResults)
				if i == len(list)-1 {
					status = 0
				}
				r, err := c.session.Query(c.context, text, nil)
				if err != nil {
					return c.fail(err)
				}
				if err := c.result(r, false, status); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return c.run(text)
}

// run runs a statement and answers.
func (c *conn) run(text string) error {
	r, err := c.session.Query(c.context, text, nil)
	if err != nil {
		return c.fail(err)
	}
	return c.result(r, false, 0)
}

// fieldList is COM_FIELD_LIST, from which the mysql client learns names for completion.
func (c *conn) fieldList(content []byte) error {
	table, _, _ := bytes.Cut(content, []byte{0})
	r, err := c.session.Query(c.context, "SELECT * FROM `"+string(bytes.ReplaceAll(table, []byte("`"), []byte("``")))+"` LIMIT 0", nil)
	if err != nil {
		return c.fail(err)
	}
	r.Close()
	for _, column := range r.Columns {
		if err := c.write(append(c.columnPacket(column), 0xFB)); err != nil { // no default
			return err
		}
	}
	if err := c.end(0); err != nil {
		return err
	}
	return c.flush()
}

// kill ends another connection, or its current command.
func (c *conn) kill(id uint32, query bool) error {
	other := c.server.conn(id)
	if other == nil {
		return c.fail(mysqlerr.New(1094, "Unknown thread id: %d", id))
	}
	other.mu.Lock()
	err := c.session.MayKill(other.session)
	if err == nil && other.cancel != nil {
		other.cancel()
	}
	other.mu.Unlock()
	if err != nil {
		return c.fail(err)
	}
	if !query {
		other.raw.Close()
	}
	return c.ok(&schema.Result{}, 0)
}

// changeUser is COM_CHANGE_USER: the connection starts again as another user.
func (c *conn) changeUser(ctx context.Context, content []byte) error {
	r := &reader{b: content}
	user := r.zeroString()
	r.take(int(r.uint8()))
	database := r.zeroString()
	r.uint16()
	plugin := nativePassword
	if c.capabilities&pluginAuth != 0 {
		plugin = r.zeroString()
	}
	c.closeStatements()
	c.session.Reset()
	c.SetReadDeadline(time.Now().Add(handshakeTime))
	defer c.SetReadDeadline(time.Time{})
	return c.login(ctx, user, database, plugin, "", nil, nil)
}
