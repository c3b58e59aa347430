// Package rows has the cases of docs/design/other-mocks.md, one for a row of its table, and what
// those of the tools share. TestPeers in docs runs them and compares what they saw with the cells.
package rows

import (
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/bench/mocks/rows/target"
)

// Replaced is what replacements return.
const Replaced = "replaced"

// With is a replacement.
func With() string { return Replaced }

// Saw prints what the case of a row saw.
func Saw(row string, outcome ...string) {
	fmt.Printf("\nsaw\t%s\t%s\n", row, strings.Join(strings.Fields(strings.Join(outcome, ", ")), " "))
}

// Try returns what f returns, or what it panics with.
func Try(f func() string) (outcome string) {
	defer func() {
		if p := recover(); p != nil {
			outcome = fmt.Sprint("panics: ", p)
		}
	}()
	return f()
}

// Build reports whether the go command builds what args say.
func Build(args ...string) string {
	out, err := exec.Command("go", append([]string{"build"}, args...)...).CombinedOutput()
	if err == nil {
		return "builds"
	}
	_, message, _ := strings.Cut(string(out), ": ")
	message, _, _ = strings.Cut(message, "\n")
	return "does not build: " + message
}

// All runs the cases that are the same but for how a function is replaced until its test ends.
func All(t *testing.T, replace func(t testing.TB, f, with func() string)) {
	t.Run("inlined", func(t *testing.T) {
		Saw("functions that are inlined", Try(func() string {
			replace(t, target.Small, With)
			return target.Small()
		}))
	})
	t.Run("parallel", func(t *testing.T) { parallel(t, replace) })
}

// Literal tells what replacing a function literal does to it and to another one of the same source.
func Literal(replace func(f func() string)) string {
	f, other := target.Literal(), target.Literal()
	return "by value: " + Try(func() string {
		replace(f)
		return fmt.Sprintf("this %s, its like %s", f(), other())
	})
}

// Pick tells which instantiations are replaced.
func Pick() string {
	return fmt.Sprintf("int %s, of its shape %s, string %s, without parameters int %s, string %s", target.Pick(1),
		Try(func() string { return target.Pick(target.Number(1)) }), target.Pick(""), target.Zero[int](), target.Zero[string]())
}

// PickWith replaces the one of int.
func PickWith(int) string { return Replaced }

// parallel replaces one function in two tests at once. Each calls it while both are in force.
func parallel(t *testing.T, replace func(t testing.TB, f, with func() string)) {
	saw := make([]string, 2)
	turns := []chan bool{make(chan bool), make(chan bool)}
	var called sync.WaitGroup
	called.Add(2)
	t.Run("both", func(t *testing.T) {
		for i, with := range []string{"own of the first", "own of the second"} {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				if i == 1 {
					<-turns[0]
				}
				saw[i] = Try(func() string {
					replace(t, target.Shared, func() string { return with })
					return ""
				})
				close(turns[i])
				<-turns[1]
				if saw[i] == "" {
					saw[i] = target.Shared()
				}
				called.Done()
				called.Wait()
			})
		}
	})
	Saw("parallel tests of one function", saw...)
}

var large, started = worker(target.Large), worker(target.Started)

// worker starts a goroutine that calls f when asked.
func worker(f func() string) (ask func() string) {
	asked := make(chan chan string)
	go func() {
		for answer := range asked {
			answer <- f()
		}
	}()
	return func() string {
		answer := make(chan string)
		asked <- answer
		return <-answer
	}
}

// Goroutines tells on which goroutines f, which is Large or Started, is replaced.
func Goroutines(f func() string, replace func()) string {
	before := worker(f)
	replace()
	later, unrelated := worker(f), large
	if reflect.ValueOf(f).Pointer() == reflect.ValueOf(target.Started).Pointer() {
		unrelated = started
	}
	return fmt.Sprintf("here %s, later %s, before %s, unrelated %s", f(), later(), before(), unrelated())
}

// Get calls Get of all Getters.
func Get(all [3]target.Getter) string {
	return fmt.Sprintf("this %s, its like %s, another type's %s", all[0].Get(), all[1].Get(), all[2].Get())
}

// Meanwhile has another goroutine call Large.
func Meanwhile() string { return worker(target.Large)() }

// A Std is a function of the standard library and a replacement.
type Std struct {
	Name       string
	Func, With any
	Replaced   func() bool // calls it
}

// Stds are some. slept and collected say that the replacements of Sleep and GC were called.
func Stds() []Std {
	var slept, collected bool
	return []Std{
		{"os", os.TempDir, With, func() bool { return os.TempDir() == Replaced }},
		{"sync", (*sync.RWMutex).TryRLock, func(*sync.RWMutex) bool { return false }, func() bool { return !new(sync.RWMutex).TryRLock() }},
		{"reflect", reflect.DeepEqual, func(x, y any) bool { return true }, func() bool { return reflect.DeepEqual(1, 2) }},
		{"syscall", syscall.Getuid, func() int { return 7 }, func() bool { return syscall.Getuid() == 7 }},
		{"testing", testing.Testing, func() bool { return false }, func() bool { return !testing.Testing() }},
		{"time.Sleep", time.Sleep, func(time.Duration) { slept = true }, func() bool { time.Sleep(time.Nanosecond); return slept }},
		{"GC", runtime.GC, func() { collected = true }, func() bool { runtime.GC(); return collected }},
		{"runtime.Version", runtime.Version, With, func() bool { return runtime.Version() == Replaced }},
	}
}

// Library reports which of them are replaced.
func Library(t *testing.T, replace func(t testing.TB, s Std)) {
	var yes, no []string
	for _, s := range Stds() {
		t.Run(s.Name, func(t *testing.T) {
			if Try(func() string { replace(t, s); return "" }) == "" && s.Replaced() {
				yes = append(yes, s.Name)
			} else {
				no = append(no, s.Name)
			}
		})
	}
	Saw("standard library", strings.Join(yes, " ")+"; not "+strings.Join(no, " "))
}
