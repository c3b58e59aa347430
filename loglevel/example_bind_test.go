package loglevel_test

import (
	"errors"
	"fmt"

	"github.com/ftrace-wrap/ftrace-wrap/loglevel"
	ftrace "github.com/ftrace-wrap/ftrace-wrap/runtime"
)

// While the level is TRACE all calls are shown, those of package db with what their pointers point
// to.
func ExampleBind() {
	var level loglevel.LevelVar
	for _, options := range [][]loglevel.Option{
		nil,
		{loglevel.For("example.com/app/db"), loglevel.As("deep")},
	} {
		binding, err := loglevel.Bind(&level, options...)
		if errors.Is(err, ftrace.ErrInactive) {
			fmt.Println(err)
		}
		defer binding.Unbind()
	}
	level.Store(loglevel.Trace)
	// calls are shown here
	level.Store(loglevel.Info)
	// Output:
	// ftrace: this program was not built with ftrace-wrap
	// ftrace: this program was not built with ftrace-wrap
}
