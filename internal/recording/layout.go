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

	recordHead  = format.RecordSize
	kindAt      = int(unsafe.Offsetof(format.Record{}.Kind))
	wordsAt     = int(unsafe.Offsetof(format.Record{}.Words))
	depthAt     = int(unsafe.Offsetof(format.Record{}.Depth))
	functionAt  = int(unsafe.Offsetof(format.Record{}.Function))
	goroutineAt = int(unsafe.Offsetof(format.Record{}.Goroutine))

	tableHead   = format.TableRecordSize
	tableKindAt = int(unsafe.Offsetof(format.TableRecord{}.Kind))
	tableSizeAt = int(unsafe.Offsetof(format.TableRecord{}.Size))
)
