package recording

import (
	"unsafe"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
)

// Where the fields of heads are that package format declares. They are read as bytes, the lowest
// first, on whatever machine the reader runs.
const (
	packetHead = format.PacketSize
	contentAt  = int(unsafe.Offsetof(format.Packet{}.Content))
	lostAt     = int(unsafe.Offsetof(format.Packet{}.Lost))
	sizeAt     = int(unsafe.Offsetof(format.Packet{}.Size))

	recordHead  = 24
	kindAt      = int(unsafe.Offsetof(wideRecord{}.Kind))
	wordsAt     = int(unsafe.Offsetof(wideRecord{}.Words))
	depthAt     = int(unsafe.Offsetof(wideRecord{}.Depth))
	functionAt  = int(unsafe.Offsetof(wideRecord{}.Function))
	goroutineAt = int(unsafe.Offsetof(wideRecord{}.Goroutine))

	tableHead   = format.TableRecordSize
	tableKindAt = int(unsafe.Offsetof(format.TableRecord{}.Kind))
	tableSizeAt = int(unsafe.Offsetof(format.TableRecord{}.Size))
)

var _ = [1]int{}[unsafe.Sizeof(wideRecord{})-recordHead]
