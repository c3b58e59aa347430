// Books is a server of books with its client in one process. A request calls a function, which
// sends a statement to a database, which waits. The database is one in memory, behind
// database/sql.
package main

import (
	"database/sql"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"time"
)

func main() {
	lasts := flag.Duration("for", 0, "how long to go on with requests")
	flag.Parse()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	db, err := sql.Open("memory", "")
	if err != nil {
		log.Fatal(err)
	}
	shelf := &shelf{db}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /books/{id}", shelf.serve)
	go http.Serve(listener, mux)
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		for _, id := range []string{"7", "8"} {
			status, text := get("http://" + listener.Addr().String() + "/books/" + id)
			if *lasts == 0 {
				fmt.Println(status, text)
			}
		}
		if time.Since(begun) >= *lasts {
			return
		}
	}
}

// get makes a request.
func get(url string) (status int, text string) {
	resp, err := http.Get(url)
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		log.Fatal(err)
	}
	return resp.StatusCode, strings.TrimSpace(string(body))
}

// A shelf has books.
type shelf struct{ db *sql.DB }

func (s *shelf) serve(w http.ResponseWriter, r *http.Request) {
	title, err := s.title(r.PathValue("id"))
	if err != nil {
		http.Error(w, "no such book", http.StatusNotFound)
		return
	}
	fmt.Fprint(w, title)
}

// title returns the title of the book with that number.
func (s *shelf) title(id string) (title string, err error) {
	err = s.db.QueryRow("SELECT title FROM books WHERE id = ?", id).Scan(&title)
	return title, err
}
