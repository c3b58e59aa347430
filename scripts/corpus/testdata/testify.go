// Command testify prints the messages of failing assertions, with the positions that they give, and of mocks.
package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
)

type printer struct{}

func (printer) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (printer) FailNow()                          { panic("FailNow") }
func (printer) Logf(format string, args ...any)   { fmt.Printf(format+"\n", args...) }
func (printer) Helper()                           {}

type store struct{ mock.Mock }

func (s *store) Get(id int) (string, error) {
	args := s.Called(id)
	return args.String(0), args.Error(1)
}

func try(f func()) {
	defer func() {
		if v := recover(); v != nil {
			fmt.Println("panic:", strings.SplitN(fmt.Sprint(v), "0x", 2)[0])
		}
	}()
	f()
}

func main() {
	t := printer{}
	assert.Equal(t, []int{1, 2}, []int{1, 3}, "lists %d", 7)
	assert.NoError(t, errors.New("bad"))
	assert.ErrorIs(t, fmt.Errorf("x: %w", io.EOF), io.ErrUnexpectedEOF)
	assert.ElementsMatch(t, []string{"a", "b"}, []string{"b", "c"})
	assert.JSONEq(t, `{"a":1}`, `{"a":2}`)
	assert.Len(t, map[string]int{"k": 1}, 2)
	assert.InDelta(t, 1.0, 2.0, 0.5)
	try(func() { require.True(t, false) })
	try(func() { require.Contains(t, "hello", "z") })
	s := new(store)
	s.On("Get", 1).Return("one", nil).Once()
	s.On("Get", mock.MatchedBy(func(i int) bool { return i > 10 })).Return("", errors.New("big"))
	try(func() { fmt.Println(s.Get(1)) })
	try(func() { fmt.Println(s.Get(11)) })
	try(func() { fmt.Println(s.Get(2)) })
	fmt.Println(s.AssertExpectations(t), s.AssertNumberOfCalls(t, "Get", 5))
}
