package wire

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"net"
	"strings"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// Capabilities. The two sides use those that both have.
const (
	longPassword     = 1 << 0
	foundRows        = 1 << 1
	longFlag         = 1 << 2
	connectWithDB    = 1 << 3
	protocol41       = 1 << 9
	useTLS           = 1 << 11
	transactions     = 1 << 13
	secureConnection = 1 << 15
	multiStatements  = 1 << 16
	multiResults     = 1 << 17
	psMultiResults   = 1 << 18
	pluginAuth       = 1 << 19
	connectAttrs     = 1 << 20
	lengthAuth       = 1 << 21
	deprecateEOF     = 1 << 24

	ours = longPassword | foundRows | longFlag | connectWithDB | protocol41 | transactions | secureConnection | multiStatements | multiResults | psMultiResults | pluginAuth | connectAttrs |
		lengthAuth | deprecateEOF
)

// Numbers of collations: utf8mb4_general_ci, and the one for what is not text.
const (
	textCollation   = 45
	binaryCollation = 63
)

// Bits of a server's status.
const (
	statusInTransaction = 1
	statusAutocommit    = 2
	moreResults         = 8
	cursorExists        = 64
	lastRowSent         = 128
)

// handshake begins a connection: it greets, switches to TLS if the client wants it, and checks who
// the client is.
func (c *conn) handshake(ctx context.Context) error {
	offered := uint32(ours)
	if c.server.TLS != nil {
		offered |= useTLS
	}
	salt := newSalt()
	b := append([]byte{10}, schema.Version...)
	b = append(b, 0)
	b = appendUint32(b, c.id)
	b = append(append(b, salt[:8]...), 0)
	b = appendUint16(b, uint16(offered))
	b = append(b, textCollation)
	b = appendUint16(b, statusAutocommit)
	b = appendUint16(b, uint16(offered>>16))
	b = append(b, byte(len(salt)+1))
	b = append(b, make([]byte, 10)...)
	b = append(append(b, salt[8:]...), 0)
	b = append(append(b, sha2Password...), 0)
	if err := c.send(b); err != nil {
		return err
	}
	answer, err := c.read()
	if err != nil {
		return err
	}
	if len(answer) == 32 && c.server.TLS != nil && uint32(answer[1])<<8&useTLS != 0 {
		if err := c.startTLS(); err != nil {
			return err
		}
		if answer, err = c.read(); err != nil {
			return err
		}
	}
	if c.server.TLSOnly && c.secure == nil {
		return c.refuse(mysqlerr.New(3159, "Connections using insecure transport are prohibited: this server wants TLS (--ssl)"))
	}
	r := &reader{b: answer}
	c.capabilities = r.uint32() & offered
	if r.bad || c.capabilities&protocol41 == 0 {
		return c.refuse(mysqlerr.New(1043, "Bad handshake: clients before MySQL 4.1 are not served"))
	}
	r.take(4 + 1 + 23)
	user := r.zeroString()
	var proof []byte
	if c.capabilities&lengthAuth != 0 {
		proof = r.take(r.length())
	} else {
		proof = r.take(int(r.uint8()))
	}
	database := ""
	if c.capabilities&connectWithDB != 0 {
		database = r.zeroString()
	}
	plugin := nativePassword
	if c.capabilities&pluginAuth != 0 {
		plugin = r.zeroString()
	}
	if r.bad {
		return c.refuse(mysqlerr.New(1043, "Bad handshake"))
	}
	return c.login(ctx, user, database, plugin, sha2Password, salt, bytes.Clone(proof))
}

// login checks a client's answer to the salt, which was sent for the plugin asked. A client with
// another plugin gets a salt for that.
func (c *conn) login(ctx context.Context, user, database, plugin, asked string, salt, proof []byte) error {
	if plugin != asked {
		if plugin != sha2Password {
			plugin = nativePassword
		}
		salt = newSalt()
		b := append([]byte{0xFE}, plugin...)
		b = append(append(b, 0), salt...)
		if err := c.send(append(b, 0)); err != nil {
			return err
		}
		var err error
		if proof, err = c.read(); err != nil {
			return err
		}
	}
	// An empty password is sent as nothing, or as its final zero.
	if len(proof) == 1 && proof[0] == 0 {
		proof = nil
	}
	if !c.server.knows(user, plugin, salt, proof) {
		using := "NO"
		if len(proof) > 0 {
			using = "YES"
		}
		select { // guessing takes time
		case <-time.After(c.server.refusal()):
		case <-ctx.Done():
		}
		return c.refuse(mysqlerr.New(1045, "Access denied for user '%s'@'%s' (using password: %s)", user, c.host(), using))
	}
	if err := c.admit(ctx); err != nil {
		return c.refuse(err)
	}
	c.session.FoundRows = c.capabilities&foundRows != 0
	c.session.Identify(c.id, user+"@"+c.host(), c.secure)
	c.limit = contentMax
	if database != "" {
		if err := c.session.Use(database); err != nil {
			return c.refuse(err)
		}
	}
	if plugin == sha2Password && len(proof) > 0 {
		if err := c.write([]byte{1, 3}); err != nil { // it is already known to be right
			return err
		}
	}
	return c.ok(&schema.Result{}, 0)
}

// startTLS goes on with TLS on the same connection.
func (c *conn) startTLS() error {
	secure := tls.Server(buffered{c.Conn, c.r}, c.server.TLS)
	if err := secure.Handshake(); err != nil {
		return err
	}
	sequence := c.sequence
	c.packets = newPackets(secure)
	state := secure.ConnectionState()
	c.sequence, c.secure = sequence, &state
	return nil
}

// buffered is a connection of which part was already read.
type buffered struct {
	net.Conn
	r *bufio.Reader
}

func (b buffered) Read(p []byte) (int, error) { return b.r.Read(p) }

func (c *conn) host() string {
	host, _, err := net.SplitHostPort(c.RemoteAddr().String())
	if err != nil || strings.HasPrefix(host, "127.") || host == "::1" {
		return "localhost"
	}
	return host
}
