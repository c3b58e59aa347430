package schema

import (
	"context"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/accounts"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/language"
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

// users is CREATE USER, ALTER USER and DROP USER.
func (s *Session) users(st *language.Statement, command string) (*Result, error) {
	if command == "RENAME" {
		return nil, mysqlerr.NotYet("RENAME USER")
	}
	all, err := s.accounts(command + " USER")
	if err != nil {
		return nil, err
	}
	self := s.who.Load().user
	list, lenient, err := st.Users(self)
	if err != nil {
		return nil, err
	}
	own := command == "ALTER" && !slices.ContainsFunc(list, func(u language.User) bool { return u.Name != self })
	if !own { // its own password everyone may change
		if err := s.needs(accounts.CreateUser); err != nil {
			return nil, err
		}
	}
	var failed []string
	for _, u := range list {
		refused := false
		err := all.Change(u.Name, func(a *accounts.Account) (*accounts.Account, error) {
			switch exists := a != nil; {
			case exists && a.Owner && !(own && command == "ALTER"):
				refused = true
				return a, nil
			case exists == (command == "CREATE"):
				refused = !lenient
				return a, nil
			case command == "DROP":
				return nil, nil
			case command == "ALTER":
				a.SetPassword(u.Password)
				return a, nil
			}
			return accounts.NewAccount(u.Name, u.Password), nil
		})
		if err != nil {
			return nil, err
		}
		if refused {
			failed = append(failed, "'"+u.Name+"'@'%'")
		}
	}
	if failed != nil {
		return nil, mysqlerr.New(mysqlerr.Account, "Operation %s USER failed for %s", command, strings.Join(failed, ","))
	}
	return &Result{}, nil
}

// check returns what is wrong with privileges for a scope.
func (s *Session) check(ctx context.Context, g *language.Granting) error {
	global := g.Schema == ""
	switch {
	case g.All && global:
		g.Has |= accounts.All
	case g.All:
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
	t, err := s.targetOf(language.Table{Schema: g.Schema, Name: g.Table})
	if err != nil {
		return err
	}
	if err := s.exists(ctx, t); err != nil {
		return err
	}
	for _, c := range g.Updates {
		if t.table != nil && t.table.ColumnIndex(c) < 0 {
			return mysqlerr.New(mysqlerr.UnknownColumn, "Unknown column '%s' in '%s'", c, t.Name)
		}
	}
	return nil
}

// grantOrRevoke is GRANT and REVOKE.
func (s *Session) grantOrRevoke(ctx context.Context, st *language.Statement) (*Result, error) {
	command := st.Verb(0)
	all, err := s.accounts(command)
	if err != nil {
		return nil, err
	}
	g, err := st.Granting(s.who.Load().user, s.database)
	if err != nil {
		return nil, err
	}
	if g.Every {
		if err := s.needs(accounts.CreateUser); err != nil {
			return nil, err
		}
	} else if err := s.check(ctx, g); err != nil {
		return nil, err
	}
	wanted := g.Has
	if len(g.Updates) > 0 {
		wanted |= accounts.Update
	}
	if !g.Every && !s.account().MayGrant(wanted, g.Scope) {
		return nil, s.mayNotGrant(g)
	}
	for _, name := range g.Users {
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
			case g.Every:
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
func (s *Session) mayNotGrant(g *language.Granting) error {
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
func (s *Session) showGrants(st *language.Statement, i int) (*Result, error) {
	self := s.who.Load()
	name := self.user
	if i < st.Len() {
		var err error
		if name, err = st.GrantsOf(i, self.user); err != nil {
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
