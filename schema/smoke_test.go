package schema

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestSmoke(t *testing.T) {
	src, err := OpenRecording("/tmp/sqlw/rec", RecordingOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c := &Catalog{}
	c.Add(src)
	if _, err := c.AddSchema("rec", src); err != nil {
		t.Fatal(err)
	}
	s, err := c.Session(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile("/tmp/sqlw/q.sql")
	list, rest := Split(string(text))
	if rest != "" {
		list = append(list, rest)
	}
	for _, q := range list {
		fmt.Println(">", q)
		r, err := s.Query(context.Background(), q, nil)
		if err != nil {
			fmt.Println(err)
			continue
		}
		for _, c := range r.Columns {
			fmt.Print(c.Name, ":", c.Type, " | ")
		}
		fmt.Println()
		n := 0
		for {
			row, err := r.Next()
			if err != nil {
				fmt.Println(err)
			}
			if row == nil {
				break
			}
			if n++; n < 15 {
				fmt.Println(strings.Trim(fmt.Sprint(row), "[]"))
			}
		}
		fmt.Println("rows", n, "affected", r.Affected, r.Info)
	}
}
