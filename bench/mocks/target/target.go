// Package target has the functions that the benchmarks replace, and the calls that they measure.
package target

import (
	"errors"
	"testing"
)

// Small is a function that the compiler inlines.
func Small(n int) int { return n*3 + 1 }

// Large is a function that it does not.
func Large(s string) (n int, err error) {
	if s == "" {
		return 0, errors.New("empty")
	}
	for i := range s {
		if s[i] < '0' || s[i] > '9' {
			return 0, errors.New("not a number: " + s)
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, nil
}

// Deferred is one with a deferred call.
func Deferred(s string) (n int, err error) {
	defer func() {
		if n < 0 {
			n = 0
		}
	}()
	return Large(s)
}

// Pointed is one that does not let its parameter escape.
func Pointed(p *int) (n int, err error) {
	if *p < 0 {
		return 0, errors.New("negative")
	}
	for i := range *p {
		n += i * *p
	}
	return n, nil
}

// WithPointed is what Pointed is replaced with.
func WithPointed(*int) (int, error) { return 7, nil }

// With is what Large and Deferred are replaced with.
func With(string) (int, error) { return 7, nil }

// CallSmall measures calls of Small.
func CallSmall(b *testing.B) {
	sum := 0
	for range b.N {
		sum += Small(sum)
	}
	Sum = sum
}

// CallLarge measures calls of Large, which must return want.
func CallLarge(b *testing.B, want int) {
	sum := 0
	for range b.N {
		n, _ := Large("3")
		sum += n
	}
	check(b, sum, want)
}

// CallDeferred measures calls of Deferred, which must return want.
func CallDeferred(b *testing.B, want int) {
	sum := 0
	for range b.N {
		n, _ := Deferred("3")
		sum += n
	}
	check(b, sum, want)
}

// CallPointed measures calls of Pointed with a variable on the stack, which must return want.
func CallPointed(b *testing.B, want int) {
	sum, v := 0, 1
	for range b.N {
		n, _ := Pointed(&v)
		sum += n
	}
	check(b, sum, want)
}

func check(b *testing.B, sum, want int) {
	if Sum = sum; sum != want*b.N {
		b.Fatalf("the results are %d, want %d", sum, want*b.N)
	}
}

// Sum keeps the calls from being taken out.
var Sum int
