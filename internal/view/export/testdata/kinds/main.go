// Kinds calls functions with values of all kinds, for the tests of tables.
package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"
)

type state int

const (
	idle state = iota
	busy
)

type customer struct {
	Region string
	Score  float64
	VIP    bool
}

type order struct {
	ID       uint32
	Customer customer
	Tags     []string
	Lines    []line
	At       time.Time
	Took     time.Duration
	Raw      []byte
	Attrs    map[string]int
	State    state
	Point    complex128
	Next     *order
	any      any
	Any      any
	Grid     [2][2]int8
	Hash     [32]byte
	Done     chan int
	Fn       func()
}

type line struct {
	SKU string
	N   int
}

type tree struct {
	V    int
	Kids []tree
}

func place(ctx context.Context, o *order, n int) (id string, err error) {
	if n%3 == 2 {
		return "", errors.New("no such " + o.Customer.Region)
	}
	if n == 4 {
		panic("four")
	}
	return fmt.Sprint("id", n), nil
}

func generic[T any](v T, w ...T) T { return v }

func (o *order) check(long string) {}

func walk(t tree, p *int, u uintptr, f float32, err error, m map[string]int, fn func(), unused struct{}) {
}

func unnamed(int, _ string) (int, bool) { return 1, true }

func handle(w http.ResponseWriter, r *http.Request) {}

func Place(b bool) {}

func shallow(o *order, c customer) {}

func fields(o *order) {}

func variadic(numbers ...int16) (sum float32) { return 0.1 }

func main() {
	for i := range 6 {
		o := &order{
			ID: uint32(i), Customer: customer{[]string{"eu", "us"}[i%2], float64(i) / 2, i%2 == 0},
			Tags: []string{"a", "b"}[:i%3], Lines: []line{{"x", i}},
			At: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC), Took: time.Duration(i) * time.Millisecond,
			Raw: []byte{1, 2, 255}[:i%4], State: state(i % 3), Point: complex(float64(i), 1), Any: i,
			Next: &order{ID: 1 << 31},
		}
		if i == 1 {
			o = nil
		}
		func() {
			defer func() { recover() }()
			place(context.Background(), o, i)
		}()
		shallow(o, customer{Region: "z\xff"})
		fields(o)
	}
	generic(1, 2, 3)
	generic("x")
	generic(customer{Region: "eu", Score: math.Inf(1)})
	(&order{}).check(strings.Repeat("long ", 20))
	x := 5
	walk(tree{1, []tree{{2, nil}}}, &x, 7, 1.5, errors.New("no"), map[string]int{"a": 1}, main, struct{}{})
	walk(tree{}, nil, 0, 0, nil, nil, nil, struct{}{})
	unnamed("x", "y")
	r, _ := http.NewRequest("GET", "http://x/y", nil)
	handle(nil, r)
	Place(true)
	variadic()
	variadic(-1, 2)
	variadic(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
}
