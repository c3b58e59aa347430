// Command zap logs with go.uber.org/zap.
package main

import (
	"errors"
	"os"
	"sync"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

func main() {
	config := zap.NewDevelopmentEncoderConfig()
	config.TimeKey = "" // without time: the same each time
	log := zap.New(zapcore.NewCore(zapcore.NewConsoleEncoder(config), zapcore.Lock(os.Stderr), zap.DebugLevel))
	defer log.Sync()
	log.Info("shop is open", zap.String("addr", ":8080"))
	var done sync.WaitGroup
	done.Go(func() { sell(log, "tea", 3) })
	done.Wait() // the lines come in the same order each time
	done.Go(func() { sell(log, "milk", 0) })
	done.Wait()
	log.Info("shop is closed")
}

func sell(log *zap.Logger, item string, pieces int) {
	log = log.With(zap.String("item", item))
	log.Info("order", zap.Int("pieces", pieces))
	sum, err := quote(log, item, pieces)
	if err != nil {
		log.Error("refused", zap.Error(err))
		return
	}
	log.Warn("sold out", zap.Int("sum", sum))
}

func quote(log *zap.Logger, item string, pieces int) (int, error) {
	log.Debug("looking up")
	if pieces == 0 {
		return 0, errors.New("nothing ordered")
	}
	return pieces * price(item), nil
}

func price(item string) int { return len(item) }
