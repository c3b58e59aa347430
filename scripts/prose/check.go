package main

import (
	"fmt"
	"go/scanner"
	"go/token"
	"regexp"
	"strings"
	"unicode/utf8"
)

// columns is how long a line may be.
const columns = 100

// A finding is something wrong on a line.
type finding struct {
	line    int
	message string
}

// phrases are what readers stumble over, each with what to write in its place.
var phrases = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`(?i)\b(say|says|said) (whether|if)\b`), `"reports whether"`},
	{regexp.MustCompile(`(?i)\b(is|are|was|were|be|been|being) asked (for|of)\b`), `"requested", or who wants what`},
	{regexp.MustCompile(`(?i)\bhow-many`), `"the nth", or a number`},
	{regexp.MustCompile(`(?i)\bwho (dies|asks)\b`), `what dies, or the caller`},
	{regexp.MustCompile(`(?i)\b(is|are|was|were|be) known of\b`), `"has", "knows", or what it is`},
	{regexp.MustCompile(`(?i)\bamidst\b`), `"within", "during" or "in the middle of"`},
	{regexp.MustCompile(`(?i)\bthe seed\b`), `its name`},
	{regexp.MustCompile(`(?i)\b(one|each) behind (the|an)other\b`), `"one after the other"`},
	{regexp.MustCompile(`(?i)\b(comes?|came|stands?|stood|put|puts|runs?|written|spliced|given|found) behind\b`), `"after"`},
	{regexp.MustCompile(`(?i)\bbehind (each|every|the|a|its|their|that|this|all) (other|others|call|return|entry|exit|end|verb|name|command|line|value|field|record|packet|head|brace|bar|point|slash|comma|dot|sign|arguments?|parameters?|results?|receiver|type|first|last|next)\b`), `"after"`},
	{regexp.MustCompile(`(?i)\bin front of each\b`), `"before each"`},
}

// checkers have what checks a file, by its extension.
var checkers = map[string]func(source string) []finding{".md": checkPage, ".go": checkGo}

// checkPage checks a page in Markdown.
func checkPage(source string) (found []finding) {
	code := false
	for i, line := range strings.Split(source, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			code = !code
		}
		if code || strings.HasPrefix(line, "    ") && !strings.HasPrefix(strings.TrimSpace(line), "* ") {
			continue
		}
		found = checkLine(found, i+1, line, !strings.HasPrefix(line, "|") && !strings.Contains(line, "]("))
	}
	return found
}

// checkGo checks the comments and the strings of a Go file.
func checkGo(source string) (found []finding) {
	files := token.NewFileSet()
	file := files.AddFile("", -1, len(source))
	var s scanner.Scanner
	s.Init(file, []byte(source), nil, scanner.ScanComments)
	expected := -1 // the line to which an Example's expected output goes
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return found
		}
		if tok != token.COMMENT && tok != token.STRING {
			continue
		}
		at := file.Position(pos)
		if strings.HasPrefix(text, "// ") && output.MatchString(text[len("// "):]) || at.Line == expected+1 {
			expected = at.Line
			continue
		}
		alone := tok == token.COMMENT && strings.TrimSpace(source[at.Offset-at.Column+1:at.Offset]) == ""
		for i, line := range strings.Split(text, "\n") {
			if i == 0 {
				line = strings.Repeat(" ", 4*(at.Column-1)) + line // a tab is as wide as 4 columns
			}
			found = checkLine(found, at.Line+i, line, alone && !isCode(line))
		}
	}
}

// isCode reports whether a line of a comment is code or a directive, which cannot be broken.
func isCode(comment string) bool {
	comment = strings.TrimSpace(comment)
	return strings.HasPrefix(comment, "//\t") || !strings.HasPrefix(comment, "// ") || strings.HasPrefix(comment, "//  ") || strings.Contains(comment, "://")
}

// checkLine adds what is wrong with a line, which is text that can be broken if so.
func checkLine(found []finding, line int, text string, so bool) []finding {
	for _, p := range phrases {
		if match := p.pattern.FindString(text); match != "" {
			found = append(found, finding{line, fmt.Sprintf("%q: write %s", match, p.instead)})
			break
		}
	}
	if n := utf8.RuneCountInString(text); so && n > columns {
		found = append(found, finding{line, fmt.Sprintf("%d columns, more than %d", n, columns)})
	}
	return found
}
