// Program is what torture runs: goroutines call, panic, start, end and fire probes, while others
// declare probes and change rules and replacements. It checks what its functions return, which no
// trace may change.
//
// When the time is up it says what it did, and waits for a line on its standard input. Then it
// calls counted and fires torture:::counted a known number of times, says so, and waits for another
// line.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/mock"
	"github.com/ftrace-wrap/ftrace-wrap/probe"
	ftrace "github.com/ftrace-wrap/ftrace-wrap/runtime"
)

var errOdd = errors.New("odd")

//go:noinline
func add(a, b int) int { return a + b }

// real and replaced are what value returns.
const (
	real     = "real"
	replaced = "replaced"
)

//go:noinline
func value(n int) (string, error) {
	if n%2 != 0 {
		return real, errOdd
	}
	return real, nil
}

func panics(n int) int {
	if n%16 == 0 {
		panic(n)
	}
	return n
}

func recovers(n int) (result int) {
	defer func() {
		if v := recover(); v != nil {
			result = v.(int)
		}
	}()
	return panics(n)
}

// point has a method, whose receiver is a pointer.
type point struct{ x, y int }

//go:noinline
func (p *point) sum(more ...int) int {
	sum := add(p.x, p.y)
	for _, n := range more {
		sum += n
	}
	return sum
}

func deep(n int) int {
	if n == 0 {
		return 0
	}
	return 1 + deep(n-1)
}

func same[T any](v T) T { return v }

func ends(done *sync.WaitGroup) {
	defer done.Done()
	runtime.Goexit()
}

func starts(n int) int {
	var done sync.WaitGroup
	var sum atomic.Int64
	done.Add(3)
	go func() {
		defer done.Done()
		sum.Add(int64(add(n, 1)))
	}()
	go func() {
		defer done.Done()
		sum.Add(int64(deep(20)))
	}()
	go ends(&done)
	done.Wait()
	return int(sum.Load())
}

//go:noinline
func counted(n int) int { return n }

// The probes of two providers, declared at the start.
var (
	fired   = probe.New1[int]("torture", "counted", "n")
	rounded = probe.New2[string, *point]("torture_round", "ended", "text", "p")
	passed  = probe.New("torture_round", "passed", "n", "password")
)

// providers are declared while the program runs.
const providers = 32

// declare declares a probe of a provider of its own, or finds it, and fires it.
func declare(n int) {
	p := probe.New2[int, string](fmt.Sprint("torture", n%providers), "made", "n", "text")
	p.Fire(n, "made")
	if n < providers {
		runtime.GC() // what keeps the provider is there before others point to it
	}
}

// keep makes garbage that moves stacks and is found again.
var keep atomic.Pointer[[]*point]

// check ends the program if what a function returned is wrong.
func check(what string, got, want any) {
	if got != want {
		fmt.Fprintf(os.Stderr, "WRONG: %s returned %v, not %v\n", what, got, want)
		os.Exit(3)
	}
}

// round calls everything once, and returns how many calls it was.
func round(n int) uint64 {
	check("add", add(n, 2), n+2)
	text, err := value(n)
	if text != real && text != replaced || text == real && (err != nil) != (n%2 != 0) {
		check("value", fmt.Sprint(text, err), "real or replaced")
	}
	check("recovers", recovers(n), n)
	p := &point{n, 1}
	check("sum", p.sum(1, 2), n+4)
	check("deep", deep(n%300), n%300)
	check("same", same(strings.ToUpper("a")), "A")
	calls := uint64(8 + n%300)
	if n%8 == 0 {
		points := []*point{p, {n, n}}
		keep.Store(&points)
		check("starts", starts(n), n+21)
		calls += 7 + 20
	}
	rounded.Fire(text, p)
	if passed.Enabled() {
		passed.Fire(n, text)
	}
	if n%32 == 0 {
		ftrace.Note("n", n)
		fmt.Fprintln(os.Stderr, "round", n)
	}
	return calls
}

// rules are of all kinds, with one clause to many, so that one's numbers and bits mean nothing in
// another.
var rules = []string{
	"*=call",
	"*=args",
	"off",
	"*=count",
	"main.add=call,depth=2",
	"main.x; main.y; main.value=call,in=main.round; main.add=call,in=main.round,depth=3",
	"main.round=tree",
	"main.starts=tree; main.add=args; main.deep=call,first=3",
	"*=deep; main.deep=off; main.sum=off",
	"main.*=call,rate=100/s",
	"main.recovers=tree; main.panics=args,after=main.value; main.add=call,in=main.starts",
	"main.(*point).sum=args,capture=p.x; main.deep=call",
	"main.*=args,untimed",
	"main.*=call,min=1ms",
	"main.*=args,redact=n+text",
	"main.add=args,redact=a; main.value=args,redact=off; main.(*point).sum=args,redact=x",
	"main.*=deep,redact=more+y; main.same=tree,redact=off",
	"wait/*",
	"main.*=call; wait/*=call,min=10us; !wait/cpu",
	"probe/*=args",
	"probe/torture*/made=count; probe/torture_round/*=args,fields=text; main.add=call",
	"probe/torture1*/*=deep; !probe/torture11/made; probe/torture/*=args,redact=n",
}

func main() {
	long := flag.Duration("for", 3*time.Second, "how long")
	callers := flag.Int("callers", 4, "goroutines that call")
	last := flag.Int("last", 50000, "calls to be counted, at the end")
	flag.Parse()
	deadline := time.Now().Add(*long)
	var calls, rounds, changes, mocks, probes atomic.Uint64
	var done sync.WaitGroup
	work := func(f func(n int)) {
		done.Add(1)
		go func() {
			defer done.Done()
			for n := 0; time.Now().Before(deadline); n++ {
				f(n)
			}
		}()
	}
	for range *callers {
		work(func(n int) { calls.Add(round(n)); rounds.Add(1) })
	}
	for range 2 {
		work(func(int) {
			text := rules[rand.IntN(len(rules))]
			if err := ftrace.SetRules(text); err != nil {
				check("SetRules("+text+")", err, nil)
			}
			changes.Add(1)
			time.Sleep(time.Duration(rand.IntN(500)) * time.Microsecond)
		})
	}
	work(func(n int) {
		options := []mock.Option{mock.Times(5)}
		restore, err := mock.Swap(value, func(int) (string, error) { return replaced, nil }, options[:n%2]...)
		check("Swap", err, nil)
		for range 50 {
			round(2*n + 1)
		}
		restore()
		mocks.Add(1)
	})
	work(func(n int) {
		declare(n)
		probes.Add(1)
		time.Sleep(time.Millisecond)
	})
	done.Wait()
	fmt.Printf("calls %d rounds %d rules %d mocks %d probes %d goroutines %d\n", calls.Load(), rounds.Load(), changes.Load(), mocks.Load(), probes.Load(), runtime.NumGoroutine())

	in := bufio.NewScanner(os.Stdin)
	for in.Scan() && in.Text() == "count" {
		var done sync.WaitGroup
		for range *callers {
			done.Add(1)
			go func() {
				defer done.Done()
				for n := range *last / *callers {
					counted(n)
					fired.Fire(n)
				}
			}()
		}
		done.Wait()
		fmt.Println("counted", *last / *callers * *callers)
	}
	ftrace.SetRules("off")
	check("Depth", ftrace.Depth(), 0)
}
