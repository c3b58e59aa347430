package shop

import (
	"errors"
	"io/fs"
	"os"
	"slices"
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
	var d *mock.Double[func(*Account, int) error]
	d = mock.Replace(t, (*Account).withdraw, func(a *Account, amount int) error {
		return d.Original()(a, amount*2)
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
	mock.Replace(t, os.ReadFile,
		func(string) ([]byte, error) { return []byte("Do buy."), nil },
		mock.Sequence(func(string) ([]byte, error) { return nil, fs.ErrNotExist }))
	if first, then := Motto(), Motto(); first != "Do buy." || then != "Buy!" {
		t.Error(first, then)
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

func TestBuyAll(t *testing.T) {
	receipts := BuyAll([]*Account{{"Ada", 9}, {"Bob", 9}}, 1)
	if len(receipts) != 2 {
		t.Error(receipts)
	}
}
