package rewrite

import (
	"strings"
	"testing"
)

func TestConstants(t *testing.T) {
	const source = `package p

import "other"

type Color int
type Mode uint8
type Big uint64
type Shadowed int
type Limit int
type Other int
type Alias = int
type Text string

const (
	Red Color = iota
	_
	Blue
	Same = Blue
)

const (
	Read Mode = 1 << iota
	Write
	All = Read | Write
)

const (
	Small Big = 1
	Large Big = 1<<64 - 1
)

const A, B Shadowed = 1, 2
const Most Limit = 7
const Here, There, Outside Other = -1, 2, Other(other.Value)
const One, Two Alias = 1, 2
const Name, Surname Text = "a", "b"

func F() { type Shadowed int }
`
	result, err := Package(Options{ImportPath: "example.com/p", Symbol: "example.com/p"}, []File{{Name: "p.go", Source: []byte(source)}})
	if err != nil {
		t.Fatal(err)
	}
	_, got, _ := strings.Cut(string(result.Register), `constants: "`)
	got, _, _ = strings.Cut(got, `"`)
	const want = `Big 1 Small,-1 Large\nColor 0 Red,2 Blue\nMode 1 Read,2 Write,3 All\nOther -1 Here,2 There\n`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
