package accounts

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// TestAdd: which names and passwords accounts can have, and how many accounts there can be.
func TestAdd(t *testing.T) {
	all := New("owner", "secret")
	for _, c := range []struct{ name, password, err string }{
		{"ann", "x", ""},
		{"ann", "y", "there is one of that name"},
		{"owner", "y", "there is one of that name"},
		{"", "x", "1 to 32 bytes"},
		{strings.Repeat("a", MaxName), "x", ""},
		{strings.Repeat("a", MaxName+1), "x", "1 to 32 bytes"},
		{"bob", "", "empty"},
	} {
		if err := all.Add(c.name, c.password); (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q: %v", c.name, err)
		}
	}
	for i := range Max - 3 {
		if err := all.Add(fmt.Sprint(i), "x"); err != nil {
			t.Fatal(err)
		}
	}
	var full *mysqlerr.Error
	if err := all.Add("bob", "x"); !errors.As(err, &full) || full.Number != mysqlerr.TableFull {
		t.Errorf("one too many: %v", err)
	}
	if _, ok := all.Secret("bob"); ok {
		t.Error("bob is there")
	}
	if err := all.Change("ann", func(a *Account) (*Account, error) { return nil, nil }); err != nil || all.Get("ann") != nil {
		t.Errorf("ann stays: %v", err)
	}
	if err := all.Add("bob", "x"); err != nil {
		t.Error(err)
	}
}

// TestGrants: what an account is granted and revoked, as SHOW GRANTS has it, step by step.
func TestGrants(t *testing.T) {
	a := NewAccount("a`b", "x")
	table := Scope{"performance_schema", "threads"}
	for _, c := range []struct {
		revoke bool
		grant  Grant
		want   string // without what all of them have
	}{
		{false, Grant{}, "USAGE ON *.*"},
		{false, Grant{Scope: table, Has: Select, Option: true}, "USAGE ON *.*|SELECT ON `performance_schema`.`threads` WITH GRANT OPTION"},
		{true, Grant{Scope: Scope{"PERFORMANCE_SCHEMA", "Threads"}, Has: Select}, "USAGE ON *.*|USAGE ON `performance_schema`.`threads` WITH GRANT OPTION"},
		{false, Grant{Scope: table, Updates: []string{"NAME", "TYPE", "name"}}, "USAGE ON *.*|UPDATE (`NAME`, `TYPE`) ON `performance_schema`.`threads` WITH GRANT OPTION"},
		{true, Grant{Scope: table, Updates: []string{"type"}, Option: true}, "USAGE ON *.*|UPDATE (`NAME`) ON `performance_schema`.`threads`"},
		{true, Grant{Scope: table, Has: Update}, "USAGE ON *.*"},
		{true, Grant{Has: Select}, "USAGE ON *.*"},
		{true, Grant{Scope: table, Has: Select}, "error 1147"},
		{true, Grant{Scope: Scope{Schema: "test"}, Has: Select}, "error 1141"},
		{false, Grant{Scope: Scope{Schema: "test"}, Has: OfTables}, "USAGE ON *.*|ALL PRIVILEGES ON `test`.*"},
		{false, Grant{Has: Select | Process}, "SELECT, PROCESS ON *.*|ALL PRIVILEGES ON `test`.*"},
	} {
		var err error
		if c.revoke {
			err = a.Revoke(c.grant)
		} else {
			a.Grant(c.grant)
		}
		got := strings.NewReplacer("GRANT ALL", "ALL", " TO `a``b`@`%`", "", "GRANT USAGE", "USAGE", "GRANT SELECT", "SELECT", "GRANT UPDATE", "UPDATE").Replace(strings.Join(a.Statements(), "|"))
		var known *mysqlerr.Error
		if errors.As(err, &known) {
			got = fmt.Sprint("error ", known.Number)
		}
		if got != c.want {
			t.Errorf("%+v: %s, want %s", c.grant, got, c.want)
		}
	}
	for _, c := range []struct {
		may  Privileges
		on   Scope
		want bool
	}{
		{Select, table, true}, // as it may everywhere
		{Insert, table, false},
		{Insert, Scope{"TEST", "t"}, true},
		{Insert, Scope{}, false},
		{Process, Scope{}, true},
	} {
		if got := a.May(c.may, c.on.Schema, c.on.Table); got != c.want {
			t.Errorf("%s on %s: %v", c.may.Names(), c.on, got)
		}
		if (*Account)(nil).May(c.may, c.on.Schema, c.on.Table) != true {
			t.Errorf("where there are no accounts, not %s on %s", c.may.Names(), c.on)
		}
	}
	if a.RevokeAll(); strings.Join(a.Global(), " ") != "USAGE" || a.Sees("test", "") || !a.Sees("information_schema", "tables") {
		t.Errorf("what is left: %v", a.Statements())
	}
}
