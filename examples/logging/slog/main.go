// Command slog logs with log/slog.
package main

import (
	"errors"
	"log/slog"
	"os"
	"sync"
)

func main() {
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug})))
	slog.Info("shop is open", "addr", ":8080")
	var done sync.WaitGroup
	done.Go(func() { sell("tea", 3) })
	done.Wait() // the lines come in the same order each time
	done.Go(func() { sell("milk", 0) })
	done.Wait()
	slog.Info("shop is closed")
}

func sell(item string, pieces int) {
	slog.Info("order", "item", item, "pieces", pieces)
	sum, err := quote(item, pieces)
	if err != nil {
		slog.Error("refused", "item", item, "err", err)
		return
	}
	slog.Warn("sold out", "item", item, "sum", sum)
}

func quote(item string, pieces int) (int, error) {
	slog.Debug("looking up", "item", item)
	if pieces == 0 {
		return 0, errors.New("nothing ordered")
	}
	return pieces * price(item), nil
}

func price(item string) int { return len(item) }
