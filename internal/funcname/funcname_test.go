package funcname

import "testing"

func TestSplit(t *testing.T) {
	for _, c := range []struct{ name, pkg, function, short string }{
		{"main.main", "main", "main", "main.main"},
		{"net/http.(*Client).Do", "net/http", "(*Client).Do", "http.(*Client).Do"},
		{"gopkg.in/yaml%2ev3.Marshal", "gopkg.in/yaml%2ev3", "Marshal", "yaml%2ev3.Marshal"},
		{"main.Map[example.com/a/b.T,int]", "main", "Map[example.com/a/b.T,int]", "main.Map[example.com/a/b.T,int]"},
		{"example.com/c.(*List[go.shape.struct { example.com/a.X int }]).Push.func1", "example.com/c", "(*List[go.shape.struct { example.com/a.X int }]).Push.func1", "c.(*List[go.shape.struct { example.com/a.X int }]).Push.func1"},
		{"gcWriteBarrier", "gcWriteBarrier", "", "gcWriteBarrier"},
		{"", "", "", ""},
	} {
		pkg, function := Split(c.name)
		if short := Short(c.name); pkg != c.pkg || function != c.function || short != c.short {
			t.Errorf("%s: package %q, function %q, short %q", c.name, pkg, function, short)
		}
	}
}
