package text

import (
	"fmt"
	"io"
	"strings"
)

// Rows returns the first n of a list, all if n is 0.
func Rows[T any](list []T, n int) []T {
	if n > 0 && n < len(list) {
		return list[:n]
	}
	return list
}

// Table writes rows with all columns but the last aligned at the right.
func Table(out io.Writer, table [][]string) {
	width := map[int]int{}
	for _, row := range table {
		for i, text := range row {
			width[i] = max(width[i], len(text))
		}
	}
	for _, row := range table {
		var line strings.Builder
		for i, text := range row {
			if i < len(row)-1 {
				fmt.Fprintf(&line, "%*s  ", width[i], text)
			} else {
				line.WriteString(text)
			}
		}
		fmt.Fprintln(out, strings.TrimRight(line.String(), " "))
	}
}
