package sql

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/ftrace-wrap/ftrace-wrap/internal/escape"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema"
)

// style is how results are written.
type style int

const (
	tableStyle    style = iota // as mysql does on a terminal
	batchStyle                 // separated by tabs
	jsonStyle                  // a line of JSON for each row
	verticalStyle              // a line for each column
)

// writeResult writes a result and returns how many rows it had.
func writeResult(w io.Writer, r *schema.Result, as style) (n int, err error) {
	defer r.Close()
	b := bufio.NewWriter(w)
	defer func() {
		if flushed := b.Flush(); err == nil {
			err = flushed
		}
	}()
	var table [][]string
	for {
		row, err := r.Next()
		if err != nil {
			return n, err
		}
		if row == nil {
			break
		}
		n++
		switch as {
		case tableStyle:
			table = append(table, tableRow(row, r.Columns))
		case batchStyle:
			if n == 1 {
				writeBatch(b, names(r.Columns))
			}
			writeBatch(b, tableRow(row, r.Columns))
		case jsonStyle:
			if err := writeObject(b, r.Columns, row); err != nil {
				return n, err
			}
		case verticalStyle:
			writeVertical(b, r.Columns, tableRow(row, r.Columns), n)
		}
		if as != tableStyle && b.Buffered() > 4000 {
			if err := b.Flush(); err != nil {
				return n, err
			}
		}
	}
	if as == tableStyle && n > 0 {
		writeGrid(b, r.Columns, table)
	}
	return n, nil
}

func names(columns []schema.Column) []string {
	var list []string
	for _, c := range columns {
		list = append(list, c.Name)
	}
	return list
}

// tableRow returns a row as text, without control characters: values come from the program that is
// looked at.
func tableRow(row []any, columns []schema.Column) []string {
	list := make([]string, len(row))
	for i, v := range row {
		text, ok := columns[i].Format(v)
		if !ok {
			text = "NULL"
		}
		list[i] = escape.Lines(text)
	}
	return list
}

// writeGrid writes rows as the mysql client does: numbers on the right.
func writeGrid(w io.Writer, columns []schema.Column, rows [][]string) {
	width := make([]int, len(columns))
	for i, c := range columns {
		width[i] = runewidth.StringWidth(c.Name)
	}
	for _, row := range rows {
		for i, text := range row {
			for line := range strings.SplitSeq(text, "\n") {
				width[i] = max(width[i], runewidth.StringWidth(line))
			}
		}
	}
	rule := "+"
	for _, n := range width {
		rule += strings.Repeat("-", n+2) + "+"
	}
	line := func(row []string, header bool) {
		for i, text := range row {
			fill := strings.Repeat(" ", max(width[i]-runewidth.StringWidth(text), 0))
			if columns[i].Type.Number() && !header {
				fmt.Fprintf(w, "| %s%s ", fill, text)
			} else {
				fmt.Fprintf(w, "| %s%s ", text, fill)
			}
		}
		fmt.Fprintln(w, "|")
	}
	fmt.Fprintln(w, rule)
	line(names(columns), true)
	fmt.Fprintln(w, rule)
	for _, row := range rows {
		line(row, false)
	}
	fmt.Fprintln(w, rule)
}

var batchEscapes = strings.NewReplacer("\\", `\\`, "\n", `\n`, "\t", `\t`)

func writeBatch(w io.Writer, row []string) {
	for i, text := range row {
		if i > 0 {
			io.WriteString(w, "\t")
		}
		batchEscapes.WriteString(w, text)
	}
	fmt.Fprintln(w)
}

func writeVertical(w io.Writer, columns []schema.Column, row []string, n int) {
	widest := 0
	for _, c := range columns {
		widest = max(widest, len(c.Name))
	}
	fmt.Fprintf(w, "*************************** %d. row ***************************\n", n)
	for i, c := range columns {
		fmt.Fprintf(w, "%*s: %s\n", widest, c.Name, row[i])
	}
}

// writeObject writes a row as an object, its members in the order of the columns.
func writeObject(w io.Writer, columns []schema.Column, row []any) error {
	io.WriteString(w, "{")
	for i, c := range columns {
		if i > 0 {
			io.WriteString(w, ",")
		}
		name, err := json.Marshal(c.Name)
		if err != nil {
			return err
		}
		v, err := json.Marshal(row[i])
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s:%s", name, v)
	}
	_, err := io.WriteString(w, "}\n")
	return err
}
