package wire

import (
	"errors"
	"fmt"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// TestAccounts: who was made an account logs in with its password by both ways, and does what was
// granted.
func TestAccounts(t *testing.T) {
	addr := serve(t, 3, nil)
	as := func(user, password, more string) func(string) uint16 {
		db := connect(t, user+":"+password+"@tcp("+addr+")/"+more)
		return func(query string) uint16 {
			var refused *mysql.MySQLError
			if _, err := db.Exec(query); errors.As(err, &refused) {
				return refused.Number
			} else if err != nil {
				t.Fatalf("%s: %s: %v", user, query, err)
			}
			return 0
		}
	}
	owner := as("ftrace", "secret", "")
	for _, query := range []string{"CREATE USER ann IDENTIFIED BY 'first', bob IDENTIFIED WITH mysql_native_password BY 'bobs'", "GRANT SELECT ON performance_schema.* TO ann"} {
		if n := owner(query); n != 0 {
			t.Fatalf("%s: error %d", query, n)
		}
	}
	for _, c := range []struct {
		do    func(string) uint16
		query string
		want  uint16
	}{
		{as("ann", "first", ""), "SELECT * FROM performance_schema.setup_instruments", 0},
		{as("ann", "first", "performance_schema?allowNativePasswords=true"), "UPDATE setup_instruments SET ENABLED = 'YES'", 1142},
		{as("ann", "wrong", ""), "SELECT 1", 1045},
		{as("ann", "first", "test"), "SELECT 1", 1044},
		{as("bob", "bobs", ""), "SELECT 1", 0},
		{as("bob", "bobs", ""), "SELECT * FROM performance_schema.setup_instruments", 1142},
		{as("reader", "readers", ""), "SELECT * FROM performance_schema.setup_instruments", 0},
		{as("reader", "readers", ""), "TRUNCATE performance_schema.events_calls_history", 1142},
		{owner, "ALTER USER ann IDENTIFIED BY 'second'", 0},
		{as("ann", "first", ""), "SELECT 1", 1045},
		{as("ann", "second", ""), "SELECT 1", 0},
		{owner, "DROP USER ann", 0},
		{as("ann", "second", ""), "SELECT 1", 1045},
	} {
		if n := c.do(c.query); n != c.want {
			t.Errorf("%s: error %d, want %d", c.query, n, c.want)
		}
	}
	// Who was dropped while logged in can do nothing any more.
	bob := as("bob", "bobs", "")
	if n := bob("GRANT SELECT ON performance_schema.* TO bob"); n != 1044 {
		t.Errorf("bob grants: error %d", n)
	}
	owner("GRANT SELECT ON performance_schema.* TO bob")
	if n := bob("SELECT * FROM performance_schema.threads"); n != 0 {
		t.Errorf("bob reads: error %d", n)
	}
	owner("DROP USER bob")
	if n := bob("SELECT * FROM performance_schema.threads"); n != 1142 {
		t.Errorf("bob, who was dropped, reads: error %d", n)
	}
	// Nobody but the owner ends what others do.
	own, reader := connect(t, "ftrace:secret@tcp("+addr+")/"), connect(t, "reader:readers@tcp("+addr+")/")
	var id, other int
	if err := errors.Join(own.QueryRow("SELECT CONNECTION_ID()").Scan(&id), reader.QueryRow("SELECT CONNECTION_ID()").Scan(&other)); err != nil {
		t.Fatal(err)
	}
	var refused *mysql.MySQLError
	if _, err := reader.Exec(fmt.Sprintf("KILL %d", id)); !errors.As(err, &refused) || refused.Number != 1095 {
		t.Errorf("the reader kills: %v", err)
	}
	if _, err := own.Exec(fmt.Sprintf("KILL QUERY %d", other)); err != nil {
		t.Errorf("the owner kills: %v", err)
	}
}
