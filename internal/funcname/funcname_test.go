package funcname

import "testing"

func TestSplit(t *testing.T) {
	for _, c := range []struct{ name, pkg, function, short string }{
		{"main.main", "main", "main", "main.main"},
		{"net/http.(*Client).Do", "net/http", "(*Client).Do", "http.(*Client).Do"},
		{"gopkg.in/yaml%2ev3.Marshal", "gopkg.in/yaml%2ev3", "Marshal", "yaml.Marshal"},
		{"math/rand/v2.IntN", "math/rand/v2", "IntN", "rand.IntN"},
		{"example.com/list/v12.(*List[example.com/a/v2.T]).Len", "example.com/list/v12", "(*List[example.com/a/v2.T]).Len", "list.(*List[example.com/a/v2.T]).Len"},
		{"example.com/v2x.F", "example.com/v2x", "F", "v2x.F"},
		{"example.com/v.F", "example.com/v", "F", "v.F"},
		{"example.com/ipv6.F", "example.com/ipv6", "F", "ipv6.F"},
		{"example.com/k8s/v01.F", "example.com/k8s/v01", "F", "v01.F"},
		{"k8s.io/api/core/v1.(*Pod).Size", "k8s.io/api/core/v1", "(*Pod).Size", "v1.(*Pod).Size"},
		{"gopkg.in/list.v1.New", "gopkg.in/list", "v1.New", "list.New"},
		{"gopkg.in/list.v1", "gopkg.in/list", "v1", "list.v1"},
		{"v2.F", "v2", "F", "v2.F"},
		{"/v2.F", "/v2", "F", "v2.F"},
		{"%2ev2.F", "%2ev2", "F", "%2ev2.F"},
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
