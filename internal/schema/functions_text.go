package schema

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"database/sql/driver"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode/utf8"
)

// textFunctions are MySQL's functions that search in text, or write numbers and checksums in other
// ways.
var textFunctions = map[string]function{
	"ascii":         {1, func(a []driver.Value) driver.Value { return firstBytes(asText(a[0]), 1) }},
	"ord":           {1, func(a []driver.Value) driver.Value { return firstBytes(asText(a[0]), utf8.UTFMax) }},
	"space":         {1, func(a []driver.Value) driver.Value { return repeated("space", " ", asNumber(a[0])) }},
	"elt":           {-1, elt},
	"trim_both":     {2, func(a []driver.Value) driver.Value { return trim(a, true, true) }},
	"trim_leading":  {2, func(a []driver.Value) driver.Value { return trim(a, true, false) }},
	"trim_trailing": {2, func(a []driver.Value) driver.Value { return trim(a, false, true) }},
	"hex":           {1, hexadecimal},
	"conv":          {3, conv},
	"bin":           {1, func(a []driver.Value) driver.Value { return conv([]driver.Value{a[0], int64(10), int64(2)}) }},
	"oct":           {1, func(a []driver.Value) driver.Value { return conv([]driver.Value{a[0], int64(10), int64(8)}) }},
	"bit_count": {1, func(a []driver.Value) driver.Value {
		n, _ := signed(a).(int64)
		return int64(bits.OnesCount64(uint64(n)))
	}},
	"crc32": {1, func(a []driver.Value) driver.Value { return int64(crc32.ChecksumIEEE([]byte(asText(a[0])))) }},
	"md5": {1, func(a []driver.Value) driver.Value {
		s := md5.Sum([]byte(asText(a[0])))
		return hex.EncodeToString(s[:])
	}},
	"sha1":         {1, sha1Hex},
	"sha":          {1, sha1Hex},
	"sha2":         {2, sha2},
	"rand":         {0, func([]driver.Value) driver.Value { return rand.Float64() }},
	"format_bytes": {1, formatBytes},
}

// firstBytes returns the bytes of the first character as a number, at most most of them.
func firstBytes(s string, most int) driver.Value {
	_, n := utf8.DecodeRuneInString(s)
	number := int64(0)
	for i := range min(n, most) {
		number = number<<8 | int64(s[i])
	}
	return number
}

// elt is ELT(n, a, b): the nth of the others.
func elt(a []driver.Value) driver.Value {
	if len(a) < 2 {
		return fmt.Errorf("wrong number of arguments to function: %d", len(a))
	}
	if n := math.Round(asNumber(a[0])); a[0] != nil && n >= 1 && n < float64(len(a)) {
		return a[int(n)]
	}
	return nil
}

// trim is TRIM(part FROM text).
func trim(a []driver.Value, leading, trailing bool) driver.Value {
	part, text := asText(a[0]), asText(a[1])
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
func regexpLike(s *Session, a []driver.Value) driver.Value {
	switch {
	case len(a) < 2 || len(a) > 3:
		return tooMany(a)
	case slices.Contains(a, nil):
		return nil
	}
	text := asText(a[1])
	if len(a) == 3 {
		flags := strings.NewReplacer("c", "-i", "n", "s", "u", "").Replace(asText(a[2]))
		text = "(?" + flags + ":" + text + ")"
	}
	re, err := expression(text)
	if err != nil {
		return err
	}
	at, err := re.find(asText(a[0]), s.stopped)
	if err != nil {
		return err
	}
	return truth(at != nil)
}

func regexpSubstr(s *Session, a []driver.Value) driver.Value {
	re, err := expression(asText(a[1]))
	if err != nil {
		return err
	}
	text := asText(a[0])
	at, err := re.find(text, s.stopped)
	if err != nil {
		return err
	}
	if at == nil {
		return ""
	}
	return text[at[0]:at[1]]
}

func regexpInstr(s *Session, a []driver.Value) driver.Value {
	re, err := expression(asText(a[1]))
	if err != nil {
		return err
	}
	text := asText(a[0])
	at, err := re.find(text, s.stopped)
	if err != nil {
		return err
	}
	if at == nil {
		return int64(0)
	}
	return int64(utf8.RuneCountInString(text[:at[0]]) + 1)
}

// hexadecimal is HEX(x), of a number or of text.
func hexadecimal(a []driver.Value) driver.Value {
	switch v := a[0].(type) {
	case int64:
		return fmt.Sprintf("%X", uint64(v))
	case float64:
		return fmt.Sprintf("%X", uint64(int64(math.Round(v))))
	}
	text := asText(a[0])
	if len(text) > maxText/2 {
		return tooLong("hex")
	}
	return strings.ToUpper(hex.EncodeToString([]byte(text)))
}

// conv is CONV(number, base, other base), of numbers below 1<<64. With a negative base they are
// signed.
func conv(a []driver.Value) driver.Value {
	from, to := int(asNumber(a[1])), int(asNumber(a[2]))
	if base := max(from, -from); base < 2 || base > 36 {
		return nil
	}
	if base := max(to, -to); base < 2 || base > 36 {
		return nil
	}
	digits, negative := strings.CutPrefix(strings.TrimSpace(asText(a[0])), "-")
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

func sha1Hex(a []driver.Value) driver.Value {
	s := sha1.Sum([]byte(asText(a[0])))
	return hex.EncodeToString(s[:])
}

// sha2 is SHA2(text, bits): NULL for other numbers of bits than there are.
func sha2(a []driver.Value) driver.Value {
	text := []byte(asText(a[0]))
	var sum []byte
	switch asNumber(a[1]) {
	case 224:
		s := sha256.Sum224(text)
		sum = s[:]
	case 0, 256:
		s := sha256.Sum256(text)
		sum = s[:]
	case 384:
		s := sha512.Sum384(text)
		sum = s[:]
	case 512:
		s := sha512.Sum512(text)
		sum = s[:]
	default:
		return nil
	}
	return hex.EncodeToString(sum)
}

// formatBytes is MySQL's FORMAT_BYTES.
func formatBytes(a []driver.Value) driver.Value {
	n := asNumber(a[0])
	for i, unit := range []string{"EiB", "PiB", "TiB", "GiB", "MiB", "KiB"} {
		if size := float64(uint64(1) << (60 - 10*i)); math.Abs(n) >= size {
			return fmt.Sprintf("%.2f %s", n/size, unit)
		}
	}
	return fmt.Sprintf("%d bytes", int64(n))
}
