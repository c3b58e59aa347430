// Command gjson puts queries to a document that it makes.
package main

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
)

func document() string {
	var b strings.Builder
	b.WriteString(`{"name":{"first":"Tom","last":"Anderson"},"escaped":"a\u00e9\n\"b\"","list":[`)
	for i := range 200 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":%d,"f":%g,"tag":"t%d","on":%t,"sub":{"x":[%d,null,-1e3]}}`, i, float64(i)/7, i%5, i%3 == 0, i)
	}
	b.WriteString(`]}`)
	return b.String()
}

func main() {
	doc := document()
	for _, path := range []string{
		"name.first", "list.#", "list.3", "list.#.id", `list.#(tag=="t3").id`, `list.#(tag=="t3")#.f`,
		`list.#(id>190)#|@reverse`, "list.7.sub.x.2", "name|@pretty", "name|@keys", "@this|@ugly|name", "escaped",
		"list.10.{id,tag}", "missing.path", `list.#(sub.x.0==5).on`, "name.@flatten", "list.1|@tostr",
	} {
		r := gjson.Get(doc, path)
		fmt.Println(path, r.Type, r.Exists(), r.Index, r.String())
	}
	sum := 0.0
	gjson.Get(doc, "list").ForEach(func(_, v gjson.Result) bool {
		sum += v.Get("f").Float()
		return v.Get("id").Int() < 150
	})
	fmt.Println(sum, gjson.Valid(doc), gjson.Valid(doc[1:]), len(gjson.GetMany(doc, "name", "list")))
	fmt.Println(gjson.Parse(doc).Get("name").Value(), gjson.GetBytes([]byte(doc), "list.2.sub").Raw)
}
