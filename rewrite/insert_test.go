package rewrite

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

const insertInto = `package p

type conn struct {
	n int // how many
}

type small struct{ a int }

func (c *conn) read() ([]byte, error) {
	if c.n == 0 {
		return nil, nil
	}
	return make([]byte, c.n), nil
}

func (c *conn) close(_ int, why string) {
	if c.n == 0 {
		return
	}
	c.n = 0
}

func open(name string) (c *conn, err error) {
	defer func() { c = nil }()
	return &conn{}, nil
}

func (c *conn) serve(each func(int)) {
	defer func() { each(0) }()
	for i := range c.n {
		switch {
		case i > 0:
			each(i)
		default:
			each(1)
			each(1)
		}
	}
}
`

// TestInsert compares what comes out with what is expected, which has as many lines.
func TestInsert(t *testing.T) {
	const want = `package p

type conn struct {
	n int // how many
hook *hook}

type small struct{ a int ;b int}

func (c *conn) read() (_ftraced_r0 []byte,_ftraced_r1  error) {on(c);
	if c.n == 0 {
		_ftraced_r0,_ftraced_r1= nil, nil;off(_ftraced_r0, _ftraced_r1);return
	}
	_ftraced_r0,_ftraced_r1= make([]byte, c.n), nil;off(_ftraced_r0, _ftraced_r1);return
}

func (c *conn) close(_ftraced_p1 int, why string) {
	if c.n == 0 {
		closed(c, _ftraced_p1, why);return
	}
	c.n = 0
;closed(c, _ftraced_p1, why);}

func open(name string) (c *conn, err error) {defer opened(name, &c, &err);
	defer func() { c = nil }()
	return &conn{}, nil
}

func (c *conn) serve(each func(int)) {
	defer func() { each(0) }()
	for i := range c.n {
		switch {
		case i > 0:
			before(c, i);each(i);after(each)
		default:
			each(1)
			each(1)
		}
	}
}
`
	changed, missing, err := Insert([]File{{"a.go", []byte("package p\n")}, {"b.go", []byte(insertInto)}}, []Insertion{
		{Func: "(*conn).read", Type: "func() ([]byte, error)", Entry: "on({recv});", Exit: "off({r0}, {r1});"},
		{Func: "(*conn).close", Type: "func(int, string)", Exit: "closed({recv}, {p0}, {p1});"},
		{Func: "open", Type: "func(string) (*conn, error)", Entry: "defer opened({p0}, &{r0}, &{r1});"},
		{Func: "(*conn).serve", Type: "func(func(int))", Around: "each(i)", Entry: "before({recv}, i);", Exit: "after({p0})"},
	}, []Field{{Type: "conn", Text: "hook *hook", Has: "n"}, {Type: "small", Text: "b int"}})
	if err != nil || missing != nil {
		t.Fatal(err, missing)
	}
	if changed[0] != nil {
		t.Errorf("a file without the functions was changed: %q", changed[0])
	}
	got := string(changed[1])
	if strings.Join(strings.Fields(got), "") != strings.Join(strings.Fields(want), "") {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	// Hooks are made in it as if the results had no names.
	result, err := Package(Options{ImportPath: "p", Symbol: "p"}, []File{{"b.go", changed[1]}})
	if err != nil || !strings.Contains(string(result.Register), "(*conn).read c;,!;") {
		t.Errorf("%v, the table is\n%s", err, result.Register)
	}
	if strings.Count(got, "\n") != strings.Count(insertInto, "\n") {
		t.Error("there are other lines than before")
	}
}

// TestInsertMissing asks for what is not there: nothing is changed then.
func TestInsertMissing(t *testing.T) {
	changed, missing, err := Insert([]File{{"b.go", []byte(insertInto)}}, []Insertion{
		{Func: "(*conn).read", Type: "func() ([]byte, error)", Entry: "on();"},
		{Func: "(*conn).write", Type: "func()"},
		{Func: "(*conn).close", Type: "func(string)"},
		{Func: "open", Type: "func(string) (*conn, error)", Exit: "closed();"},
		{Func: "(*conn).serve", Type: "func(func(int))", Around: "each(0)", Entry: "on();"},
		{Func: "(*conn).serve", Type: "func(func(int))", Around: "each(1)", Entry: "on();"},
	}, []Field{{Type: "connection", Text: "hook *hook"}, {Type: "conn", Has: "m"}})
	want := []string{
		"there is no (*conn).write",
		"(*conn).close is a func(int, string), not a func(string)",
		"open does not return plainly",
		`(*conn).serve has "each(0)" 0 times`,
		`(*conn).serve has "each(1)" 2 times`,
		"there is no struct type connection",
		"conn has no field m",
	}
	if err != nil || changed != nil || !slices.Equal(missing, want) {
		t.Errorf("changed %v, missing %q, error %v; want %q", changed, missing, err, want)
	}
	if _, _, err := Insert([]File{{"b.go", []byte("package")}}, nil, nil); !errors.Is(err, ErrSyntax) {
		t.Errorf("a file that does not parse: %v", err)
	}
}
