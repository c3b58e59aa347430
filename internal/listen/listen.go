// Package listen listens for the clients of this module's servers: on addresses of this machine
// alone, unless they are told otherwise.
package listen

import (
	"fmt"
	"net"
)

// A UsageError says that an option does not mean anything.
type UsageError struct{ Err error }

func (e UsageError) Error() string { return e.Err.Error() }

// Usagef returns a [UsageError].
func Usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// Options are where a server listens.
type Options struct {
	Flag     string // that has the address, for errors
	Address  string // HOST:PORT, or :PORT: on this machine, or with Anywhere on all its addresses
	Anywhere bool   // addresses are allowed that are reached from other machines
	Instead  string // what is said of those that are not
}

// On listens.
func On(o Options) (net.Listener, error) {
	host, port, err := net.SplitHostPort(o.Address)
	if err != nil {
		return nil, Usagef("%s: %v: want HOST:PORT or :PORT", o.Flag, err)
	}
	if !o.Anywhere {
		if host == "" {
			host = "127.0.0.1"
		}
		ips, err := net.LookupIP(host)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %v: give the address of this machine, or none: :PORT", o.Flag, o.Address, err)
		}
		for _, ip := range ips {
			if !ip.IsLoopback() {
				return nil, Usagef("%s %s is reached from other machines%s", o.Flag, o.Address, o.Instead)
			}
		}
		host = ips[0].String()
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w: give another address; port 0 is a free one", o.Flag, o.Address, err)
	}
	return l, nil
}
