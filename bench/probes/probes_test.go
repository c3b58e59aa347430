// Package probes has what bench measures static probes with. Each operation is a thousand.
package probes

import (
	"net"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/probe"
)

var (
	typed   = probe.New2[string, int]("bench", "typed", "name", "n")
	untyped = probe.New("bench", "untyped", "name", "n")
)

var sum int

func BenchmarkNothing(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		for i := range 1000 {
			sum += i
		}
	}
}

// A sum as in BenchmarkNothing, and a probe that fires.
func BenchmarkFire(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		for i := range 1000 {
			sum += i
			typed.Fire("a name", i)
		}
	}
}

func BenchmarkFireAny(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		for i := range 1000 {
			sum += i
			untyped.Fire("a name", i)
		}
	}
}

// A hundred bytes to and from another goroutine by TCP: two sends, two receives.
func BenchmarkTCPEcho(b *testing.B) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		buf := make([]byte, 100)
		for {
			n, err := c.Read(buf)
			if err != nil {
				return
			}
			c.Write(buf[:n])
		}
	}()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	buf := make([]byte, 100)
	b.ReportAllocs()
	for b.Loop() {
		for range 1000 {
			c.Write(buf)
			if _, err := c.Read(buf); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// A datagram of a hundred bytes to oneself: a send and a receive.
func BenchmarkUDP(b *testing.B) {
	c, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	to := c.LocalAddr().(*net.UDPAddr).AddrPort()
	buf := make([]byte, 100)
	b.ReportAllocs()
	for b.Loop() {
		for range 1000 {
			c.WriteToUDPAddrPort(buf, to)
			if _, _, err := c.ReadFromUDPAddrPort(buf); err != nil {
				b.Fatal(err)
			}
		}
	}
}
