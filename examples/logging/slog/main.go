// Command slog logs with log/slog.
package main

import (
	"errors"
	"log/slog"
	"os"
	"sync"
)

func main() {
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: withoutTime})))
	slog.Info("shop is open", "addr", ":8080")
	var done sync.WaitGroup
	done.Add(2)
	go sell("tea", 3, &done)
	go sell("milk", 0, &done)
	done.Wait()
	slog.Info("shop is closed")
}

// withoutTime keeps the lines the same each time.
func withoutTime(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

func sell(item string, pieces int, done *sync.WaitGroup) {
	defer done.Done()
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
