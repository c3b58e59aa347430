package language

import (
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/accounts"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// userName reads an account: name, 'name'@'%', CURRENT_USER, which is self. Accounts are for all
// hosts.
func (p *parser) userName(self string) string {
	if p.accept("CURRENT_USER", "(", ")") || p.accept("CURRENT_USER") || p.accept("USER", "(", ")") {
		return self
	}
	name := p.label()
	if host := p.next(); host.kind == usrVar {
		if host.text != "%" && !strings.EqualFold(host.text, "localhost") {
			fail(mysqlerr.NotYet("accounts of one host: '" + name + "'@'" + host.text + "'"))
		}
		p.i++
	}
	if name == "" {
		fail(mysqlerr.NotYet("accounts without a name"))
	}
	if len(name) > accounts.MaxName {
		fail(mysqlerr.New(1470, "String '%s' is too long for user name (should be no longer than %d)", name[:accounts.MaxName], accounts.MaxName))
	}
	return name
}

// identified reads IDENTIFIED [WITH plugin] BY 'password'.
func (p *parser) identified() (password string) {
	p.expect("IDENTIFIED")
	if p.accept("WITH") {
		if t := p.next(); !t.identifier() && t.kind != str || t.text != "caching_sha2_password" && t.text != "mysql_native_password" {
			fail(mysqlerr.New(1524, "Plugin '%s' is not loaded", t.text))
		}
		p.i++
	}
	p.expect("BY")
	t := p.next()
	if t.kind != str {
		p.syntax()
	}
	p.i++
	if t.text == "" {
		fail(mysqlerr.New(1819, "Your password does not satisfy the current policy requirements: it is empty"))
	}
	return t.text
}

// A User is an account that a statement is about.
type User struct{ Name, Password string }

// Users reads CREATE USER, ALTER USER or DROP USER, of the user self. The statement is lenient with
// accounts that exist, or do not.
func (st *Statement) Users(self string) (list []User, lenient bool, err error) {
	command := st.Verb(0)
	list, err = read(st, 2, func(p *parser) (list []User) {
		if lenient = p.accept("IF"); lenient {
			if command == "CREATE" {
				p.expect("NOT")
			}
			p.expect("EXISTS")
		}
		for ok := true; ok; ok = p.accept(",") {
			u := User{Name: p.userName(self)}
			if command != "DROP" {
				u.Password = p.identified()
			}
			list = append(list, u)
		}
		return list
	})
	return list, lenient, err
}

// GrantsOf reads FOR user at a token.
func (st *Statement) GrantsOf(i int, self string) (name string, err error) {
	return read(st, i, func(p *parser) string {
		p.expect("FOR")
		return p.userName(self)
	})
}

// A Granting is GRANT or REVOKE.
type Granting struct {
	accounts.Grant
	All   bool // ALL PRIVILEGES of the scope
	Every bool // REVOKE ALL PRIVILEGES, GRANT OPTION FROM: whatever the scope
	Users []string
}

// Granting reads the statement, of the user self, with the default schema database.
func (st *Statement) Granting(self, database string) (*Granting, error) {
	return read(st, 1, func(p *parser) *Granting { return p.granting(self, database, st.Is(0, "REVOKE")) })
}

func (p *parser) granting(self, database string, revokes bool) *Granting {
	g, to := &Granting{}, map[bool]string{true: "FROM", false: "TO"}[revokes]
	for ok := true; ok; ok = p.accept(",") {
		if p.privilege(g, revokes); g.All && !g.Option && p.is("FROM") {
			fail(mysqlerr.NotYet("REVOKE ALL without ON or GRANT OPTION"))
		}
	}
	if g.Every = revokes && g.All && g.Option && p.is("FROM"); !g.Every {
		p.expect("ON")
		p.accept("TABLE")
		p.scope(database, g)
	}
	p.expect(to)
	for ok := true; ok; ok = p.accept(",") {
		g.Users = append(g.Users, p.userName(self))
	}
	if !revokes && p.accept("WITH") {
		p.expect("GRANT", "OPTION")
		g.Option = true
	}
	return g
}

// privilege reads one.
func (p *parser) privilege(g *Granting, revokes bool) {
	switch {
	case p.accept("USAGE"):
		return
	case p.accept("ALL"):
		p.accept("PRIVILEGES")
		if g.All = true; revokes && p.accept(",") {
			p.expect("GRANT", "OPTION")
			g.Option = true
		}
		return
	case revokes && p.accept("GRANT", "OPTION"):
		g.Option = true
		return
	}
	found := -1
	for i, name := range accounts.PrivilegeNames {
		if words := strings.Fields(name); p.is(words...) && (found < 0 || len(words) > len(strings.Fields(accounts.PrivilegeNames[found]))) {
			found = i // CREATE VIEW is longer than CREATE
		}
	}
	if found < 0 {
		if t := p.next(); t.kind == word && !isReserved(t) {
			fail(mysqlerr.NotYet("the privilege " + strings.ToUpper(t.text)))
		}
		p.syntax()
	}
	p.i += len(strings.Fields(accounts.PrivilegeNames[found]))
	one := accounts.Privileges(1) << found
	if !p.is("(") {
		g.Has |= one
		return
	}
	if one != accounts.Update {
		fail(mysqlerr.NotYet(accounts.PrivilegeNames[found] + " of columns"))
	}
	g.Updates = append(g.Updates, p.names()...)
}

// scope reads *.*, *, schema.*, or a table.
func (p *parser) scope(database string, g *Granting) {
	switch {
	case p.accept("*", ".", "*"):
	case p.accept("*"):
		g.Schema = database
	default:
		if g.Schema = p.name(false); !p.accept(".") {
			g.Scope = accounts.Scope{Schema: database, Table: g.Schema}
		} else if !p.accept("*") {
			g.Table = p.name(true)
		}
	}
}
