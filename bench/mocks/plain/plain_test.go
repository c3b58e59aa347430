// Package plain measures calls without anything that could replace functions.
package plain

import (
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/bench/mocks/target"
)

func BenchmarkSmall(b *testing.B) { target.CallSmall(b) }
func BenchmarkLarge(b *testing.B) { target.CallLarge(b, 3) }
