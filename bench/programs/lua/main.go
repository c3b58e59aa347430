// Lua runs a CPU-bound script in an interpreter.
package main

import (
	"log"

	lua "github.com/yuin/gopher-lua"
)

const script = `
local function fib(n) if n < 2 then return n end return fib(n-1) + fib(n-2) end
local words, sum = {}, fib(25)
for i = 1, 200000 do
	local w = string.format("%d:%s", i % 1000, string.sub("hello world", i % 5 + 1, i % 5 + 5))
	words[w] = (words[w] or 0) + 1
	if string.find(w, "l+o") then sum = sum + #w end
end
local n = 0
for _ in pairs(words) do n = n + 1 end
print(sum, n)
`

func main() {
	state := lua.NewState()
	defer state.Close()
	if err := state.DoString(script); err != nil {
		log.Fatal(err)
	}
}
