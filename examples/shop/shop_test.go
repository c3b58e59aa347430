package shop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/mock"
)

func TestReceipt(t *testing.T) {
	mock.SkipUnlessHooked(t)
	mock.Replace(t, now, func() time.Time {
		return time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
	})
	receipt, err := Buy(&Account{"Ada", 10}, 3)
	if receipt != "Ada paid 3 on Thursday" || err != nil {
		t.Error(receipt, err)
	}
}

func TestMethod(t *testing.T) {
	mock.SkipUnlessHooked(t)
	d := mock.Replace(t, (*Account).withdraw, func(a *Account, amount int) error { return nil })
	if _, err := Buy(&Account{"Ada", 0}, 1000); err != nil {
		t.Error(err)
	}
	calls := d.Calls()
	if d.Count() != 1 || mock.Arg[int](calls[0], 1) != 1000 || mock.Result[error](calls[0], 0) != nil {
		t.Error(calls)
	}
}

func TestReceiver(t *testing.T) {
	mock.SkipUnlessHooked(t)
	ada, bob := &Account{"Ada", 0}, &Account{"Bob", 0}
	mock.Replace(t, ada.withdraw, func(amount int) error { return nil })
	if _, err := Buy(ada, 1); err != nil {
		t.Error(err)
	}
	if _, err := Buy(bob, 1); err == nil {
		t.Error("Bob has no money")
	}
}

func TestRetry(t *testing.T) {
	mock.SkipUnlessHooked(t)
	mock.Replace(t, (*Account).withdraw,
		func(*Account, int) error { return os.ErrDeadlineExceeded },
		mock.Times(2), mock.MustCallTimes(2))
	if _, err := Buy(&Account{"Ada", 10}, 1); err != nil { // the third attempt is the real one
		t.Error(err)
	}
}

func TestOriginal(t *testing.T) {
	mock.SkipUnlessHooked(t)
	mock.Around(t, (*Account).withdraw, func(original func(*Account, int) error) func(*Account, int) error {
		return func(a *Account, amount int) error { return original(a, amount*2) }
	})
	ada := &Account{"Ada", 10}
	Buy(ada, 3)
	if ada.balance != 4 {
		t.Error(ada.balance)
	}
}

func TestParallel(t *testing.T) {
	mock.SkipUnlessHooked(t)
	for _, day := range []int{1, 2, 3} {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			date := time.Date(2024, 2, day, 0, 0, 0, 0, time.UTC)
			mock.Replace(t, now, func() time.Time { return date })
			receipts := BuyAll([]*Account{{"Ada", 9}, {"Bob", 9}}, 1)
			if !slices.Contains(receipts, "Bob paid 1 on "+date.Weekday().String()) {
				t.Error(receipts)
			}
		})
	}
}

func TestWhen(t *testing.T) {
	mock.SkipUnlessHooked(t)
	boom := errors.New("bank on fire")
	mock.Replace(t, (*Account).withdraw,
		func(a *Account, amount int) error { return boom },
		mock.When(func(a *Account, amount int) bool { return amount > 100 }))
	if _, err := Buy(&Account{"Ada", 1000}, 5); err != nil {
		t.Error(err)
	}
	if _, err := Buy(&Account{"Ada", 1000}, 500); !errors.Is(err, boom) {
		t.Error(err)
	}
}

func TestStandardLibrary(t *testing.T) {
	mock.SkipUnlessHooked(t)
	mock.Return(t, os.ReadFile, []byte("Do buy."), nil, mock.Then(nil, fs.ErrNotExist))
	if first, then := Motto(), Motto(); first != "Do buy." || then != "Buy!" {
		t.Error(first, then)
	}
}

func TestEvery(t *testing.T) {
	mock.SkipUnlessHooked(t)
	source, err := os.Open("shop.go")
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	broken := errors.New("broken")
	mock.Every(t, io.Reader.Read, func(io.Reader, []byte) (int, error) { return 0, broken })
	if _, err := io.ReadAll(source); err != broken { // source is an *os.File
		t.Error(err)
	}
}

func TestSet(t *testing.T) {
	mock.Set(t, &errFunds, errors.New("no money"))
	if _, err := Buy(&Account{"Ada", 0}, 1); err == nil || !strings.HasSuffix(err.Error(), "no money") {
		t.Error(err)
	}
}

func TestSetUnexported(t *testing.T) {
	mock.SkipUnlessHooked(t)
	mock.SetUnexported(t, "time.unitMap", map[string]uint64{"fortnight": 14 * 24 * uint64(time.Hour)})
	if d, err := time.ParseDuration("2fortnight"); d != 4*7*24*time.Hour || err != nil {
		t.Error(d, err)
	}
}

func TestIntercept(t *testing.T) {
	mock.SkipUnlessHooked(t)
	var calls []string
	mock.Intercept(t, "shop.(*Account).*", func(c *mock.Intercepted) {
		if c.Args[1] == 13 {
			c.Return(errFunds)
		}
	}, func(c *mock.Intercepted) {
		calls = append(calls, fmt.Sprint(c.Args[1], " ", c.Results[0]))
	})
	Buy(&Account{"Ada", 100}, 3)
	Buy(&Account{"Ada", 100}, 13)
	if !slices.Equal(calls, []string{"3 <nil>", "13 insufficient funds"}) {
		t.Error(calls)
	}
}

func TestGeneric(t *testing.T) {
	mock.SkipUnlessHooked(t)
	mock.Replace(t, largest[int], func(a, b int) int { return -1 })
	if largest(1, 2) != -1 || largest("a", "b") != "b" {
		t.Error(largest(1, 2), largest("a", "b"))
	}
}

func TestAllInstances(t *testing.T) {
	mock.SkipUnlessHooked(t)
	mock.Unexported(t, "github.com/ftrace-wrap/ftrace-wrap/examples/shop.largest[...]",
		mock.Generic(func(args []any) []any { return args[:1] }))
	if largest(1, 2) != 1 || largest("a", "b") != "a" {
		t.Error(largest(1, 2), largest("a", "b"))
	}
}

func TestByName(t *testing.T) {
	mock.SkipUnlessHooked(t)
	mock.Unexported(t, "github.com/ftrace-wrap/ftrace-wrap/examples/shop.charge",
		func(*Account, int) error { return errFunds })
	if _, err := Buy(&Account{"Ada", 1000}, 5); err == nil {
		t.Error("no error")
	}
}

func TestErrors(t *testing.T) {
	mock.SkipUnlessHooked(t)
	boom := errors.New("bank on fire")
	f := mock.Errors(t, "shop.*", boom, mock.Times(1))
	for range 3 { // Buy itself fails, then what it calls, then what that calls
		if _, err := Buy(&Account{"Ada", 10}, 3); !errors.Is(err, boom) {
			t.Error(err)
		}
	}
	if _, err := Buy(&Account{"Ada", 10}, 3); err != nil || f.Count() != 3 {
		t.Error(err, f.Functions())
	}
}

func TestAwait(t *testing.T) {
	mock.SkipUnlessHooked(t)
	mock.Clock(t).Run()
	begin := time.Now()
	err := Await(t.Context(), func() bool { return false })
	if err != context.DeadlineExceeded || time.Since(begin) != time.Hour {
		t.Error(err, time.Since(begin))
	}
}

func TestAwaitByHand(t *testing.T) {
	mock.SkipUnlessHooked(t)
	c := mock.Clock(t)
	asked := 0
	go Await(t.Context(), func() bool { asked++; return false })
	c.Wait()
	if asked != 1 {
		t.Error(asked)
	}
	c.Advance(3 * time.Minute)
	if asked != 4 {
		t.Error(asked)
	}
}

func TestDice(t *testing.T) {
	mock.SkipUnlessHooked(t)
	mock.Seed(t, 1)
	if a, b := rand.IntN(6), rand.IntN(6); a != 5 || b != 0 {
		t.Error(a, b)
	}
}

func TestNoMotto(t *testing.T) {
	mock.SkipUnlessHooked(t)
	f := mock.Fault(t, os.ReadFile).Path("motto").Fails(fs.ErrPermission)
	if m := Motto(); m != "Buy!" || f.Calls() != 1 {
		t.Error(m, f.Calls())
	}
}

func TestFullDisk(t *testing.T) {
	mock.SkipUnlessHooked(t)
	mock.Fault(t, (*os.File).Write).Short(4).Fails(syscall.ENOSPC)
	file, _ := os.Create(filepath.Join(t.TempDir(), "receipt"))
	defer file.Close()
	if n, err := file.WriteString("Ada paid"); n != 4 || !errors.Is(err, syscall.ENOSPC) {
		t.Error(n, err) // the error is an *fs.PathError
	}
}

func TestBuyAll(t *testing.T) {
	receipts := BuyAll([]*Account{{"Ada", 9}, {"Bob", 9}}, 1)
	if len(receipts) != 2 {
		t.Error(receipts)
	}
}
