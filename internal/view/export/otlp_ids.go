package export

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// The ids of OpenTelemetry. Those that a program made itself, to tell them to other programs, are
// values of its requests. All others are made from the recording's UUID and the call, so that a
// call has the same ids whenever and however often it is exported.
type (
	traceID [16]byte
	spanID  [8]byte
)

// idsOf returns ids that a call has: of its span, and of the trace that it would begin. A line has
// an id of this form, too, which is in no trace: by its ticks and its place among lines of these.
func idsOf(r *recording.Recording, goroutine uint64, function uint32, number uint64) (traceID, spanID) {
	b := append([]byte{}, r.Env.UUID[:]...)
	b = binary.LittleEndian.AppendUint64(b, goroutine)
	b = binary.LittleEndian.AppendUint32(b, function)
	b = binary.LittleEndian.AppendUint64(b, number)
	sum := sha256.Sum256(b)
	return traceID(sum[:16]), spanID(sum[16:24])
}

// parseSpan reads the value span of a request: TRACE-SPAN in lower-case hex, none of which is 0.
func parseSpan(text string) (trace traceID, span spanID, ok bool) {
	first, second, _ := strings.Cut(text, "-")
	ok = parseID(trace[:], first) && parseID(span[:], second)
	return trace, span, ok
}

// parseID reads an id.
func parseID(to []byte, text string) bool {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(to) || text != strings.ToLower(text) {
		return false
	}
	any := byte(0)
	for _, digit := range b {
		any |= digit
	}
	copy(to, b)
	return any != 0
}
