// Doubles that ftrace-wrap test -record-doubles made. Recording again replaces this file.

package invoice

import (
	"fmt"
	"testing"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/examples/invoice/rates"
	"github.com/ftrace-wrap/ftrace-wrap/mock"
)

// useDoubles replays calls across a border, until the test ends:
// rates.
// A call that was not recorded is an error of the test. With the option mock.Lenient() it is logged,
// and goes to the real function.
func useDoubles(t testing.TB, opts ...mock.Option) {
	t.Helper()
	mock.Replay(t, (*rates.Client).Rate, clientRateCalls, opts...)
	mock.Replay(t, rates.Dial, ratesDialCalls, opts...)
	// No call of these was recorded, or none could be kept. What is replaced after this is replaced.
	mock.Never(t, "github.com/ftrace-wrap/ftrace-wrap/examples/invoice/rates.(*Client).Close", opts...)
}

// A clientRateCall is a call of rates.(*Client).Rate: its arguments, then its results.
type clientRateCall struct {
	C        mock.Any // the receiver, which is not compared
	Currency string
	Result   *rates.Rate
	Err      error
}

// clientRateCalls returns the calls in the order in which they were made.
func clientRateCalls() []clientRateCall {
	return []clientRateCall{
		{
			Currency: "USD",
			Result:   &rates.Rate{Currency: "USD", Value: 1.25, On: time.Date(2026, time.November, 24, 0, 0, 0, 0, time.UTC)},
		},
		{Currency: "XYZ", Err: fmt.Errorf("rate of XYZ: %w", rates.ErrUnknown)},
	}
}

// A ratesDialCall is a call of rates.Dial: its arguments, then its results.
type ratesDialCall struct {
	File   string
	Token  mock.Any // a secret, by its name, which is not compared
	Result *rates.Client
	Err    error
}

// ratesDialCalls returns the calls in the order in which they were made.
// Structs lack the fields that only their package can set.
func ratesDialCalls() []ratesDialCall {
	return []ratesDialCall{
		{File: "rates/rates.json", Result: &rates.Client{}},
	}
}
