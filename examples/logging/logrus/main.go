// Command logrus logs with github.com/sirupsen/logrus.
package main

import (
	"errors"
	"sync"

	log "github.com/sirupsen/logrus"
)

func main() {
	log.SetLevel(log.DebugLevel)
	log.SetFormatter(&log.TextFormatter{DisableTimestamp: true, DisableColors: true}) // without time: the same each time
	log.WithField("addr", ":8080").Info("shop is open")
	var done sync.WaitGroup
	done.Go(func() { sell("tea", 3) })
	done.Wait() // the lines come in the same order each time
	done.Go(func() { sell("milk", 0) })
	done.Wait()
	log.Info("shop is closed")
}

func sell(item string, pieces int) {
	log.WithFields(log.Fields{"item": item, "pieces": pieces}).Info("order")
	sum, err := quote(item, pieces)
	if err != nil {
		log.WithError(err).Error("refused")
		return
	}
	log.WithFields(log.Fields{"item": item, "sum": sum}).Warn("sold out")
}

func quote(item string, pieces int) (int, error) {
	log.WithField("item", item).Debug("looking up")
	if pieces == 0 {
		return 0, errors.New("nothing ordered")
	}
	return pieces * price(item), nil
}

func price(item string) int { return len(item) }
