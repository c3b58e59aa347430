// Package shop is what docs/mock.md tests: a program that no one wrote with tests in mind.
package shop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// An Account has an amount of money.
type Account struct {
	Owner   string
	balance int
}

var errFunds = errors.New("insufficient funds")

func (a *Account) withdraw(amount int) error {
	if amount > a.balance {
		return errFunds
	}
	a.balance -= amount
	return nil
}

func now() time.Time { return time.Now() }

// Buy takes the price of a thing from an account.
func Buy(a *Account, price int) (receipt string, err error) {
	if err := charge(a, price); err != nil {
		return "", fmt.Errorf("%s can't pay: %w", a.Owner, err)
	}
	return fmt.Sprintf("%s paid %d on %s", a.Owner, price, now().Format("Monday")), nil
}

// charge tries again when the bank does not answer.
func charge(a *Account, price int) (err error) {
	for range 3 {
		if err = a.withdraw(price); !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
	}
	return err
}

// BuyAll buys for all accounts at once.
func BuyAll(accounts []*Account, price int) (receipts []string) {
	receipts = make([]string, len(accounts))
	var wg sync.WaitGroup
	for i, a := range accounts {
		wg.Go(func() { receipts[i], _ = Buy(a, price) })
	}
	wg.Wait()
	return receipts
}

// Await asks each minute whether a payment is confirmed, for an hour.
func Await(ctx context.Context, confirmed func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, time.Hour)
	defer cancel()
	for !confirmed() {
		select {
		case <-time.After(time.Minute):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Motto reads the shop's motto.
func Motto() string {
	text, err := os.ReadFile("/etc/shop/motto")
	if err != nil {
		return "Buy!"
	}
	return string(text)
}

// largest is generic.
func largest[T int | string](a, b T) T { return max(a, b) }
