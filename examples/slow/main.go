// Slow makes a page of books. It takes longer than it should: docs/time.md finds out why.
package main

import (
	"fmt"
	"time"
)

type book struct {
	title  string
	author int
}

func main() {
	fmt.Print(page())
}

// page returns a line for each book.
func page() (text string) {
	for _, b := range books() {
		text += b.title + " by " + author(b.author) + "\n"
	}
	return text
}

func books() []book {
	query("SELECT title, author FROM books")
	return []book{{"Emma", 1}, {"Dune", 2}, {"Persuasion", 1}, {"Ulysses", 3}, {"Lady Susan", 1}, {"Dune Messiah", 2}}
}

// author returns the name of the author with this number.
func author(id int) string {
	query(fmt.Sprintf("SELECT name FROM authors WHERE id = %d", id))
	return []string{"Austen", "Herbert", "Joyce"}[id-1]
}

// query takes as long as a database that is some way off.
func query(statement string) {
	time.Sleep(10 * time.Millisecond)
}
