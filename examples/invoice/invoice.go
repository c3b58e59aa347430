// Package invoice writes sums in other currencies.
package invoice

import (
	"errors"
	"fmt"

	"github.com/ftrace-wrap/ftrace-wrap/examples/invoice/rates"
)

// Total returns a sum of euros in a currency, or in euros if its rate is unknown.
func Total(c *rates.Client, euros float64, currency string) (string, error) {
	rate, err := c.Rate(currency)
	switch {
	case errors.Is(err, rates.ErrUnknown):
		return fmt.Sprintf("%.2f EUR", euros), nil
	case err != nil:
		return "", err
	}
	return fmt.Sprintf("%.2f %s of %s", euros*rate.Value, currency, rate.On.Format("2 January")), nil
}
