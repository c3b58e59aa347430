package schema

import (
	"context"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// The statements about accounts: CREATE, ALTER and DROP USER, GRANT, REVOKE and SHOW GRANTS.

// accounts returns the server's accounts, or why there are none.
func (s *Session) accounts(command string) (*Accounts, error) {
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
	if len(name) > maxUserName {
		fail(mysqlerr.New(1470, "String '%s' is too long for user name (should be no longer than %d)", name[:maxUserName], maxUserName))
	}
	return name
}

// maxUserName is how long the name of an account may be, and maxAccounts how many there may be.
const (
	maxUserName = 32
	maxAccounts = 1000
)

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
	accounts, err := s.accounts(command + " USER")
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
		if err := s.needs(mayCreateUser); err != nil {
			return nil, err
		}
	}
	var failed []string
	for _, u := range list {
		refused := false
		err := accounts.change(u.name, func(a *account) (*account, error) {
			switch exists := a != nil; {
			case exists && a.owner && !(own && command == "ALTER"):
				refused = true
				return a, nil
			case exists == (command == "CREATE"):
				refused = !tolerant
				return a, nil
			case command == "DROP":
				return nil, nil
			case command == "ALTER":
				a.secret = secretOf(u.password)
				return a, nil
			case len(accounts.list) >= maxAccounts:
				return nil, mysqlerr.New(mysqlerr.TableFull, "The table of accounts is full: it has room for %d", maxAccounts)
			}
			return &account{name: u.name, secret: secretOf(u.password)}, nil
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
	has     privileges
	all     bool     // ALL PRIVILEGES of the scope
	updates []string // columns of UPDATE
	option  bool
	every   bool // REVOKE ALL PRIVILEGES, GRANT OPTION FROM: whatever the scope
	on      scope
	users   []string
}

// granting reads what follows GRANT, with TO, or REVOKE, with FROM.
func (p *parser) granting(s *Session, to string) *granting {
	g := &granting{}
	revokes := to == "FROM"
	for ok := true; ok; ok = p.accept(",") {
		if p.privilege(g, revokes); g.all && !g.option && p.is("FROM") {
			fail(unsupported("REVOKE ALL without ON or GRANT OPTION"))
		}
	}
	if g.every = revokes && g.all && g.option && p.is("FROM"); !g.every {
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
		g.option = true
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
			g.option = true
		}
		return
	case revokes && p.accept("GRANT", "OPTION"):
		g.option = true
		return
	}
	found := -1
	for i, name := range privilegeNames {
		if words := strings.Fields(name); p.is(words...) && (found < 0 || len(words) > len(strings.Fields(privilegeNames[found]))) {
			found = i // CREATE VIEW is longer than CREATE
		}
	}
	if found < 0 {
		if t := p.next(); t.kind == word && !isReserved(t) {
			fail(unsupported("the privilege " + strings.ToUpper(t.text)))
		}
		p.syntax()
	}
	p.i += len(strings.Fields(privilegeNames[found]))
	one := privileges(1) << found
	if !p.is("(") {
		g.has |= one
		return
	}
	if one != mayUpdate {
		fail(unsupported(privilegeNames[found] + " of columns"))
	}
	g.updates = append(g.updates, p.names()...)
}

// scope reads *.*, *, schema.*, or a table.
func (p *parser) scope(s *Session, g *granting) {
	switch {
	case p.accept("*", ".", "*"):
	case p.accept("*"):
		g.on.schema = s.database
	default:
		if g.on.schema = p.name(false); !p.accept(".") {
			g.on = scope{s.database, g.on.schema}
		} else if !p.accept("*") {
			g.on.table = p.name(true)
		}
	}
}

// check returns what is wrong with privileges for a scope.
func (g *granting) check(ctx context.Context, s *Session) error {
	global := g.on.schema == ""
	switch {
	case g.all && global:
		g.has |= allPrivileges
	case g.all:
		g.has |= ofTables
	case !global && g.has&^ofTables != 0:
		return mysqlerr.New(1221, "Incorrect usage of DB GRANT and GLOBAL PRIVILEGES")
	}
	if g.updates != nil && g.on.table == "" {
		return mysqlerr.New(1144, "Illegal GRANT/REVOKE command; please consult the manual to see which privileges can be used")
	}
	if g.on.table == "" {
		return nil
	}
	t, err := s.targetOf(g.on.schema, g.on.table)
	if err != nil {
		return err
	}
	if err := s.exists(ctx, t); err != nil {
		return err
	}
	for _, c := range g.updates {
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
	accounts, err := s.accounts(command)
	if err != nil {
		return nil, err
	}
	var g *granting
	if _, err := st.parse(1, func(p *parser) { g = p.granting(s, to) }); err != nil {
		return nil, err
	}
	if g.every {
		if err := s.needs(mayCreateUser); err != nil {
			return nil, err
		}
	} else if err := g.check(ctx, s); err != nil {
		return nil, err
	}
	wanted := g.has
	if len(g.updates) > 0 {
		wanted |= mayUpdate
	}
	if !g.every && !s.account().mayGrant(wanted, g.on) {
		return nil, s.mayNotGrant(g)
	}
	for _, name := range g.users {
		if err := accounts.change(name, func(a *account) (*account, error) {
			switch {
			case a == nil && command == "GRANT":
				return nil, mysqlerr.New(mysqlerr.GrantsNobody, "You are not allowed to create a user with GRANT")
			case a == nil:
				return nil, mysqlerr.New(mysqlerr.NoGrant, "There is no such grant defined for user '%s' on host '%%'", name)
			case a.owner:
				return nil, mysqlerr.New(mysqlerr.Account, "Operation %s failed for '%s'@'%%': it is the owner's account, which may do everything", command, name)
			case command == "GRANT":
				a.grant(g)
			default:
				if err := a.revoke(g); err != nil {
					return nil, err
				}
			}
			a.tidy()
			return a, nil
		}); err != nil {
			return nil, err
		}
	}
	return &Result{}, nil
}

// Grant grants an account what a statement GRANT has between that word and TO.
func (s *Session) Grant(ctx context.Context, what, account string) error {
	r, err := s.Query(ctx, "GRANT "+what+" TO "+backquoted(account), nil)
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
	case g.on.schema == "":
		return mysqlerr.New(1045, "Access denied for user '%s'@'%s' (using password: YES)", who.user, who.host)
	case g.on.table == "":
		return s.schemaDenied(g.on.schema)
	}
	return s.denied("GRANT", g.on.table)
}

func (a *account) grant(g *granting) {
	on := a.on(g.on)
	on.has |= g.has
	on.option = on.option || g.option
	updates := slices.Clone(on.updates)
	for _, c := range g.updates {
		if !containsFold(updates, c) {
			updates = append(updates, c)
		}
	}
	on.updates = updates
}

// revoke takes privileges back. Those of a wider scope stay, as in MySQL.
func (a *account) revoke(g *granting) error {
	if g.every {
		a.grants = nil
		return nil
	}
	if !slices.ContainsFunc(a.grants, func(has grant) bool { return has.scope.is(g.on) }) {
		if g.on.schema == "" {
			return nil // everyone has USAGE there
		}
		if g.on.table != "" {
			return mysqlerr.New(1147, "There is no such grant defined for user '%s' on host '%%' on table '%s'", a.name, g.on.table)
		}
		return mysqlerr.New(mysqlerr.NoGrant, "There is no such grant defined for user '%s' on host '%%'", a.name)
	}
	on := a.on(g.on)
	on.has &^= g.has
	on.option = on.option && !g.option
	on.updates = slices.DeleteFunc(slices.Clone(on.updates), func(c string) bool {
		return g.has&mayUpdate != 0 || containsFold(g.updates, c)
	})
	return nil
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
	a := &account{name: name, owner: true}
	if accounts := s.catalog.Accounts; accounts != nil {
		if name != self.user && !s.account().may(maySelect, "mysql", "") {
			return nil, s.schemaDenied("mysql")
		}
		accounts.mu.RLock()
		a = accounts.list[name]
		accounts.mu.RUnlock()
	}
	if a == nil || s.catalog.Accounts == nil && name != self.user {
		return nil, mysqlerr.New(mysqlerr.NoGrant, "There is no such grant defined for user '%s' on host '%%'", name)
	}
	r := &Result{Columns: textColumns("Grants for " + name + "@%")}
	for _, text := range a.shown() {
		r.ahead = append(r.ahead, []any{text})
	}
	return r, nil
}
