package live

import (
	"unsafe"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
)

// The reader runs on the same machine as the program, so what package format declares is as the
// compiler lays it out.
const (
	callSize    = uint64(unsafe.Sizeof(format.Call{}))
	othersSize  = uint64(unsafe.Sizeof(format.Others{}))
	summarySize = uint64(unsafe.Sizeof(format.Summary{}))
	tallySize   = uint64(unsafe.Sizeof(format.Tally{}))

	numberAt = uint64(unsafe.Offsetof(format.Packet{}.Number))
)
