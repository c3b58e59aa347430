// Command zerolog logs with github.com/rs/zerolog.
package main

import (
	"errors"
	"os"
	"sync"

	"github.com/rs/zerolog"
)

var log = zerolog.New(os.Stderr) // without time: the same each time

func main() {
	log.Info().Str("addr", ":8080").Msg("shop is open")
	var done sync.WaitGroup
	done.Go(func() { sell("tea", 3) })
	done.Wait() // the lines come in the same order each time
	done.Go(func() { sell("milk", 0) })
	done.Wait()
	log.Info().Msg("shop is closed")
}

func sell(item string, pieces int) {
	log.Info().Str("item", item).Int("pieces", pieces).Msg("order")
	sum, err := quote(item, pieces)
	if err != nil {
		log.Error().Err(err).Str("item", item).Msg("refused")
		return
	}
	log.Warn().Str("item", item).Int("sum", sum).Msg("sold out")
}

func quote(item string, pieces int) (int, error) {
	log.Debug().Str("item", item).Msg("looking up")
	if pieces == 0 {
		return 0, errors.New("nothing ordered")
	}
	return pieces * price(item), nil
}

func price(item string) int { return len(item) }
