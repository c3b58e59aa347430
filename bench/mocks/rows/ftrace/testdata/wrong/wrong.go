// Package wrong replaces a function by one of another type. It does not compile.
package wrong

import (
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/bench/mocks/rows/target"
	"github.com/ftrace-wrap/ftrace-wrap/mock"
)

func replace(t *testing.T) {
	mock.Replace(t, target.Large, func() int { return 1 })
}
