// Command tour does on connections to a MariaDB server what makes each event of the protocol: its arguments are the server's address, and one that nobody listens at.
package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

func main() {
	log.SetFlags(0)
	mysql.SetLogger(log.New(io.Discard, "", 0))
	server := "tcp(" + os.Args[1] + ")/"

	part("a table", "root@"+server+"mysql?multiStatements=true", func(c *sql.Conn) error {
		_, err := c.ExecContext(background, "create temporary table pets (name varchar(20), legs int); insert into pets values ('cat', 4), ('bird', 2)")
		check(err)
		rows, err := c.QueryContext(background, "select name from pets; select legs from pets where legs > ?", 3)
		if err != nil { // parameters make it a prepared statement, and those are single
			fmt.Println("error:", err)
			rows, err = c.QueryContext(background, "select name from pets; select legs from pets where legs > 3")
			check(err)
		}
		for more := true; more; more = rows.NextResultSet() {
			for rows.Next() {
				var v string
				check(rows.Scan(&v))
				fmt.Println(v)
			}
		}
		return rows.Close()
	})
	part("prepared statements", "root@"+server, func(c *sql.Conn) error {
		s, err := c.PrepareContext(background, "select ? + 1, upper(?)")
		check(err)
		for i := range 2 {
			var n float64
			var word string
			check(s.QueryRowContext(background, i, "secret word").Scan(&n, &word))
			fmt.Println(n, word)
		}
		check(s.Close())
		none, err := c.PrepareContext(background, "do 1")
		check(err)
		_, err = none.ExecContext(background)
		check(err)
		return none.Close()
	})
	part("ping, an error, a transaction", "root@"+server, func(c *sql.Conn) error {
		check(c.PingContext(background))
		_, err := c.ExecContext(background, "select nonsense")
		fmt.Println("error:", err)
		tx, err := c.BeginTx(background, nil)
		check(err)
		return tx.Rollback()
	})
	part("a local file", "root@"+server+"mysql", func(c *sql.Conn) error {
		_, err := c.ExecContext(background, "create temporary table words (word varchar(20))")
		check(err)
		mysql.RegisterReaderHandler("words", func() io.Reader { return strings.NewReader("one\ntwo\n") })
		result, err := c.ExecContext(background, "load data local infile 'Reader::words' into table words")
		check(err)
		n, err := result.RowsAffected()
		fmt.Println(n, "rows")
		check(err)
		_, err = c.ExecContext(background, "load data local infile '/no/such/file' into table words")
		fmt.Println("error:", err)
		return nil
	})
	part("a secret", "root@"+server, func(c *sql.Conn) error {
		_, err := c.ExecContext(background, "create or replace user tourist identified by 'open sesame'")
		check(err)
		_, err = c.ExecContext(background, "set global secure_auth=0")
		check(err)
		var old string
		check(c.QueryRowContext(background, "select old_password('open sesame')").Scan(&old))
		_, err = c.ExecContext(background, "create or replace user oldie identified via mysql_old_password using '"+old+"'")
		check(err)
		_, err = c.ExecContext(background, "create user identified 'open sesame'")
		fmt.Println("error:", err)
		return nil
	})
	part("TLS", "tourist:open sesame@"+server+"?tls=skip-verify", func(c *sql.Conn) error { return c.PingContext(background) })
	part("another authentication plugin", "oldie:open sesame@"+server+"?allowOldPasswords=true", func(c *sql.Conn) error { return c.PingContext(background) })
	part("compression", "tourist:open sesame@"+server+"?compress=true", func(c *sql.Conn) error { return c.PingContext(background) })
	part("a wrong password", "tourist:wrong@"+server, func(c *sql.Conn) error { return nil })
	part("a certificate that is not trusted", "tourist:open sesame@"+server+"?tls=true", func(c *sql.Conn) error { return nil })
	part("a timeout", "root@"+server, func(c *sql.Conn) error {
		ctx, cancel := context.WithTimeout(background, 50*time.Millisecond)
		defer cancel()
		_, err := c.ExecContext(ctx, "select sleep(60)")
		fmt.Println("error:", err)
		return nil
	})
	part("nobody there", "root@tcp("+os.Args[2]+")/", func(c *sql.Conn) error { return nil })
}

var background = context.Background()

// part does something on a connection of its own.
func part(name, dsn string, do func(c *sql.Conn) error) {
	fmt.Fprintf(os.Stderr, "# %s\n", name)
	db, err := sql.Open("mysql", dsn)
	check(err)
	c, err := db.Conn(background)
	if err != nil {
		kind := "other"
		var refused *mysql.MySQLError
		if errors.As(err, &refused) {
			kind = refused.Error()
		}
		fmt.Println("no connection:", kind)
		return
	}
	check(do(c))
	if err := c.Close(); err != nil && !errors.Is(err, driver.ErrBadConn) {
		check(err)
	}
	check(db.Close())
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
