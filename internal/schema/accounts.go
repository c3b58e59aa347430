package schema

import (
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/accounts"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/language"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// What the account of a session may do.

// account returns the account of a session, nil if there are no accounts: then all is allowed. One
// that was dropped may do nothing.
func (s *Session) account() *accounts.Account {
	all, user := s.catalog.Accounts, s.who.Load().user
	if all == nil {
		return nil
	}
	if a := all.Get(user); a != nil {
		return a
	}
	return &accounts.Account{Name: user}
}

// The checks of statements. Each returns MySQL's error.

// mayUse checks privileges for a table.
func (s *Session) mayUse(p accounts.Privileges, schema, table string) error {
	if s.account().May(p, schema, table) || p == accounts.Select && strings.EqualFold(schema, "information_schema") {
		return nil
	}
	return s.denied(strings.Join(p.Names(), ", "), table)
}

// maySetColumn checks that an UPDATE may set a column.
func (s *Session) maySetColumn(t language.Table, column string) error {
	switch a := s.account(); {
	case a.MaySet(t.Schema, t.Name, column):
		return nil
	case a.UpdatesSome(t.Schema, t.Name):
		return s.deniedColumn("UPDATE", t.Name, column)
	}
	return s.denied("UPDATE", t.Name)
}

// mayReadIn checks that what a change of a table reads of it may be read.
func (s *Session) mayReadIn(c *language.Change, t language.Table) error {
	if s.account().May(accounts.Select, t.Schema, t.Name) {
		return nil
	}
	column := c.Reads()
	if column == "" {
		return nil
	}
	return s.deniedColumn("SELECT", t.Name, column)
}

func (s *Session) deniedColumn(command, table, column string) *mysqlerr.Error {
	who := s.who.Load()
	return mysqlerr.New(mysqlerr.ColumnDenied, "%s command denied to user '%s'@'%s' for column '%s' in table '%s'", command, who.user, who.host, column, table)
}

// needs checks a privilege that is for all schemas alone.
func (s *Session) needs(p accounts.Privileges) error {
	if s.account().May(p, "", "") {
		return nil
	}
	return mysqlerr.New(mysqlerr.Needs, "Access denied; you need (at least one of) the %s privilege(s) for this operation", strings.Join(p.Names(), ", "))
}

// MayKill checks that a session may end what another does, or its connection; nil: one that has not
// logged in.
func (s *Session) MayKill(other *Session) error {
	if s.account().May(accounts.EndConnections, "", "") || other != nil && s.who.Load().user == other.who.Load().user {
		return nil
	}
	return mysqlerr.New(1095, "You are not owner of this thread")
}

// schemaDenied is the error of who may do nothing in a schema.
func (s *Session) schemaDenied(name string) *mysqlerr.Error {
	who := s.who.Load()
	return mysqlerr.New(mysqlerr.DBDenied, "Access denied for user '%s'@'%s' to database '%s'", who.user, who.host, name)
}
