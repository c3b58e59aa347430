package schema

import (
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// Accounts are who may log in to a server, and what each may do. They last as long as the server.
// They may be used concurrently.
//
// The owner's account may do everything. It is made with the server, and stays as it is. Statements
// make the others, see grants.go.
type Accounts struct {
	mu   sync.RWMutex
	list map[string]*account // by name; an account is replaced, not changed
}

// An account is a user of the server, from whatever host.
type account struct {
	name   string
	secret Secret
	owner  bool
	grants []grant // of each scope once, the widest first
}

// A Secret is what is kept of a password: enough to check what a client sends, which proves that it
// knows the password.
type Secret struct {
	SHA1   [sha1.Size]byte // the password's SHA-1, hashed again; SHA256 likewise
	SHA256 [sha256.Size]byte
}

func secretOf(password string) Secret {
	one, two := sha1.Sum([]byte(password)), sha256.Sum256([]byte(password))
	return Secret{sha1.Sum(one[:]), sha256.Sum256(two[:])}
}

// A grant is what an account may do with some tables.
type grant struct {
	scope
	has     privileges
	updates []string // columns that UPDATE may set, if it may not set all
	option  bool     // it may grant that to others
}

// A scope is tables: all of a schema if table is "", all of all schemas if schema is "" too.
type scope struct{ schema, table string }

func (s scope) String() string {
	switch {
	case s.schema == "":
		return "*.*"
	case s.table == "":
		return backquoted(s.schema) + ".*"
	}
	return backquoted(s.schema) + "." + backquoted(s.table)
}

// has reports whether a table is in the scope.
func (s scope) has(schema, table string) bool {
	return s.schema == "" || strings.EqualFold(s.schema, schema) && (s.table == "" || strings.EqualFold(s.table, table))
}

// is reports whether two scopes are the same.
func (s scope) is(other scope) bool {
	return strings.EqualFold(s.schema, other.schema) && strings.EqualFold(s.table, other.table)
}

// privileges is a set of MySQL's privileges.
type privileges uint32

const (
	maySelect privileges = 1 << iota
	mayInsert
	mayUpdate
	mayDelete
	mayCreate
	mayDrop
	mayIndex
	mayAlter
	mayCreateView
	mayShowView
	// Only for all schemas:
	mayProcess
	mayCreateUser
	mayEndConnections
	maySetVariables

	ofTables      = mayShowView<<1 - 1
	allPrivileges = maySetVariables<<1 - 1
)

// privilegeNames are MySQL's names, in the order of the bits.
var privilegeNames = []string{"SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "INDEX", "ALTER", "CREATE VIEW", "SHOW VIEW", "PROCESS", "CREATE USER", "CONNECTION_ADMIN", "SYSTEM_VARIABLES_ADMIN"}

// names returns the names of the privileges in a set.
func (p privileges) names() (list []string) {
	for i, name := range privilegeNames {
		if p>>i&1 != 0 {
			list = append(list, name)
		}
	}
	return list
}

// NewAccounts returns accounts of which there is one, the owner's.
func NewAccounts(owner, password string) *Accounts {
	return &Accounts{list: map[string]*account{owner: {name: owner, secret: secretOf(password), owner: true}}}
}

// AddReader adds an account that may see everything, and change nothing. It replaces one of the
// same name.
func (a *Accounts) AddReader(name, password string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list[name] = &account{name: name, secret: secretOf(password), grants: []grant{{has: maySelect | mayShowView | mayProcess}}}
}

// Add adds an account that may do nothing yet. It is an error if there is one of that name, or if a
// client can't have such a name or password.
func (a *Accounts) Add(name, password string) error {
	switch {
	case name == "" || len(name) > maxUserName:
		return fmt.Errorf("its name is to have 1 to %d bytes", maxUserName)
	case password == "":
		return errors.New("its password is empty")
	}
	return a.change(name, func(old *account) (*account, error) {
		if old != nil {
			return nil, errors.New("there is one of that name")
		}
		return &account{name: name, secret: secretOf(password)}, nil
	})
}

// Secret returns the secret of a user. It is not ok if there is no such user.
func (a *Accounts) Secret(user string) (s Secret, ok bool) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if account := a.list[user]; account != nil {
		return account.secret, true
	}
	return Secret{}, false
}

// change replaces an account by what f makes of a copy; f returns false to remove it. An account
// that does not exist is nil, and may be made.
func (a *Accounts) change(name string, f func(*account) (*account, error)) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var old *account
	if known := a.list[name]; known != nil {
		clone := *known
		clone.grants = slices.Clone(known.grants)
		old = &clone
	}
	now, err := f(old)
	switch {
	case err != nil:
		return err
	case now == nil:
		delete(a.list, name)
	default:
		a.list[name] = now
	}
	return nil
}

// account returns the account of a session, nil if there are no accounts: then all is allowed. One
// that was dropped may do nothing.
func (s *Session) account() *account {
	accounts, user := s.catalog.Accounts, s.who.Load().user
	if accounts == nil {
		return nil
	}
	accounts.mu.RLock()
	defer accounts.mu.RUnlock()
	if a := accounts.list[user]; a != nil {
		return a
	}
	return &account{name: user}
}

// everything reports whether an account may do all that there is.
func (a *account) everything() bool { return a == nil || a.owner }

// may reports whether an account has privileges for a table, or for all of a schema or of all if
// the names are "".
func (a *account) may(p privileges, schema, table string) bool {
	if a.everything() {
		return true
	}
	for _, g := range a.grants {
		if g.scope.has(schema, table) {
			p &^= g.has
		}
	}
	return p == 0
}

// maySet reports whether an account may update a column.
func (a *account) maySet(schema, table, column string) bool {
	return a.may(mayUpdate, schema, table) || slices.ContainsFunc(a.grants, func(g grant) bool {
		return g.scope.has(schema, table) && containsFold(g.updates, column)
	})
}

// updatesSome reports whether an account may update some column of a table.
func (a *account) updatesSome(schema, table string) bool {
	return a.may(mayUpdate, schema, table) || slices.ContainsFunc(a.grants, func(g grant) bool { return g.scope.has(schema, table) && len(g.updates) > 0 })
}

// sees reports whether an account has some privilege for a table, or, if that is "", for some table
// of a schema. What is information_schema's everyone sees.
func (a *account) sees(schema, table string) bool {
	if a.everything() || strings.EqualFold(schema, "information_schema") {
		return true
	}
	return slices.ContainsFunc(a.grants, func(g grant) bool {
		within := g.scope.has(schema, table) || table == "" && strings.EqualFold(g.schema, schema)
		return within && (g.has&ofTables != 0 || len(g.updates) > 0)
	})
}

// mayGrant reports whether an account may give others privileges for a scope.
func (a *account) mayGrant(p privileges, on scope) bool {
	return a.everything() || a.may(p, on.schema, on.table) && slices.ContainsFunc(a.grants, func(g grant) bool { return g.option && g.scope.has(on.schema, on.table) })
}

// containsFold reports whether a name is in a list, without regard to case.
func containsFold(list []string, name string) bool {
	return slices.ContainsFunc(list, func(other string) bool { return strings.EqualFold(other, name) })
}

// on returns the grant of a scope, which is made if there is none.
func (a *account) on(at scope) *grant {
	i := slices.IndexFunc(a.grants, func(g grant) bool { return g.scope.is(at) })
	if i < 0 {
		a.grants = append(a.grants, grant{scope: at})
		slices.SortFunc(a.grants, func(a, b grant) int { return strings.Compare(a.schema+"\x00"+a.table, b.schema+"\x00"+b.table) })
		i = slices.IndexFunc(a.grants, func(g grant) bool { return g.scope.is(at) })
	}
	return &a.grants[i]
}

// tidy leaves out grants of nothing.
func (a *account) tidy() {
	a.grants = slices.DeleteFunc(a.grants, func(g grant) bool { return g.has == 0 && len(g.updates) == 0 && !g.option })
}

// shown returns the statements that would grant what an account may do.
func (a *account) shown() (list []string) {
	to := " TO " + backquoted(a.name) + "@`%`"
	if a.owner {
		return []string{"GRANT ALL PRIVILEGES ON *.*" + to + " WITH GRANT OPTION"}
	}
	if len(a.grants) == 0 || a.grants[0].schema != "" {
		list = []string{"GRANT USAGE ON *.*" + to}
	}
	for _, g := range a.grants {
		names := g.has.names()
		if g.schema != "" && g.has == ofTables {
			names = []string{"ALL PRIVILEGES"}
		}
		if len(g.updates) > 0 {
			var columns []string
			for _, c := range g.updates {
				columns = append(columns, backquoted(c))
			}
			names = append(names, "UPDATE ("+strings.Join(columns, ", ")+")")
		}
		if names == nil {
			names = []string{"USAGE"}
		}
		text := "GRANT " + strings.Join(names, ", ") + " ON " + g.scope.String() + to
		if g.option {
			text += " WITH GRANT OPTION"
		}
		list = append(list, text)
	}
	return list
}

func backquoted(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// The checks of statements. Each returns MySQL's error.

// mayUse checks privileges for a table.
func (s *Session) mayUse(p privileges, schema, table string) error {
	if s.account().may(p, schema, table) || p == maySelect && strings.EqualFold(schema, "information_schema") {
		return nil
	}
	return s.denied(strings.Join(p.names(), ", "), table)
}

// maySetColumn checks that an UPDATE may set a column.
func (s *Session) maySetColumn(schema, table, column string) error {
	switch a := s.account(); {
	case a.maySet(schema, table, column):
		return nil
	case a.updatesSome(schema, table):
		return s.deniedColumn("UPDATE", table, column)
	}
	return s.denied("UPDATE", table)
}

// mayReadIn checks that what a change of a table reads of it may be read.
func (s *Session) mayReadIn(c *change, t *target) error {
	if s.account().may(maySelect, t.schema, t.name) {
		return nil
	}
	column := ""
	look := func(e *expr) {
		e.each(func(e *expr) bool {
			if e.form == columnForm && column == "" {
				column = e.path[len(e.path)-1]
			}
			return true
		})
	}
	look(c.where)
	for _, o := range c.order {
		look(o.of)
	}
	for _, a := range c.set {
		look(a.value)
	}
	if column == "" {
		return nil
	}
	return s.deniedColumn("SELECT", t.name, column)
}

func (s *Session) deniedColumn(command, table, column string) *mysqlerr.Error {
	who := s.who.Load()
	return mysqlerr.New(mysqlerr.ColumnDenied, "%s command denied to user '%s'@'%s' for column '%s' in table '%s'", command, who.user, who.host, column, table)
}

// needs checks a privilege that is for all schemas alone.
func (s *Session) needs(p privileges) error {
	if s.account().may(p, "", "") {
		return nil
	}
	return mysqlerr.New(mysqlerr.Needs, "Access denied; you need (at least one of) the %s privilege(s) for this operation", strings.Join(p.names(), ", "))
}

// MayKill checks that a session may end what another does, or its connection; nil: one that has not
// logged in.
func (s *Session) MayKill(other *Session) error {
	if s.account().may(mayEndConnections, "", "") || other != nil && s.who.Load().user == other.who.Load().user {
		return nil
	}
	return mysqlerr.New(1095, "You are not owner of this thread")
}

// schemaDenied is the error of who may do nothing in a schema.
func (s *Session) schemaDenied(name string) *mysqlerr.Error {
	who := s.who.Load()
	return mysqlerr.New(mysqlerr.DBDenied, "Access denied for user '%s'@'%s' to database '%s'", who.user, who.host, name)
}

// global returns the names of the privileges that an account has for all schemas.
func (a *account) global() []string {
	p := privileges(0)
	for i := range privilegeNames {
		if one := privileges(1) << i; a.may(one, "", "") {
			p |= one
		}
	}
	if p == 0 {
		return []string{"USAGE"}
	}
	return p.names()
}
