package schema

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"modernc.org/sqlite"
)

// GROUP_CONCAT([DISTINCT] x, y ORDER BY z SEPARATOR s) becomes concatenated([DISTINCT] ('1:s' ||
// (x) || (y)) COLLATE NOCASE ORDER BY z). SQLite's own function takes one value and the separator,
// and with DISTINCT only one argument. So the separator, with its length, goes before each value.

// groupConcats rewrites all GROUP_CONCATs.
func (r *rewriter) groupConcats() {
	for i := range r.tokens {
		if r.at(i).is("GROUP_CONCAT") && r.at(i+1).is("(") {
			r.groupConcat(i)
		}
	}
}

func (r *rewriter) groupConcat(i int) {
	first, end, depth, separator := i+2, -1, 0, ","
	if r.at(first).is("DISTINCT") {
		first++
	}
	for j := first; j < len(r.tokens); j++ {
		t := r.at(j)
		switch {
		case t.is("("):
			depth++
		case depth > 0 && t.is(")"):
			depth--
		case depth > 0:
		case t.is(",") && end < 0:
			r.out[j] = ") || ("
		case t.is("ORDER"):
			end = j
		case t.is("SEPARATOR") && r.at(j+1).kind == str:
			if end < 0 {
				end = j
			}
			separator = r.at(j + 1).text
			r.out[j], r.out[j+1] = "", ""
		case t.is(")"):
			if end < 0 {
				end = j
			}
			if end > first {
				r.out[i] = "concatenated"
				r.enclose(first, end-1, "("+quoteString(fmt.Sprint(len(separator), ":", separator))+" || (", ")) COLLATE NOCASE")
			}
			return
		}
	}
}

// concatenation is the aggregate function.
type concatenation struct {
	text strings.Builder
	any  bool
}

func registerConcatenated() error {
	return sqlite.RegisterFunction("concatenated", &sqlite.FunctionImpl{NArgs: 1, Deterministic: true,
		MakeAggregate: func(sqlite.FunctionContext) (sqlite.AggregateFunction, error) { return new(concatenation), nil }})
}

func (c *concatenation) Step(_ *sqlite.FunctionContext, args []driver.Value) error {
	if args[0] == nil {
		return nil
	}
	length, text, _ := strings.Cut(asText(args[0]), ":")
	n, err := strconv.Atoi(length)
	if err != nil || n > len(text) {
		return fmt.Errorf("concatenated: %q has no separator", text)
	}
	if c.text.Len()+len(text) > maxText {
		return tooLong("group_concat")
	}
	if c.any {
		c.text.WriteString(text[:n])
	}
	c.text.WriteString(text[n:])
	c.any = true
	return nil
}

func (c *concatenation) WindowInverse(*sqlite.FunctionContext, []driver.Value) error {
	return errors.New("this version of ftrace doesn't yet support 'GROUP_CONCAT() OVER'")
}

func (c *concatenation) WindowValue(*sqlite.FunctionContext) (driver.Value, error) {
	if !c.any {
		return nil, nil
	}
	return c.text.String(), nil
}

func (c *concatenation) Final(*sqlite.FunctionContext) {}
