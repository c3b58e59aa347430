package rule

// suggest returns the hint for an unknown word: the nearest, or all.
func suggest(terms []term, word string) string {
	best, nearest := 3, ""
	for i := range terms {
		d := Distance(word, terms[i].word)
		if d < best && 2*d <= len(word) {
			best, nearest = d, terms[i].word
		}
	}
	if nearest != "" {
		return " (did you mean " + quote(nearest) + "?)"
	}
	list := ""
	for i := range terms {
		if i > 0 {
			list += ", "
		}
		list += terms[i].usage
	}
	return " (one of " + list + ")"
}

// Misspells returns how many letters the only name in the clause is away from that of f, without
// packages and types, or -1 if it is too far away to be a misspelling of it.
func (c *Clause) Misspells(f *Func) int {
	if len(c.Selectors) != 1 || c.Selectors[0].Kind != "func" || f.Probe || f.Wait || f.Span {
		return -1
	}
	name, of := lastPart(c.Selectors[0].Pattern), lastPart(f.Name)
	for i := range len(name) {
		if name[i] == '*' || name[i] == '?' || name[i] == '[' {
			return -1
		}
	}
	if d := Distance(name, of); d <= max(min(2, len(name)-1), len(name)/3) {
		return d
	}
	return -1
}

// lastPart returns what follows the last dot.
func lastPart(name string) string {
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '.' {
			return name[i+1:]
		}
	}
	return name
}

// maxWord is the length of words that Distance compares, without what they begin and end with
// alike.
const maxWord = 31

// Distance counts the letters that must be added, removed, replaced, or swapped with their
// neighbour to make b of a. Case does not count. Words too long to compare are as far apart as the
// longer is long.
func Distance(a, b string) int {
	for len(a) > 0 && len(b) > 0 && a[0]|0x20 == b[0]|0x20 {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1]|0x20 == b[len(b)-1]|0x20 {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if len(a) > maxWord || len(b) > maxWord {
		return max(len(a), len(b))
	}
	var rows [3][maxWord + 1]uint8 // of the last letters of a
	for i := range len(a) + 1 {
		row, above, before := &rows[i%3], &rows[(i+2)%3], &rows[(i+1)%3]
		row[0] = uint8(i)
		for j := 1; j <= len(b); j++ {
			if i == 0 {
				row[j] = uint8(j)
				continue
			}
			var cost uint8 = 1
			if a[i-1]|0x20 == b[j-1]|0x20 {
				cost = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			if i > 1 && j > 1 && a[i-1]|0x20 == b[j-2]|0x20 && a[i-2]|0x20 == b[j-1]|0x20 {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return int(rows[len(a)%3][len(b)])
}
