// Command session connects to a MySQL or MariaDB server, asks what its arguments say, prints the answers, and quits. With
//
//	session 'root@tcp(127.0.0.1:3306)/' 'select @@version_comment limit 1' 'SELECT user()'
//
// it does what the mysql client did whose trace stands in WL#6226.
package main

import (
	"database/sql"
	"fmt"
	"log"
	"os"

	_ "github.com/go-sql-driver/mysql"
)

func main() {
	db, err := sql.Open("mysql", os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	for _, query := range os.Args[2:] {
		var answer string
		if err := db.QueryRow(query).Scan(&answer); err != nil {
			fmt.Println("error:", err)
			continue
		}
		fmt.Println(answer)
	}
	if err := db.Close(); err != nil {
		log.Fatal(err)
	}
}
