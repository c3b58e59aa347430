// Troubled is a service in which four things are slow: a lock that is held for long, a queue from
// which nobody takes, a disk, and a query. docs/waits.md finds each from outside.
//
// Usage: troubled -file FILE -dsn DSN ADDRESS
package main

import (
	"database/sql"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	_ "github.com/go-sql-driver/mysql"
)

// hits counts requests by path.
type hits struct {
	mu sync.Mutex
	by map[string]int
}

// add counts a request. It tells another service while it holds the lock.
func (h *hits) add(path string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.by[path]++
	tell()
}

func tell() { time.Sleep(100 * time.Millisecond) }

// jobs are what is to be done in the background.
var jobs = make(chan string, 2)

// work does the first three jobs, and ends.
func work() {
	for range 3 {
		<-jobs
	}
}

// a service answers requests.
type service struct {
	hits hits
	file string
	db   *sql.DB
}

func (s *service) count(w http.ResponseWriter, r *http.Request) { s.hits.add(r.URL.Path) }

func (s *service) enqueue(w http.ResponseWriter, r *http.Request) { jobs <- r.URL.RawQuery }

func (s *service) load(w http.ResponseWriter, r *http.Request) {
	f, err := os.Open(s.file)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer f.Close()
	fmt.Fprint(w, first(f))
}

// first returns how a file begins.
func first(f *os.File) string {
	b := make([]byte, 100)
	n, _ := f.Read(b)
	return string(b[:n])
}

func (s *service) report(w http.ResponseWriter, r *http.Request) {
	var n int
	if err := s.db.QueryRow("SELECT SLEEP(60)").Scan(&n); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func main() {
	file := flag.String("file", "", "`file` that is read")
	dsn := flag.String("dsn", "", "data source `name` of the database")
	flag.Parse()
	db, err := sql.Open("mysql", *dsn)
	if err != nil {
		log.Fatal(err)
	}
	s := &service{hits: hits{by: map[string]int{}}, file: *file, db: db}
	http.HandleFunc("/count", s.count)
	http.HandleFunc("/enqueue", s.enqueue)
	http.HandleFunc("/load", s.load)
	http.HandleFunc("/report", s.report)
	go work()
	l, err := net.Listen("tcp", flag.Arg(0))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening at", l.Addr())
	log.Fatal(http.Serve(l, nil))
}
