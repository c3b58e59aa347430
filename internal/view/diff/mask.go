package diff

import (
	"bytes"
	"slices"
	"strconv"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// A masker takes out of values what differs from run to run of the same program: addresses, times,
// measured durations, random identifiers, ports, and lengths of channels.
type masker struct {
	forest   *forest           // is told of values with lists
	from, to time.Time         // an integer that is a time between these is one
	hashes   map[uint64]uint64 // of what was masked before, by the hash of the text
}

// hashesMax is how many hashes are kept.
const hashesMax = 1 << 20

func newMasker(r *recording.Recording, f *forest) *masker {
	const day = 24 * time.Hour
	clock := r.Converter()
	first, last := r.Clocks()
	return &masker{f, clock.Wall(first.Ticks).Add(-day), clock.Wall(last.Ticks).Add(day), map[uint64]uint64{}}
}

// hash returns the hash of a value without what varies.
func (m *masker) hash(typ string, text []byte) uint64 {
	key := hashText(text)
	if typ == "time.Duration" {
		key++
	} else if len(text) < masksLeast {
		return key
	}
	h, ok := m.hashes[key]
	if !ok {
		if len(m.hashes) >= hashesMax {
			clear(m.hashes)
		}
		text = m.mask(typ, text)
		h = hashText(text)
		m.hashes[key] = h
		m.forest.list(h, text)
	}
	return h
}

const masksLeast = 5 // bytes: what is shorter is not masked

// varying matches what is masked wherever it is in a text.
var varying = words.Regexp(`0x[0-9a-f]{5,}` + // an address
	`|[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z| ?[+-][0-9]{2}:?[0-9]{2})?` +
	`|\b[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?` +
	`|\b([0-9]+h)?([0-9]+m)?[0-9]+\.[0-9]+(ns|us|µs|ms|s)\b` +
	`|\bm=[+-][0-9.]+` + // the monotonic clock in a time's text
	`|[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}` +
	`|(?:[0-9\]]|localhost):(3[2-9]|[4-6][0-9])[0-9]{3}\b` + // a port that the system chose
	`|\bgoroutine [0-9]+` +
	`|\bchan\(len=[0-9]+` +
	`|[0-9A-Za-z_-]{16,}`) // a word that may be random

// Within a path, long numbers are names of temporary files.
var pathNumber = words.Regexp(`[0-9]{6,}`)

// cut matches a text that was cut.
var cut = words.Regexp(`"((?:[^"\\]|\\.)*)"\.\.\.\([0-9]+ more\)`)

// mask returns the text of a value of a type without what varies. The result is valid until text is
// changed.
func (m *masker) mask(typ string, text []byte) []byte {
	if typ == "time.Duration" {
		return maskDuration(text)
	}
	switch digit := bytes.IndexAny(text, "0123456789"); {
	case digit < 0 || len(text) < masksLeast: // nothing that is masked is like that
		return text
	case len(text) >= 7 && text[0] == '0' && text[1] == 'x' && isHex(text[2:]):
		return masked
	}
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		if len(text) >= 10 && m.isTime(n) {
			return masked
		}
		return text
	}
	if bytes.Contains(text, []byte(`"...(`)) {
		text = cut().ReplaceAllFunc(text, m.maskCut)
	}
	return m.maskText(text, func([]byte, int) {})
}

// maskText masks what varies in a text, and calls f with each and how many bytes it may have.
func (m *masker) maskText(text []byte, f func(found []byte, most int)) []byte {
	out := varying().ReplaceAllFunc(text, func(found []byte) []byte {
		if len(found) >= 16 && isWord(found) && !random(found) {
			return found
		}
		f(found, (len(found)+3)/4*4)
		return masked
	})
	if bytes.IndexByte(out, '/') >= 0 {
		out = pathNumber().ReplaceAllFunc(out, func(found []byte) []byte {
			f(found, max(10, len(found)))
			return masked
		})
	}
	return out
}

// maskCut masks what varies in a text that was cut. Where it was cut depends on how long that was:
// it is cut again where it would be if that had all the bytes it may have, and before a number.
func (m *masker) maskCut(text []byte) []byte {
	const numbers = "0123456789_"
	less := 0
	body := m.maskText(text[1:bytes.LastIndexByte(text, '"')], func(found []byte, most int) { less += most - len(found) })
	if end := bytes.TrimRight(body, numbers); len(end) < len(body) {
		body = end
	} else {
		body = bytes.TrimRight(body[:max(0, len(body)-less)], numbers)
	}
	return slices.Concat([]byte(`"`), body, []byte(`"...`))
}

var masked = []byte("_")

// isTime reports whether n is a time of about when the program ran, in s, ms, us or ns.
func (m *masker) isTime(n int64) bool {
	for _, t := range []time.Time{time.Unix(n, 0), time.UnixMilli(n), time.UnixMicro(n), time.Unix(0, n)} {
		if t.After(m.from) && t.Before(m.to) {
			return true
		}
	}
	return false
}

// maskDuration masks a duration that was measured rather than chosen: in the text that
// recording.AppendDuration makes it has decimals that are not 0, or it is of ns that do not end in
// 00.
func maskDuration(text []byte) []byte {
	dot := bytes.IndexByte(text, '.')
	if dot < 0 && (bytes.HasSuffix(text, []byte("00ns")) || !bytes.HasSuffix(text, []byte("ns"))) || dot >= 0 && len(bytes.Trim(text[dot+1:], "0nµums")) == 0 {
		return text
	}
	return masked
}

func isHex(text []byte) bool {
	for _, c := range text {
		if !(c-'a' < 6 || c-'0' < 10) {
			return false
		}
	}
	return true
}

func isWord(text []byte) bool {
	for _, c := range text {
		if !(c|0x20-'a' < 26 || c-'0' < 10 || c == '_' || c == '-') {
			return false
		}
	}
	return true
}

// random reports whether a long word looks random: digits and letters take turns in it often, or it
// is as crypto/rand.Text and ULIDs are.
func random(word []byte) bool {
	if len(word) == 26 && bytes.ContainsAny(word, "0123456789") && bytes.IndexFunc(word, notUpper) < 0 {
		return true
	}
	turns := 0
	for i := 1; i < len(word); i++ {
		if (word[i-1]-'0' < 10) != (word[i]-'0' < 10) {
			turns++
		}
	}
	return turns >= 4
}

func notUpper(r rune) bool { return !(r-'A' < 26 && r >= 'A' || r-'0' < 10 && r >= '0') }
