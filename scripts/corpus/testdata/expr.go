// Command expr compiles and evaluates expressions and prints results, byte code and errors.
package main

import (
	"fmt"

	"github.com/expr-lang/expr"
)

type user struct {
	Name string
	Age  int
	Tags []string
}

func (u user) Greet(s string) string { return s + ", " + u.Name }

func main() {
	env := map[string]any{
		"users": []user{{"Ann", 31, []string{"a", "b"}}, {"Bob", 17, nil}, {"Cleo", 64, []string{"b"}}},
		"n":     42, "f": 2.5, "s": "hello", "m": map[string]int{"x": 1},
		"add":  func(a, b int) int { return a + b },
		"fail": func() (int, error) { return 0, fmt.Errorf("no luck") },
		"boom": func() int { panic("boom") },
	}
	for _, code := range []string{
		`filter(users, .Age > 18) | map(.Name)`, `users[0].Greet("Hi") + "!"`, `add(n, 1) ** 2 / f`,
		`all(users, {len(.Tags) < 3}) and "b" in users[0].Tags`, `sum(map(1..100, # * 2))`, `let x = n; x > 1 ? x : -x`,
		`groupBy(users, .Age > 18)`, `sortBy(users, .Age, "desc")[0].Name`, `s matches "^h.*o$"`, `m?.y ?? "none"`,
		`reduce(1..10, #acc + #, 0)`, `users[9].Name`, `fail()`, `boom()`, `n + s`, `1 +`, `unknown(1)`, `toJSON(m)`,
		`split(s, "l") | join("-") | upper()`, `{"a": n, "b": [f, s]}`,
	} {
		program, err := expr.Compile(code, expr.Env(env))
		if err != nil {
			fmt.Printf("%s\n  compile: %v\n", code, err)
			continue
		}
		out, err := expr.Run(program, env)
		fmt.Printf("%s\n  %v %T, error: %v\n%s", code, out, out, err, program.Disassemble())
	}
}
