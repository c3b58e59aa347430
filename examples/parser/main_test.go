package main

import "testing"

func TestEvaluate(t *testing.T) {
	for _, test := range []struct {
		text string
		want int
	}{{"7", 7}, {"1-2-3", -4}, {"-(2)*3", -6}, {"7/2", 3}} {
		if got, err := evaluate(test.text); got != test.want || err != nil {
			t.Errorf("%s = %d, %v, want %d", test.text, got, err, test.want)
		}
	}
	for _, text := range []string{"", "1+", "(1", "1)", "1/0"} {
		if got, err := evaluate(text); err == nil {
			t.Errorf("%s = %d, want an error", text, got)
		}
	}
}
