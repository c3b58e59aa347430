package main

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// fillers have what breaks the long lines of a file anew, by its extension.
var fillers = map[string]func(source string) string{".md": fillPage, ".go": fillGo}

var (
	item      = regexp.MustCompile(`^ {0,3}([-*]|\d+\.) +`)
	goComment = regexp.MustCompile(`^(\t*)// (\S.*)$`)
	output    = regexp.MustCompile(`(?i)^(unordered )?output:`) // of an Example
	atoms     = regexp.MustCompile("(?:`[^`]{1,70}`|\\S)+")
)

// fillPage breaks the paragraphs of a page that have a long line.
func fillPage(source string) string {
	var out []string
	lines, code := strings.Split(source, "\n"), false
	for i := 0; i < len(lines); {
		line := lines[i]
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			code = !code
		}
		if code || !isText(line) {
			out = append(out, line)
			i++
			continue
		}
		first := item.FindString(line)
		if first == "" {
			first = line[:len(line)-len(strings.TrimLeft(line, " "))]
		}
		end := i + 1
		for end < len(lines) && isText(lines[end]) && !item.MatchString(lines[end]) {
			end++
		}
		out = append(out, fill(lines[i:end], first, strings.Repeat(" ", len(first)), "")...)
		i = end
	}
	return strings.Join(out, "\n")
}

// isText reports whether a line of a page is part of a paragraph or an item.
func isText(line string) bool {
	return strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "    ") &&
		!strings.HasPrefix(strings.TrimSpace(line), "```") && !strings.ContainsAny(line[:1], "|#<")
}

// fillGo breaks the paragraphs of comments that have a long line.
func fillGo(source string) string {
	var out []string
	lines := strings.Split(source, "\n")
	for i := 0; i < len(lines); {
		m := goComment.FindStringSubmatch(lines[i])
		if m == nil || item.MatchString(m[2]) || strings.HasPrefix(m[2], "#") || strings.HasPrefix(m[2], "+build") {
			out = append(out, lines[i])
			i++
			continue
		}
		end := i + 1
		for end < len(lines) {
			next := goComment.FindStringSubmatch(lines[end])
			if next == nil || next[1] != m[1] || item.MatchString(next[2]) || strings.HasPrefix(next[2], "#") {
				break
			}
			end++
		}
		if output.MatchString(m[2]) {
			out = append(out, lines[i:end]...)
		} else {
			out = append(out, fill(lines[i:end], m[1]+"// ", m[1]+"// ", m[1]+"// ")...)
		}
		i = end
	}
	return strings.Join(out, "\n")
}

// fill returns the lines of a paragraph, broken anew if one of them is too long. Each line of the
// paragraph has the prefix; the first of the result begins with first, the others with rest.
func fill(lines []string, first, rest, prefix string) []string {
	long := false
	for _, line := range lines {
		long = long || width(line) > columns
	}
	if !long {
		return lines
	}
	text := strings.TrimPrefix(lines[0], first)
	for _, line := range lines[1:] {
		text += " " + strings.TrimSpace(strings.TrimPrefix(line, prefix))
	}
	if strings.Contains(text, "  ") { // spaces that may have a meaning
		return lines
	}
	var out []string
	line, empty := first, true
	for _, atom := range atoms.FindAllString(text, -1) {
		switch {
		case empty:
			line += atom
		case width(line)+1+utf8.RuneCountInString(atom) > columns && !item.MatchString(atom+" ") && !strings.HasPrefix(atom, "#"):
			out = append(out, line)
			line = rest + atom
		default:
			line += " " + atom
		}
		empty = false
	}
	return append(out, line)
}

// width is a line's in columns; a tab has 4.
func width(line string) int { return utf8.RuneCountInString(line) + 3*strings.Count(line, "\t") }
