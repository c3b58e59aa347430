package rule

// items reads the settings of a clause.
func (p *parser) items(c *Clause, s span) {
	var seen [len(vocabulary)]bool
	for more := true; more; {
		var one span
		one, s, more = p.cut(s, ',')
		w := p.item(c, one)
		if w < 0 {
			return
		}
		p.checkClash(seen[:], w, one)
		seen[w] = true
	}
}

// A term is a word that may follow the "=" of a clause.
type term struct {
	word  string
	usage string // "first=N", or the word if it takes no value
}

// The details come first, in their order, so that their indexes are the values
// of Detail.
var vocabulary = [...]term{
	{"off", "off"},
	{"count", "count"},
	{"call", "call"},
	{"args", "args"},
	{"deep", "deep"},
	{"changes", "changes"},
	{"tree", "tree"},
	{"untimed", "untimed"},
	{"span", "span"},
	{"first", "first=N"},
	{"depth", "depth=N"},
	{"in", "in=GLOB"},
	{"after", "after=GLOB"},
	{"min", "min=DURATION"},
	{"rate", "rate=N/s"},
	{"fields", "fields=NAME+NAME"},
	{"capture", "capture=NAME.FIELD+NAME.FIELD"},
	{"redact", "redact=NAME+NAME"},
}

var kinds = [...]term{
	{"func", "func:GLOB"},
	{"pkg", "pkg:PATTERN"},
	{"file", "file:GLOB"},
	{"bin", "bin:GLOB"},
	{"probe", "probe:PROVIDER/NAME"},
	{"wait", "wait:KIND"},
}

func indexWord(terms []term, word string) int {
	for i := range terms {
		if terms[i].word == word {
			return i
		}
	}
	return -1
}

// item reads one setting into c and returns its index in the vocabulary.
func (p *parser) item(c *Clause, s span) int {
	before, after, hasValue := p.cut(s, '=')
	word, value := p.get(before), p.trim(after)
	w := indexWord(vocabulary[:], word)
	switch {
	case s.from == s.to:
		p.fail(s, "missing setting")
	case w < 0:
		p.fail(before, "unknown setting "+quote(word)+suggest(vocabulary[:], word))
	case vocabulary[w].usage == word && hasValue:
		p.fail(s, quote(word)+" takes no value")
	case vocabulary[w].usage != word && value.from == value.to:
		p.fail(s, quote(word)+" needs a value: "+vocabulary[w].usage)
	default:
		p.set(c, w, value)
	}
	return w
}

func (p *parser) set(c *Clause, w int, value span) {
	switch vocabulary[w].word {
	default:
		c.Detail = Detail(w)
	case "tree":
		c.Tree = true
	case "untimed":
		c.Untimed = true
	case "span":
		c.Span = true
	case "first":
		c.First, c.FirstSet = p.numberUpTo(value, 1<<64-1), true
	case "depth":
		c.Depth = uint32(p.numberUpTo(value, 1<<32-1))
	case "in":
		p.checkFunc(value)
		c.In = p.get(value)
	case "after":
		p.checkFunc(value)
		c.After = p.get(value)
	case "min":
		var ok bool
		if c.Min, ok = duration(p.get(value)); !ok {
			p.fail(value, quote(p.get(value))+" is not a duration (such as 250us, 1ms or 1.5s)")
		}
	case "rate":
		p.rate(c, value)
	case "fields":
		c.Fields = p.names(value, "", "cs_pid+ip_saddr")
	case "redact":
		c.Redact = p.names(value, "-", "card+pin_code, or off")
	case "capture":
		p.paths(c, value)
	}
}

// paths reads the paths of what is recorded besides a function's parameters and results: names with
// "." between.
func (p *parser) paths(c *Clause, s span) {
	c.Capture = p.get(s)
	ok, dots, last := true, 0, byte('+')
	for i := range len(c.Capture) {
		this := c.Capture[i]
		switch {
		case this == '+':
			ok = ok && dots > 0 && last != '.'
			dots = 0
		case this == '.':
			ok = ok && last != '+' && last != '.'
			dots++
		case this != '_' && !isDigit(this) && (this|0x20 < 'a' || this|0x20 > 'z') && this < 0x80:
			ok = false
		}
		last = this
	}
	if !ok || dots == 0 || last == '.' {
		p.fail(s, quote(c.Capture)+" is not a list of paths with \"+\" between (such as req.URL.Path+req.Method, ret0.Status)")
	}
}

// names reads names with "+" between. Besides letters, digits and "_" they may
// have the characters of also.
func (p *parser) names(s span, also, example string) string {
	names := p.get(s)
	ok, letters := true, 0
	for i := range len(names) {
		this := names[i]
		switch {
		case this == '+':
			ok = ok && letters > 0
			letters = 0
		case isDigit(this), 'a' <= this|0x20 && this|0x20 <= 'z', this >= 0x80 && also != "":
			letters++
		case this != '_' && indexByte(also, this) < 0:
			ok = false
		}
	}
	if !ok || letters == 0 {
		p.fail(s, quote(names)+" is not a list of names with \"+\" between (such as "+example+")")
	}
	return names
}

func (p *parser) numberUpTo(s span, limit uint64) uint64 {
	n, ok := number(p.get(s), limit)
	if !ok {
		p.fail(s, quote(p.get(s))+" is not a number, or is too large")
	}
	return n
}

func (p *parser) rate(c *Clause, s span) {
	count, unit, found := p.cut(s, '/')
	switch per := p.get(p.trim(unit)); {
	case found && per == "s":
		c.Per = 1e9
	case found && per == "m":
		c.Per = 60e9
	default:
		p.fail(s, quote(p.get(s))+" is not a rate (such as 10/s or 10/m)")
	}
	c.Rate = uint32(p.numberUpTo(count, 1<<32-1))
	if c.Rate == 0 {
		p.fail(count, "a rate of 0 shows nothing (did you mean \"count\" or \"off\"?)")
	}
}

// checkClash fails if setting w does not go with one that was seen before.
func (p *parser) checkClash(seen []bool, w int, s span) {
	if seen[w] {
		p.fail(s, "duplicate setting "+quote(vocabulary[w].word))
	}
	for i := range seen {
		if !seen[i] || !clash(i, w) && !clash(w, i) {
			continue
		}
		why := ""
		if i <= int(Changes) && w <= int(Changes) {
			why = ": a clause has one detail"
		} else if i == int(Count) || w == int(Count) {
			why = ": count prints nothing"
		}
		p.fail(s, quote(vocabulary[w].word)+" conflicts with "+quote(vocabulary[i].word)+why)
	}
}

func clash(i, w int) bool {
	switch {
	case i == int(Off) || i <= int(Changes) && w <= int(Changes):
		return true
	case i != int(Count):
		return false
	}
	word := vocabulary[w].word
	return word == "first" || word == "fields" || word == "capture" || word == "redact" || word == "untimed" || word == "span" || word == "depth" || word == "min" || word == "rate"
}

// number reads a decimal number that may be at most limit.
func number(s string, limit uint64) (n uint64, ok bool) {
	for i := range len(s) {
		digit := uint64(s[i] - '0')
		if digit > 9 || n > limit/10 || n*10 > limit-digit {
			return 0, false
		}
		n = n*10 + digit
	}
	return n, s != ""
}

const maxDuration = 1<<63 - 1

// duration reads the syntax of time.ParseDuration, without signs, in nanoseconds.
func duration(s string) (total int64, ok bool) {
	if s == "0" {
		return 0, true
	}
	for from := 0; from < len(s); {
		var part uint64
		part, from, ok = durationPart(s, from)
		if !ok || part > maxDuration-uint64(total) {
			return 0, false
		}
		total += int64(part)
	}
	return total, s != ""
}

// durationPart reads one number and unit, and returns the index after them.
func durationPart(s string, from int) (part uint64, end int, ok bool) {
	dot := digits(s, from)
	end = dot
	if end < len(s) && s[end] == '.' {
		end = digits(s, end+1)
	}
	unit := end
	for end < len(s) && s[end] != '.' && !isDigit(s[end]) {
		end++
	}
	size := unitSize(s[unit:end])
	count := uint64(0)
	if dot > from {
		count, ok = number(s[from:dot], maxDuration)
	} else {
		ok = unit > dot+1 // .5s, but not .s
	}
	if !ok || size == 0 || count > maxDuration/size {
		return 0, end, false
	}
	part = count * size
	// Digits that would overflow are cut. They are nanoseconds at most, except in minutes and
	// hours.
	rest, scale := uint64(0), uint64(1)
	for i := dot + 1; i < unit && scale <= maxDuration/size/10; i++ {
		rest, scale = rest*10+uint64(s[i]-'0'), scale*10
	}
	return part + rest*size/scale, end, true
}

func digits(s string, i int) int {
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	return i
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// unitSize returns the nanoseconds of a unit, or 0. Micro has two code points.
func unitSize(unit string) uint64 {
	switch unit {
	case "ns":
		return 1
	case "us", "\u00b5s", "\u03bcs":
		return 1e3
	case "ms":
		return 1e6
	case "s":
		return 1e9
	case "m":
		return 60e9
	case "h":
		return 3600e9
	}
	return 0
}
