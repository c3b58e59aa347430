// Parser works out arithmetic. Each rule of the grammar is a function: the trace is the parse tree.
//
//	sum     = product { ("+" | "-") product }
//	product = factor { ("*" | "/") factor }
//	factor  = number | "-" factor | "(" sum ")"
//
// A rule takes the text ahead, and returns a value and what is left of it. Division by zero is an
// ordinary error. A syntax error is a panic, at whatever depth, which evaluate turns into an error.
package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

var errDivision = errors.New("division by zero")

// A syntaxError says where the text stops making sense.
type syntaxError struct {
	want string
	at   string // what is there instead
}

func (e *syntaxError) Error() string { return fmt.Sprintf("want %s at %q", e.want, e.at) }

func main() {
	for _, text := range []string{"2*(3+4)", "1/0", "-(1+)"} {
		value, err := evaluate(text)
		if err != nil {
			fmt.Printf("%s: %v\n", text, err)
			continue
		}
		fmt.Printf("%s = %d\n", text, value)
	}
}

// evaluate returns the value of a text that is a sum and nothing else.
func evaluate(text string) (value int, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *syntaxError:
			err = r
		default:
			panic(r) // not ours
		}
	}()
	value, rest, err := sum(text)
	if err == nil && rest != "" {
		panic(&syntaxError{"an operator", rest})
	}
	return value, err
}

func sum(text string) (value int, rest string, err error) {
	value, rest, err = product(text)
	for err == nil && strings.IndexAny(rest, "+-") == 0 {
		sign, operand := rest[0], 0
		operand, rest, err = product(rest[1:])
		if sign == '-' {
			operand = -operand
		}
		value += operand
	}
	return value, rest, err
}

func product(text string) (value int, rest string, err error) {
	value, rest, err = factor(text)
	for err == nil && strings.IndexAny(rest, "*/") == 0 {
		sign, operand := rest[0], 0
		operand, rest, err = factor(rest[1:])
		switch {
		case err != nil:
		case sign == '*':
			value *= operand
		case operand == 0:
			err = errDivision
		default:
			value /= operand
		}
	}
	return value, rest, err
}

func factor(text string) (value int, rest string, err error) {
	if operand, ok := strings.CutPrefix(text, "-"); ok {
		value, rest, err = factor(operand)
		return -value, rest, err
	}
	if inner, ok := strings.CutPrefix(text, "("); ok {
		value, rest, err = sum(inner)
		rest, ok = strings.CutPrefix(rest, ")")
		if err == nil && !ok {
			panic(&syntaxError{`")"`, rest})
		}
		return value, rest, err
	}
	rest = strings.TrimLeft(text, "0123456789")
	digits := strings.TrimSuffix(text, rest)
	if digits == "" {
		panic(&syntaxError{"a number", text})
	}
	value, err = strconv.Atoi(digits)
	return value, rest, err
}
