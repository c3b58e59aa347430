package invoice

import (
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/examples/invoice/rates"
	"github.com/ftrace-wrap/ftrace-wrap/mock"
)

func TestTotal(t *testing.T) {
	mock.SkipUnlessHooked(t)
	useDoubles(t)
	c, err := rates.Dial("rates/rates.json", "t0ps3cr3t")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ currency, want string }{
		{"USD", "12.50 USD of 24 November"},
		{"XYZ", "10.00 EUR"},
	} {
		if got, err := Total(c, 10, tt.currency); got != tt.want || err != nil {
			t.Error(got, err)
		}
	}
}
