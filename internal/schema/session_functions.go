package schema

import (
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/engine"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/functions"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
)

// serverVersion is what VERSION() returns: the MySQL whose Performance Schema these tables
// resemble.
const serverVersion = "5.7.44-ftrace"

// A sessionFunction is a function that is called for the session whose statement it is.
type sessionFunction struct {
	name string
	args int32
	call func(s *Session, a []value) value
}

// sessionFunctions are those that know the session, or the tables.
var sessionFunctions = []sessionFunction{
	{"version", 0, func(*Session, []value) value { return serverVersion }},
	{"recursion", 2, recursion},
	{"enum_index", 1, func(_ *Session, a []value) value {
		for _, values := range [][]string{{"YES", "NO"}, source.TimerNames} {
			if i := slices.Index(values, functions.AsText(a[0])); i >= 0 {
				return int64(i + 1)
			}
		}
		return int64(0)
	}},
}

// recursion is called as a recursion begins, and then for each row that it goes on from; in a round
// there are at most so many, 0: it begins.
func recursion(s *Session, a []value) value {
	number, _ := a[0].(int64)
	most, _ := a[1].(int64)
	if most == 0 {
		s.statement.recursions[number] = 0
		return int64(1)
	}
	s.statement.recursions[number]++
	limit, _ := strconv.ParseFloat(s.variables["cte_max_recursion_depth"], 64)
	if rounds := (s.statement.recursions[number] + most - 1) / most; float64(rounds) > limit {
		return mysqlerr.New(mysqlerr.Recursion, "Recursive query aborted after %d iterations. Try increasing @@cte_max_recursion_depth to a larger value.", rounds)
	}
	return int64(1)
}

// underWay is a session's statement, as functions and tables see it.
type underWay struct{ s *Session }

func (u underWay) Stopped() bool      { return u.s.stopped() }
func (u underWay) Interrupted() error { return u.s.interrupted() }
func (u underWay) Fail(err error)     { u.s.fail(err) }

func (u underWay) Status() map[string]string {
	c, who := u.s.catalog, u.s.who.Load()
	return map[string]string{"Ssl_cipher": who.cipher, "Ssl_version": who.proto, "Threads_running": "1", "Threads_connected": fmt.Sprint(c.connected.Load()),
		"Questions": fmt.Sprint(c.questions.Load()), "Uptime": fmt.Sprint(int64(time.Since(c.started).Seconds()))}
}

func (u underWay) Variables() map[string]string { return u.s.variables }

func (u underWay) Done() <-chan struct{} {
	if u.s.running == nil {
		return nil
	}
	return u.s.running.ctx.Done()
}

func (u underWay) Cut(kind, text string, once bool) {
	e := cutError(kind, text)
	if !once || !slices.Contains(u.s.warned.list, warning{"Warning", e.Number, e.Message}) {
		u.s.warn("Warning", e)
	}
}

// allFunctions are those that SQLite gets.
var allFunctions = sync.OnceValue(func() (list []engine.Function) {
	for _, f := range slices.Concat(sessionFunctions, lockFunctions) {
		list = append(list, engine.Function{Name: f.name, Args: f.args, Call: func(s any, a []value) value { return f.call(s.(*Session), a) }})
	}
	for _, f := range functions.All() {
		list = append(list, engine.Function{Name: f.Name, Args: f.Args, Call: func(s any, a []value) value { return f.Call(underWay{s.(*Session)}, a) }})
	}
	return list
})
