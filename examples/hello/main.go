// Hello greets guests in their languages, and makes a badge. Its trace has a bit of everything:
// methods, errors, an inlined function, a goroutine, and a panic that is recovered.
package main

import (
	"fmt"
	"sync"
)

// A guest is to be greeted.
type guest struct {
	name string
	lang string
}

func main() {
	for _, g := range []guest{{"Ada", "en"}, {"Worf", "tlh"}} {
		greeting, err := g.greet()
		if err != nil {
			fmt.Println("sorry:", err)
			continue
		}
		fmt.Println(greeting)
	}

	var printer sync.WaitGroup
	printer.Go(func() {
		fmt.Println("badge:", badge(""))
	})
	printer.Wait()
}

// greet says hello in the guest's language.
func (g guest) greet() (string, error) {
	word := hello(g.lang)
	if word == "" {
		return "", fmt.Errorf("%s speaks %q", g.name, g.lang)
	}
	return word + ", " + g.name + "!", nil
}

// hellos has a word of greeting for each language.
var hellos = map[string]string{"en": "Hello", "fr": "Bonjour"}

// hello is so small that the compiler inlines it. Its calls are in the trace all the same.
func hello(lang string) string {
	return hellos[lang]
}

// badge returns what is printed on a badge: an initial, or "?" if there is none.
func badge(name string) (text string) {
	defer func() {
		if recover() != nil {
			text = "?"
		}
	}()
	return initial(name)
}

// initial returns the first letter of a name, which must have one.
func initial(name string) string {
	if name == "" {
		panic("no name")
	}
	return name[:1]
}
