package accounts

import (
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// A Grant is what an account may do with some tables.
type Grant struct {
	Scope
	Has     Privileges
	Updates []string // columns that UPDATE may set, if it may not set all
	Option  bool     // it may grant that to others
}

// A Scope is tables: all of a schema if Table is "", all of all schemas if Schema is "" too.
type Scope struct{ Schema, Table string }

// String returns a scope as GRANT has it.
func (s Scope) String() string {
	switch {
	case s.Schema == "":
		return "*.*"
	case s.Table == "":
		return Quote(s.Schema) + ".*"
	}
	return Quote(s.Schema) + "." + Quote(s.Table)
}

// has reports whether a table is in the scope.
func (s Scope) has(schema, table string) bool {
	return s.Schema == "" || strings.EqualFold(s.Schema, schema) && (s.Table == "" || strings.EqualFold(s.Table, table))
}

// is reports whether two scopes are the same.
func (s Scope) is(other Scope) bool {
	return strings.EqualFold(s.Schema, other.Schema) && strings.EqualFold(s.Table, other.Table)
}

// Privileges are a set of MySQL's.
type Privileges uint32

// These are the privileges, and those that can be granted for a table, and all.
const (
	Select Privileges = 1 << iota
	Insert
	Update
	Delete
	Create
	Drop
	Index
	Alter
	CreateView
	ShowView
	// Only for all schemas:
	Process
	CreateUser
	EndConnections
	SetVariables

	OfTables = ShowView<<1 - 1
	All      = SetVariables<<1 - 1
)

// PrivilegeNames are MySQL's names, in the order of the bits.
var PrivilegeNames = []string{"SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "INDEX", "ALTER", "CREATE VIEW", "SHOW VIEW", "PROCESS", "CREATE USER", "CONNECTION_ADMIN", "SYSTEM_VARIABLES_ADMIN"}

// Names returns the names of the privileges in a set.
func (p Privileges) Names() (list []string) {
	for i, name := range PrivilegeNames {
		if p>>i&1 != 0 {
			list = append(list, name)
		}
	}
	return list
}

// everything reports whether an account may do all that there is.
func (a *Account) everything() bool { return a == nil || a.Owner }

// May reports whether an account has privileges for a table, or for all of a schema or of all if
// the names are "".
func (a *Account) May(p Privileges, schema, table string) bool {
	if a.everything() {
		return true
	}
	for _, g := range a.grants {
		if g.Scope.has(schema, table) {
			p &^= g.Has
		}
	}
	return p == 0
}

// MaySet reports whether an account may update a column.
func (a *Account) MaySet(schema, table, column string) bool {
	return a.May(Update, schema, table) || slices.ContainsFunc(a.grants, func(g Grant) bool {
		return g.Scope.has(schema, table) && contains(g.Updates, column)
	})
}

// UpdatesSome reports whether an account may update some column of a table.
func (a *Account) UpdatesSome(schema, table string) bool {
	return a.May(Update, schema, table) || slices.ContainsFunc(a.grants, func(g Grant) bool { return g.Scope.has(schema, table) && len(g.Updates) > 0 })
}

// Sees reports whether an account has some privilege for a table, or, if that is "", for some table
// of a schema. What is information_schema's everyone sees.
func (a *Account) Sees(schema, table string) bool {
	if a.everything() || strings.EqualFold(schema, "information_schema") {
		return true
	}
	return slices.ContainsFunc(a.grants, func(g Grant) bool {
		within := g.Scope.has(schema, table) || table == "" && strings.EqualFold(g.Schema, schema)
		return within && (g.Has&OfTables != 0 || len(g.Updates) > 0)
	})
}

// MayGrant reports whether an account may give others privileges for a scope.
func (a *Account) MayGrant(p Privileges, on Scope) bool {
	return a.everything() || a.May(p, on.Schema, on.Table) && slices.ContainsFunc(a.grants, func(g Grant) bool { return g.Option && g.Scope.has(on.Schema, on.Table) })
}

// on returns the grant of a scope, which is made if there is none.
func (a *Account) on(at Scope) *Grant {
	i := slices.IndexFunc(a.grants, func(g Grant) bool { return g.Scope.is(at) })
	if i < 0 {
		a.grants = append(a.grants, Grant{Scope: at})
		slices.SortFunc(a.grants, func(a, b Grant) int { return strings.Compare(a.Schema+"\x00"+a.Table, b.Schema+"\x00"+b.Table) })
		i = slices.IndexFunc(a.grants, func(g Grant) bool { return g.Scope.is(at) })
	}
	return &a.grants[i]
}

// tidy leaves out grants of nothing.
func (a *Account) tidy() {
	a.grants = slices.DeleteFunc(a.grants, func(g Grant) bool { return g.Has == 0 && len(g.Updates) == 0 && !g.Option })
}

// Statements returns the statements that would grant what an account may do.
func (a *Account) Statements() (list []string) {
	to := " TO " + Quote(a.Name) + "@`%`"
	if a.Owner {
		return []string{"GRANT ALL PRIVILEGES ON *.*" + to + " WITH GRANT OPTION"}
	}
	if len(a.grants) == 0 || a.grants[0].Schema != "" {
		list = []string{"GRANT USAGE ON *.*" + to}
	}
	for _, g := range a.grants {
		names := g.Has.Names()
		if g.Schema != "" && g.Has == OfTables {
			names = []string{"ALL PRIVILEGES"}
		}
		if len(g.Updates) > 0 {
			var columns []string
			for _, c := range g.Updates {
				columns = append(columns, Quote(c))
			}
			names = append(names, "UPDATE ("+strings.Join(columns, ", ")+")")
		}
		if names == nil {
			names = []string{"USAGE"}
		}
		text := "GRANT " + strings.Join(names, ", ") + " ON " + g.Scope.String() + to
		if g.Option {
			text += " WITH GRANT OPTION"
		}
		list = append(list, text)
	}
	return list
}

// Global returns the names of the privileges that an account has for all schemas.
func (a *Account) Global() []string {
	p := Privileges(0)
	for i := range PrivilegeNames {
		if one := Privileges(1) << i; a.May(one, "", "") {
			p |= one
		}
	}
	if p == 0 {
		return []string{"USAGE"}
	}
	return p.Names()
}

// Grant gives an account what a grant has.
func (a *Account) Grant(g Grant) {
	on := a.on(g.Scope)
	on.Has |= g.Has
	on.Option = on.Option || g.Option
	updates := slices.Clone(on.Updates)
	for _, c := range g.Updates {
		if !contains(updates, c) {
			updates = append(updates, c)
		}
	}
	on.Updates = updates
	a.tidy()
}

// Revoke takes privileges back. Those of a wider scope stay, as in MySQL.
func (a *Account) Revoke(g Grant) error {
	if !slices.ContainsFunc(a.grants, func(has Grant) bool { return has.Scope.is(g.Scope) }) {
		if g.Schema == "" {
			return nil // everyone has USAGE there
		}
		if g.Table != "" {
			return mysqlerr.New(1147, "There is no such grant defined for user '%s' on host '%%' on table '%s'", a.Name, g.Table)
		}
		return mysqlerr.New(mysqlerr.NoGrant, "There is no such grant defined for user '%s' on host '%%'", a.Name)
	}
	on := a.on(g.Scope)
	on.Has &^= g.Has
	on.Option = on.Option && !g.Option
	on.Updates = slices.DeleteFunc(slices.Clone(on.Updates), func(c string) bool {
		return g.Has&Update != 0 || contains(g.Updates, c)
	})
	a.tidy()
	return nil
}

// RevokeAll takes back everything, whatever the scope.
func (a *Account) RevokeAll() { a.grants = nil }

// Quote returns a name in backquotes.
func Quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// contains reports whether a name is in a list, without regard to case.
func contains(list []string, name string) bool {
	return slices.ContainsFunc(list, func(other string) bool { return strings.EqualFold(other, name) })
}
