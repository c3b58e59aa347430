// Package ownfile decides which files and directories may be trusted with what a program did:
// nobody but its user is to choose where that is written, or to read it there.
//
// The package is part of the tracer's core too, so it imports nothing.
package ownfile

// A Stat is what the system says of an open file. The numbers are those of Linux, which other
// systems share.
type Stat struct {
	Mode  uint32 // type and permissions
	Owner uint32
	Links uint64 // its names
}

// The types of files, in Mode.
const (
	typeMask  = 0o170000
	fifo      = 0o010000
	directory = 0o040000
	regular   = 0o100000
)

const othersWrite = 0o022

// A Refusal is the reason why a file is not used.
type Refusal uint8

const (
	None     Refusal = iota
	Owner            // it is another user's
	Writable         // others may write to it
	Links            // it has several names, one of which others may have given it
	Symlink          // others may have made the symbolic link that leads to it
)

func (r Refusal) String() string {
	return [...]string{
		"",
		"it belongs to another user; name one of your own",
		"others may write to it; \"chmod go-w\" changes that",
		"it has several names, and others may write to its directory; name another file",
		"a symbolic link leads there, and others may write to the link's directory; name what it leads to",
	}[r]
}

// Shared reports whether others than user may change what is in the directory. Who owns the root of
// the file system, root as a rule, may change anything, and is trusted.
func (s Stat) Shared(user, root uint32) bool {
	return s.Owner != user && s.Owner != root && s.Owner != 0 || s.Mode&othersWrite != 0
}

// Refusal returns the reason why user does not write to an open file that was there before, or to
// what is in a directory. shared is what [Stat.Shared] reports of the directory that it is in.
// Devices are never refused, since nobody but root makes them.
func (s Stat) Refusal(user, root uint32, shared bool) Refusal {
	switch s.Mode & typeMask {
	case fifo:
		if s.Owner != user && s.Owner != root && s.Owner != 0 {
			return Owner
		}
	case regular, directory:
		switch {
		case s.Owner != user:
			return Owner
		case s.Mode&othersWrite != 0:
			return Writable
		case shared && s.Links > 1 && s.Mode&typeMask == regular:
			return Links
		}
	}
	return None
}
