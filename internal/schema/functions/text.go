package functions

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"math"
	"math/bits"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/engine"
)

// textFunctions are MySQL's functions that search in text, or write numbers and checksums in other
// ways.
var textFunctions = map[string]function{
	"ascii":         {1, func(a []value) value { return firstBytes(AsText(a[0]), 1) }},
	"ord":           {1, func(a []value) value { return firstBytes(AsText(a[0]), utf8.UTFMax) }},
	"space":         {1, func(a []value) value { return repeated("space", " ", AsNumber(a[0])) }},
	"elt":           {-1, elt},
	"trim_both":     {2, func(a []value) value { return trim(a, true, true) }},
	"trim_leading":  {2, func(a []value) value { return trim(a, true, false) }},
	"trim_trailing": {2, func(a []value) value { return trim(a, false, true) }},
	"hex":           {1, hexadecimal},
	"conv":          {3, conv},
	"bin":           {1, func(a []value) value { return conv([]value{a[0], int64(10), int64(2)}) }},
	"oct":           {1, func(a []value) value { return conv([]value{a[0], int64(10), int64(8)}) }},
	"bit_count": {1, func(a []value) value {
		n, _ := signed(a).(int64)
		return int64(bits.OnesCount64(uint64(n)))
	}},
	"crc32": {1, func(a []value) value { return int64(crc32.ChecksumIEEE([]byte(AsText(a[0])))) }},
	"md5":   {1, digest(md5.New)},
	"sha1":  {1, digest(sha1.New)},
	"sha":   {1, digest(sha1.New)},
	"sha2": {2, func(a []value) value {
		if of := sha2[AsNumber(a[1])]; of != nil {
			return digest(of)(a)
		}
		return nil
	}},
	"rand":         {0, func([]value) value { return rand.Float64() }},
	"format_bytes": {1, formatBytes},
	"bit_length":   {1, func(a []value) value { return 8 * int64(len(AsText(a[0]))) }},
	"quote":        {-1, quote},
	"soundex":      {1, func(a []value) value { return soundex(AsText(a[0])) }},
	"to_base64":    {1, toBase64},
	"from_base64": {1, func(a []value) value {
		text, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(AsText(a[0])), ""))
		if err != nil {
			return nil
		}
		return string(text)
	}},
	"inet_aton": {1, func(a []value) value {
		address, err := netip.ParseAddr(AsText(a[0]))
		if err != nil || !address.Is4() {
			return nil
		}
		number := int64(0)
		for _, b := range address.As4() {
			number = number<<8 | int64(b)
		}
		return number
	}},
	"inet_ntoa": {1, func(a []value) value {
		n := math.Round(AsNumber(a[0]))
		if !(n >= 0 && n <= math.MaxUint32) {
			return nil
		}
		u := uint32(n)
		return netip.AddrFrom4([4]byte{byte(u >> 24), byte(u >> 16), byte(u >> 8), byte(u)}).String()
	}},
	"uuid": {0, func([]value) value {
		n := [2]uint64{rand.Uint64(), rand.Uint64()}
		return fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x", n[0]>>32, n[0]>>16&0xffff, n[0]&0xfff, n[1]>>48&0x3fff|0x8000, n[1]&(1<<48-1))
	}},
	"insert_text": {4, insertText},
	"cot": {1, func(a []value) value {
		if f := 1 / math.Tan(AsNumber(a[0])); !math.IsInf(f, 0) && !math.IsNaN(f) {
			return f
		}
		return nil
	}},
	"atan": between(1, 2, func(a []value) value {
		if len(a) == 2 {
			return math.Atan2(AsNumber(a[0]), AsNumber(a[1]))
		}
		return math.Atan(AsNumber(a[0]))
	}),
}

// quote is QUOTE(text): a string as a statement has it.
func quote(a []value) value {
	if len(a) != 1 {
		return wrongCount(a)
	}
	if a[0] == nil {
		return "NULL"
	}
	text := AsText(a[0])
	if len(text) > engine.MaxText/2-2 {
		return tooLong("quote")
	}
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\x00", `\0`, "\x1a", `\Z`).Replace(text) + "'"
}

// soundex is SOUNDEX(text): how an English word sounds, the first letter and digits for others.
// Unlike other programs' it has any number of digits.
func soundex(text string) string {
	const codes = "01230120022455012623010202" // of A to Z
	var b strings.Builder
	var last byte
	for _, c := range strings.ToUpper(text) {
		if c < 'A' || c > 'Z' {
			continue
		}
		code := codes[c-'A']
		switch {
		case b.Len() == 0:
			b.WriteRune(c)
		case code != '0' && code != last:
			b.WriteByte(code)
		}
		if b.Len() == 1 || code != '0' {
			last = code
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return (b.String() + "000")[:max(b.Len(), 4)]
}

// toBase64 is TO_BASE64(text), in lines of 76 characters.
func toBase64(a []value) value {
	text := AsText(a[0])
	if len(text) > engine.MaxText/2 {
		return tooLong("to_base64")
	}
	encoded := base64.StdEncoding.EncodeToString([]byte(text))
	var b strings.Builder
	for len(encoded) > 76 {
		b.WriteString(encoded[:76] + "\n")
		encoded = encoded[76:]
	}
	return b.String() + encoded
}

// insertText is INSERT(text, from, length, by).
func insertText(a []value) value {
	text, by := AsText(a[0]), AsText(a[3])
	count := float64(utf8.RuneCountInString(text))
	from, n := math.Round(AsNumber(a[1])), math.Round(AsNumber(a[2]))
	if !(from >= 1 && from <= count) {
		return text
	}
	if !(n >= 0 && from-1+n <= count) {
		n = count - from + 1
	}
	begin := Characters(text, int(from)-1)
	if len(text)+len(by) > engine.MaxText {
		return tooLong("insert")
	}
	return text[:begin] + by + text[begin+Characters(text[begin:], int(n)):]
}

// firstBytes returns the bytes of the first character as a number, at most most of them.
func firstBytes(s string, most int) value {
	_, n := utf8.DecodeRuneInString(s)
	number := int64(0)
	for i := range min(n, most) {
		number = number<<8 | int64(s[i])
	}
	return number
}

// elt is ELT(n, a, b): the nth of the others.
func elt(a []value) value {
	if len(a) < 2 {
		return wrongCount(a)
	}
	if n := math.Round(AsNumber(a[0])); a[0] != nil && n >= 1 && n < float64(len(a)) {
		return a[int(n)]
	}
	return nil
}

// trim is TRIM(part FROM text).
func trim(a []value, leading, trailing bool) value {
	part, text := AsText(a[0]), AsText(a[1])
	for leading && part != "" && strings.HasPrefix(text, part) {
		text = text[len(part):]
	}
	for trailing && part != "" && strings.HasSuffix(text, part) {
		text = text[:len(text)-len(part)]
	}
	return text
}

// lastExpression is the last one that was read: a statement uses the same one for each row.
var lastExpression atomic.Pointer[matcher]

// expression reads a regular expression, which ignores case.
func expression(text string) (*matcher, error) {
	text = "(?i)" + text
	if last := lastExpression.Load(); last != nil && last.String() == text {
		return last, nil
	}
	re, err := newMatcher(text)
	if err == nil {
		lastExpression.Store(re)
	}
	return re, err
}

// regexpLike is REGEXP_LIKE(text, expression[, flags]).
func regexpLike(s Statement, a []value) value {
	switch {
	case len(a) < 2 || len(a) > 3:
		return wrongCount(a)
	case slices.Contains(a, nil):
		return nil
	}
	text := AsText(a[1])
	if len(a) == 3 {
		flags := strings.NewReplacer("c", "-i", "n", "s", "u", "").Replace(AsText(a[2]))
		text = "(?" + flags + ":" + text + ")"
	}
	return ofMatch(func(_ string, at []int) value { return Truth(at != nil) })(s, []value{a[0], text})
}

// withCase returns a function of a regular expression that does not ignore case.
func withCase(f func(Statement, []value) value) func(Statement, []value) value {
	return func(s Statement, a []value) value {
		a = slices.Clone(a)
		a[1] = "(?-i:" + AsText(a[1]) + ")"
		return f(s, a)
	}
}

// ofMatch returns a function of a text and a regular expression: f of where the first match in the
// text is, nil if there is none.
func ofMatch(f func(text string, at []int) value) func(Statement, []value) value {
	return func(s Statement, a []value) value {
		re, err := expression(AsText(a[1]))
		if err != nil {
			return err
		}
		text := AsText(a[0])
		at, err := re.find(text, s.Stopped)
		if err != nil {
			return err
		}
		return f(text, at)
	}
}

var regexpSubstr = ofMatch(func(text string, at []int) value {
	if at == nil {
		return ""
	}
	return text[at[0]:at[1]]
})

var regexpInstr = ofMatch(func(text string, at []int) value {
	if at == nil {
		return int64(0)
	}
	return int64(utf8.RuneCountInString(text[:at[0]]) + 1)
})

// hexadecimal is HEX(x), of a number or of text.
func hexadecimal(a []value) value {
	switch v := a[0].(type) {
	case int64:
		return fmt.Sprintf("%X", uint64(v))
	case float64:
		return fmt.Sprintf("%X", uint64(int64(math.Round(v))))
	}
	text := AsText(a[0])
	if len(text) > engine.MaxText/2 {
		return tooLong("hex")
	}
	return strings.ToUpper(hex.EncodeToString([]byte(text)))
}

// conv is CONV(number, base, other base), of numbers below 1<<64. With a negative base they are
// signed.
func conv(a []value) value {
	from, to := int(AsNumber(a[1])), int(AsNumber(a[2]))
	if base := max(from, -from); base < 2 || base > 36 {
		return nil
	}
	if base := max(to, -to); base < 2 || base > 36 {
		return nil
	}
	digits, negative := strings.CutPrefix(strings.TrimSpace(AsText(a[0])), "-")
	if digits == "" {
		return nil
	}
	end := 0
	for end < len(digits) {
		if _, err := strconv.ParseUint(digits[end:end+1], max(from, -from), 8); err != nil {
			break
		}
		end++
	}
	n, _ := strconv.ParseUint("0"+digits[:end], max(from, -from), 64) // the largest number if it is larger
	if negative {
		n = -n
	}
	if to < 0 {
		return strings.ToUpper(strconv.FormatInt(int64(n), -to))
	}
	return strings.ToUpper(strconv.FormatUint(n, to))
}

// digest returns a function of the digest of a text.
func digest(of func() hash.Hash) func([]value) value {
	return func(a []value) value {
		h := of()
		io.WriteString(h, AsText(a[0]))
		return hex.EncodeToString(h.Sum(nil))
	}
}

// sha2 are the digests of SHA2(text, bits), by their bits.
var sha2 = map[float64]func() hash.Hash{0: sha256.New, 224: sha256.New224, 256: sha256.New, 384: sha512.New384, 512: sha512.New}

// formatBytes is MySQL's FORMAT_BYTES.
func formatBytes(a []value) value {
	n := AsNumber(a[0])
	for i, unit := range []string{"EiB", "PiB", "TiB", "GiB", "MiB", "KiB"} {
		if size := float64(uint64(1) << (60 - 10*i)); math.Abs(n) >= size {
			return fmt.Sprintf("%.2f %s", n/size, unit)
		}
	}
	return fmt.Sprintf("%d bytes", int64(n))
}
