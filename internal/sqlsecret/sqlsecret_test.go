package sqlsecret

import (
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/redact"
)

func TestParse(t *testing.T) {
	for _, test := range []struct {
		statement, text string
		args            string // a letter for each: s if it is secret
		columns         []string
	}{
		{statement: "SELECT id FROM users WHERE name = ? AND password = ?", args: "-s"},
		{statement: "SELECT id FROM users WHERE password = SHA2(?, 256) AND id = ?",
			text: "SELECT id FROM users WHERE password = SHA2(?, '***') AND id = ?", args: "s-"},
		{statement: "SELECT id FROM users WHERE LOWER(token) IN (?, ?) OR id IN (?)", args: "ss-"},
		{statement: "SELECT id FROM users WHERE ? = token AND ? < id", args: "s-"},
		{statement: "SELECT id FROM users WHERE token BETWEEN ? AND ? AND id = ?", args: "ss-"},
		{statement: "UPDATE users SET name = ?, password = ?, age = ? WHERE id = ?", args: "-s--"},
		{statement: "INSERT INTO users (name, `password`, age) VALUES (?, ?, ?), (?, UPPER(?), ?)", args: "-s--s-"},
		{statement: `INSERT INTO users ("name", "password") VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET age = $3 RETURNING id`, args: "-s-"},
		{statement: "INSERT INTO users (name, token) VALUES ('Ada', 'x''y\\'z'), ('Bob', 12)", text: "INSERT INTO users (name, token) VALUES ('Ada', '***'), ('Bob', '***')"},
		{statement: "INSERT INTO users (name, token, age) SELECT ? OR ?, UPPER(CASE WHEN ? THEN 'x' END), ? UNION SELECT 'Bob', 'y', age FROM old WHERE id > ?",
			text: "INSERT INTO users (name, token, age) SELECT ? OR ?, UPPER(CASE WHEN ? THEN '***' END), ? UNION SELECT 'Bob', '***', age FROM old WHERE id > ?", args: "--s--"},
		{statement: "INSERT INTO users (token, name) SELECT CASE WHEN ? THEN 'x' ELSE ? END, ? FROM old ON CONFLICT (name) DO UPDATE SET age = ?",
			text: "INSERT INTO users (token, name) SELECT CASE WHEN ? THEN '***' ELSE ? END, ? FROM old ON CONFLICT (name) DO UPDATE SET age = ?", args: "ss--"},
		{statement: "SELECT set_password(?, 'a'), ?", text: "SELECT set_password(?, '***'), ?", args: "s-"},
		{statement: "SELECT * FROM users -- password = ?\nWHERE id = ? /* token = ? */ AND \"secret\" = \"x\"",
			text: "SELECT * FROM users -- password = ?\nWHERE id = ? /* token = ? */ AND \"secret\" = '***'", args: "-"},
		{statement: "CREATE TABLE users (id INT, password VARCHAR(80) NOT NULL, age INT DEFAULT 3)"},
		{statement: "CREATE USER 'a'@'b' IDENTIFIED BY 'x'", text: "CREATE USER 'a'@'b' IDENTIFIED BY '***'"},
		{statement: "ALTER ROLE a PASSWORD 'x'", text: "ALTER ROLE a PASSWORD '***'"},
		{statement: "SET PASSWORD FOR 'a'@'b' = 'x'", text: "SET PASSWORD FOR 'a'@'b' = '***'"},
		{statement: "SELECT u.password AS p, id FROM users u", columns: []string{"p"}},
		{statement: "SELECT upper(token), (SELECT secret FROM t) x, id FROM users", columns: []string{"upper", "x"}},
		{statement: "SELECT name, id, 'a' FROM users WHERE id = 1 AND note = 'it''s'"},
		{statement: "INSERT INTO users (name) VALUES (?) RETURNING token AS t", args: "-", columns: []string{"t"}},
	} {
		s := Parse(redact.Default, test.statement)
		want := test.text
		if want == "" {
			want = test.statement
		}
		if s.Text != want {
			t.Errorf("%s: got %s, want %s", test.statement, s.Text, want)
		}
		args := ""
		for i := range len(test.args) {
			if s.Arg(i+1, "") {
				args += "s"
			} else {
				args += "-"
			}
		}
		if args != test.args {
			t.Errorf("%s: arguments %s, want %s", test.statement, args, test.args)
		}
		for _, c := range append(test.columns, "password", "API_Key") {
			if !s.Column(c) {
				t.Errorf("%s: column %s is not secret", test.statement, c)
			}
		}
		if s.Column("id") || s.Column("name") {
			t.Errorf("%s: columns id or name are secret", test.statement)
		}
	}
	if s := Parse(redact.Default, "SELECT id FROM t WHERE password = :pw AND id = @id"); !s.Arg(1, "pw") || s.Arg(2, "id") || !s.Arg(2, "user_token") {
		t.Error(s)
	}
	if s := Parse("", "SELECT password p FROM t WHERE token = 'x' AND secret = ?"); s.Arg(1, "") || s.Column("p") || s.Column("password") || s.Text != "SELECT password p FROM t WHERE token = 'x' AND secret = ?" {
		t.Error(s)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("SELECT a, (b) FROM t WHERE token = 'x' AND c IN (?, $1, :n)")
	f.Add("INSERT INTO t (a, token) VALUES (?, ?), ('")
	f.Fuzz(func(t *testing.T, statement string) {
		if s := Parse("none of these", statement); redact.Secret("none of these", statement) {
			return
		} else if got := s.Text; got != statement && !containsFold(statement, "identified") {
			t.Errorf("got %q of %q", got, statement)
		}
		Parse(redact.Default, statement)
	})
}

func containsFold(s, word string) bool { return strings.Contains(strings.ToLower(s), word) }
