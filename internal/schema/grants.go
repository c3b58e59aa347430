package schema

import (
	"context"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/accounts"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// The statements about accounts: CREATE, ALTER and DROP USER, GRANT, REVOKE and SHOW GRANTS.

// accounts returns the server's accounts, or why there are none.
func (s *Session) accounts(command string) (*accounts.Accounts, error) {
	if s.catalog.Accounts == nil {
		return nil, mysqlerr.New(mysqlerr.Prevented, "ftrace is running without accounts, as ftrace sql and ftrace serve -no-auth do, so it cannot execute %s", command)
	}
	return s.catalog.Accounts, nil
}

// userName reads an account: name, 'name'@'%', CURRENT_USER. Accounts are for all hosts.
func (p *parser) userName(s *Session) string {
	if p.accept("CURRENT_USER", "(", ")") || p.accept("CURRENT_USER") || p.accept("USER", "(", ")") {
		return s.who.Load().user
	}
	name := p.label()
	if host := p.next(); host.kind == usrVar {
		if host.text != "%" && !strings.EqualFold(host.text, "localhost") {
			fail(unsupported("accounts of one host: '" + name + "'@'" + host.text + "'"))
		}
		p.i++
	}
	if name == "" {
		fail(unsupported("accounts without a name"))
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

// users is CREATE USER, ALTER USER and DROP USER.
func (s *Session) users(st *stmt, command string) (*Result, error) {
	if command == "RENAME" {
		return nil, unsupported("RENAME USER")
	}
	all, err := s.accounts(command + " USER")
	if err != nil {
		return nil, err
	}
	type user struct{ name, password string }
	var list []user
	tolerant := false // of accounts that exist, or do not
	if _, err := st.parse(2, func(p *parser) {
		if p.accept("IF") {
			if command == "CREATE" {
				p.expect("NOT")
			}
			p.expect("EXISTS")
			tolerant = true
		}
		for ok := true; ok; ok = p.accept(",") {
			u := user{name: p.userName(s)}
			if command != "DROP" {
				u.password = p.identified()
			}
			list = append(list, u)
		}
		p.end()
	}); err != nil {
		return nil, err
	}
	own := command == "ALTER" && !slices.ContainsFunc(list, func(u user) bool { return u.name != s.who.Load().user })
	if !own { // its own password everyone may change
		if err := s.needs(accounts.CreateUser); err != nil {
			return nil, err
		}
	}
	var failed []string
	for _, u := range list {
		refused := false
		err := all.Change(u.name, func(a *accounts.Account) (*accounts.Account, error) {
			switch exists := a != nil; {
			case exists && a.Owner && !(own && command == "ALTER"):
				refused = true
				return a, nil
			case exists == (command == "CREATE"):
				refused = !tolerant
				return a, nil
			case command == "DROP":
				return nil, nil
			case command == "ALTER":
				a.SetPassword(u.password)
				return a, nil
			}
			return accounts.NewAccount(u.name, u.password), nil
		})
		if err != nil {
			return nil, err
		}
		if refused {
			failed = append(failed, "'"+u.name+"'@'%'")
		}
	}
	if failed != nil {
		return nil, mysqlerr.New(mysqlerr.Account, "Operation %s USER failed for %s", command, strings.Join(failed, ","))
	}
	return &Result{}, nil
}

// granting is GRANT or REVOKE.
type granting struct {
	accounts.Grant
	all   bool // ALL PRIVILEGES of the scope
	every bool // REVOKE ALL PRIVILEGES, GRANT OPTION FROM: whatever the scope
	users []string
}

// granting reads what follows GRANT, with TO, or REVOKE, with FROM.
func (p *parser) granting(s *Session, to string) *granting {
	g := &granting{}
	revokes := to == "FROM"
	for ok := true; ok; ok = p.accept(",") {
		if p.privilege(g, revokes); g.all && !g.Option && p.is("FROM") {
			fail(unsupported("REVOKE ALL without ON or GRANT OPTION"))
		}
	}
	if g.every = revokes && g.all && g.Option && p.is("FROM"); !g.every {
		p.expect("ON")
		p.accept("TABLE")
		p.scope(s, g)
	}
	p.expect(to)
	for ok := true; ok; ok = p.accept(",") {
		g.users = append(g.users, p.userName(s))
	}
	if !revokes && p.accept("WITH") {
		p.expect("GRANT", "OPTION")
		g.Option = true
	}
	p.end()
	return g
}

// privilege reads one.
func (p *parser) privilege(g *granting, revokes bool) {
	switch {
	case p.accept("USAGE"):
		return
	case p.accept("ALL"):
		p.accept("PRIVILEGES")
		if g.all = true; revokes && p.accept(",") {
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
			fail(unsupported("the privilege " + strings.ToUpper(t.text)))
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
		fail(unsupported(accounts.PrivilegeNames[found] + " of columns"))
	}
	g.Updates = append(g.Updates, p.names()...)
}

// scope reads *.*, *, schema.*, or a table.
func (p *parser) scope(s *Session, g *granting) {
	switch {
	case p.accept("*", ".", "*"):
	case p.accept("*"):
		g.Schema = s.database
	default:
		if g.Schema = p.name(false); !p.accept(".") {
			g.Scope = accounts.Scope{Schema: s.database, Table: g.Schema}
		} else if !p.accept("*") {
			g.Table = p.name(true)
		}
	}
}

// check returns what is wrong with privileges for a scope.
func (g *granting) check(ctx context.Context, s *Session) error {
	global := g.Schema == ""
	switch {
	case g.all && global:
		g.Has |= accounts.All
	case g.all:
		g.Has |= accounts.OfTables
	case !global && g.Has&^accounts.OfTables != 0:
		return mysqlerr.New(1221, "Incorrect usage of DB GRANT and GLOBAL PRIVILEGES")
	}
	if g.Updates != nil && g.Table == "" {
		return mysqlerr.New(1144, "Illegal GRANT/REVOKE command; please consult the manual to see which privileges can be used")
	}
	if g.Table == "" {
		return nil
	}
	t, err := s.targetOf(g.Schema, g.Table)
	if err != nil {
		return err
	}
	if err := s.exists(ctx, t); err != nil {
		return err
	}
	for _, c := range g.Updates {
		if t.table != nil && t.table.ColumnIndex(c) < 0 {
			return mysqlerr.New(mysqlerr.UnknownColumn, "Unknown column '%s' in '%s'", c, t.name)
		}
	}
	return nil
}

// grantOrRevoke is GRANT and REVOKE.
func (s *Session) grantOrRevoke(ctx context.Context, st *stmt) (*Result, error) {
	command, to := "GRANT", "TO"
	if st.at(0).is("REVOKE") {
		command, to = "REVOKE", "FROM"
	}
	all, err := s.accounts(command)
	if err != nil {
		return nil, err
	}
	var g *granting
	if _, err := st.parse(1, func(p *parser) { g = p.granting(s, to) }); err != nil {
		return nil, err
	}
	if g.every {
		if err := s.needs(accounts.CreateUser); err != nil {
			return nil, err
		}
	} else if err := g.check(ctx, s); err != nil {
		return nil, err
	}
	wanted := g.Has
	if len(g.Updates) > 0 {
		wanted |= accounts.Update
	}
	if !g.every && !s.account().MayGrant(wanted, g.Scope) {
		return nil, s.mayNotGrant(g)
	}
	for _, name := range g.users {
		if err := all.Change(name, func(a *accounts.Account) (*accounts.Account, error) {
			switch {
			case a == nil && command == "GRANT":
				return nil, mysqlerr.New(mysqlerr.GrantsNobody, "You are not allowed to create a user with GRANT")
			case a == nil:
				return nil, mysqlerr.New(mysqlerr.NoGrant, "There is no such grant defined for user '%s' on host '%%'", name)
			case a.Owner:
				return nil, mysqlerr.New(mysqlerr.Account, "Operation %s failed for '%s'@'%%': it is the owner's account, which may do everything", command, name)
			case command == "GRANT":
				a.Grant(g.Grant)
			case g.every:
				a.RevokeAll()
			default:
				return a, a.Revoke(g.Grant)
			}
			return a, nil
		}); err != nil {
			return nil, err
		}
	}
	return &Result{}, nil
}

// Grant grants an account what a statement GRANT has between that word and TO.
func (s *Session) Grant(ctx context.Context, what, account string) error {
	r, err := s.Query(ctx, "GRANT "+what+" TO "+accounts.Quote(account), nil)
	if err != nil {
		return err
	}
	r.Close()
	return nil
}

// mayNotGrant is the error of who has not GRANT OPTION, or not what is granted.
func (s *Session) mayNotGrant(g *granting) error {
	who := s.who.Load()
	switch {
	case g.Schema == "":
		return mysqlerr.New(1045, "Access denied for user '%s'@'%s' (using password: YES)", who.user, who.host)
	case g.Table == "":
		return s.schemaDenied(g.Schema)
	}
	return s.denied("GRANT", g.Table)
}

// showGrants is SHOW GRANTS [FOR user].
func (s *Session) showGrants(st *stmt, i int) (*Result, error) {
	self := s.who.Load()
	name := self.user
	if i < len(st.tokens) {
		if _, err := st.parse(i, func(p *parser) {
			p.expect("FOR")
			name = p.userName(s)
			p.end()
		}); err != nil {
			return nil, err
		}
	}
	a := &accounts.Account{Name: name, Owner: true}
	if all := s.catalog.Accounts; all != nil {
		if name != self.user && !s.account().May(accounts.Select, "mysql", "") {
			return nil, s.schemaDenied("mysql")
		}
		a = all.Get(name)
	}
	if a == nil || s.catalog.Accounts == nil && name != self.user {
		return nil, mysqlerr.New(mysqlerr.NoGrant, "There is no such grant defined for user '%s' on host '%%'", name)
	}
	r := &Result{Columns: textColumns("Grants for " + name + "@%")}
	for _, text := range a.Statements() {
		r.ahead = append(r.ahead, []any{text})
	}
	return r, nil
}
