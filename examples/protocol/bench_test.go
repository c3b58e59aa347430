package protocol_test

import (
	"context"
	"database/sql"
	"encoding/binary"
	"io"
	"net"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/protocol"
	"github.com/go-sql-driver/mysql"
)

const rows = 10000

// BenchmarkRows reads rows from a server within the program, which has them ready: what an event costs is seen best where the rest is least. There are two events a row. Built plainly, or
// without a plugin, there are none; "on" has a plugin that does nothing.
func BenchmarkRows(b *testing.B) {
	b.Run("off", func(b *testing.B) { readRows(b) })
	b.Run("on", func(b *testing.B) {
		if err := protocol.Load(&plugin{event: func(*protocol.Conn, any, protocol.Stage, protocol.Event, *protocol.Args) bool { return false }}); err != nil {
			b.Skip(err)
		}
		defer protocol.Unload()
		readRows(b)
	})
}

func readRows(b *testing.B) {
	config := mysql.NewConfig()
	config.CheckConnLiveness = false
	config.DialFunc = func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go serve(server)
		return client, nil
	}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		b.Fatal(err)
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	if err := db.Ping(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		result, err := db.Query("select")
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for result.Next() {
			n++
		}
		if err := result.Err(); err != nil || n != rows {
			b.Fatal(n, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
}

// serve is a server: it greets, accepts, and answers pings with OK and all else with rows.
func serve(c net.Conn) {
	defer c.Close()
	greeting := append([]byte("\x0a5.5.27\x00\x01\x00\x00\x0012345678\x00\xff\xf7\x21\x02\x00\x0f\x80\x15"), make([]byte, 10)...)
	greeting = append(greeting, "123456789012\x00mysql_native_password\x00"...)
	ok := []byte{0, 0, 0, 2, 0, 0, 0}
	answer := packet(nil, 1, []byte{1})
	answer = packet(answer, 2, []byte("\x03def\x00\x00\x00\x01n\x00\x0c\x21\x00\x10\x00\x00\x00\xfd\x00\x00\x00\x00\x00"))
	answer = packet(answer, 3, []byte{0xFE, 0, 0, 2, 0})
	for i := range rows {
		answer = packet(answer, byte(4+i), []byte("\x05hello"))
	}
	answer = packet(answer, byte((4+rows)%256), []byte{0xFE, 0, 0, 2, 0})
	c.Write(packet(nil, 0, greeting))
	for n := 0; ; n++ {
		var head [4]byte
		if _, err := io.ReadFull(c, head[:]); err != nil {
			return
		}
		body := make([]byte, binary.LittleEndian.Uint32(head[:])&0xFFFFFF)
		if _, err := io.ReadFull(c, body); err != nil {
			return
		}
		switch {
		case n == 0:
			c.Write(packet(nil, 2, ok))
		case body[0] == 14:
			c.Write(packet(nil, 1, ok))
		default:
			c.Write(answer)
		}
	}
}

// packet appends a packet.
func packet(to []byte, sequence byte, body []byte) []byte {
	to = append(to, byte(len(body)), byte(len(body)>>8), byte(len(body)>>16), sequence)
	return append(to, body...)
}
