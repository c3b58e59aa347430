package schema

import (
	"database/sql/driver"
	"fmt"
	"strconv"
	"strings"

	"modernc.org/sqlite"
)

// concatenation is the aggregate function concatenated, as restorer.groupConcat calls it.
type concatenation struct {
	text strings.Builder
	any  bool
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
	return unsupported("GROUP_CONCAT() OVER")
}

func (c *concatenation) WindowValue(*sqlite.FunctionContext) (driver.Value, error) {
	if !c.any {
		return nil, nil
	}
	return c.text.String(), nil
}

func (c *concatenation) Final(*sqlite.FunctionContext) {}
