package schema

import (
	"cmp"
	"context"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/accounts"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/language"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
)

// write is UPDATE, INSERT, REPLACE and DELETE.
func (s *Session) write(ctx context.Context, st *language.Statement) (*Result, error) {
	c, err := st.Change(0)
	if err != nil {
		return nil, err
	}
	switch changed, err := c.Joined(); {
	case err != nil:
		return nil, err
	case changed != nil:
		return s.updateJoined(ctx, c, changed)
	}
	p, err := s.changing(c)
	if err != nil {
		return nil, err
	}
	return s.exec(ctx, p.Text, p.Args...)
}

// changing returns what SQLite is to run for a change of one table, if the user may make it.
func (s *Session) changing(c *language.Change) (*language.Plan, error) {
	name, err := c.Table()
	if err != nil {
		return nil, err
	}
	t, err := s.targetOf(name)
	if err != nil {
		return nil, err
	}
	if c.Command != "UPDATE" {
		err = s.mayUse(map[string]accounts.Privileges{"INSERT": accounts.Insert, "REPLACE": accounts.Insert | accounts.Delete, "DELETE": accounts.Delete}[c.Command], t.Schema, t.Name)
	}
	for _, column := range c.Columns() {
		err = cmp.Or(err, s.maySetColumn(t.Table, column))
	}
	if err = cmp.Or(err, s.mayReadIn(c, t.Table), s.notView(&t, c.Command)); err != nil {
		return nil, err
	}
	switch {
	case c.Command == "UPDATE":
		for _, column := range c.Columns() {
			if err := s.mayUpdate(&t, column); err != nil {
				return nil, err
			}
		}
	case !t.ours:
	case t.table == nil:
		return nil, t.missing()
	case c.Command == "REPLACE":
		return nil, s.denied("INSERT", t.Name)
	case t.table.Rules == nil:
		return nil, s.denied(c.Command, t.Name)
	case c.Updates():
		return nil, s.denied("UPDATE", t.Name)
	}
	var columns []string
	if t.table != nil {
		columns = t.table.ColumnNames()
		if t.table.Name == consumersTable {
			c.Beside = neededConsumers
		}
	}
	return c.Plan(names{s}, t.Table, columns)
}

// consumersTable is the table of consumers. WL#2360 first gave one of them an old name.
const consumersTable = "setup_consumers"

// neededConsumers are those that a consumer needs: what spares it spares them too, without which it
// would be off as well.
func neededConsumers(column, name string) (list []string) {
	for _, c := range source.ConsumerNames {
		if !strings.EqualFold(column, "NAME") || !strings.EqualFold(c.Name, name) {
			continue
		}
		for _, other := range source.ConsumerNames {
			if c.DependsOn&other.Bit != 0 {
				list = append(list, other.Name)
			}
		}
	}
	return list
}

// mayUpdate returns what is wrong with an UPDATE of a table's column whatever the rows are: that
// one or the other can't be changed.
func (s *Session) mayUpdate(t *target, name string) error {
	switch {
	case !t.ours:
		return nil
	case t.table == nil:
		return t.missing()
	case t.table.Update == nil:
		return s.denied("UPDATE", t.Name)
	}
	column := t.table.ColumnIndex(name)
	if column < 0 && !strings.EqualFold(name, processColumn) {
		return mysqlerr.New(mysqlerr.UnknownColumn, "Unknown column '%s' in 'field list'", name)
	}
	if column < 0 || !t.table.Columns[column].Updatable {
		return mysqlerr.New(mysqlerr.Usage, "Invalid performance_schema usage.")
	}
	return nil
}

// updateJoined is UPDATE of joined tables.
func (s *Session) updateJoined(ctx context.Context, c *language.Change, changed []language.Joined) (*Result, error) {
	var all []target
	for _, j := range changed {
		t, err := s.targetOf(j.Table)
		if err != nil {
			return nil, err
		}
		for _, column := range j.Columns {
			if err := cmp.Or(s.maySetColumn(t.Table, column), s.notView(&t, "UPDATE"), s.mayUpdate(&t, column)); err != nil {
				return nil, err
			}
		}
		all = append(all, t)
	}
	p, err := c.Rows(names{s})
	if err != nil {
		return nil, err
	}
	var r *Result
	err = s.whole(ctx, func() error {
		const joined = "temp.ftrace_joined"
		if _, err := s.run(ctx, "CREATE TABLE "+joined+" AS "+p.Text, p.Args...); err != nil {
			return err
		}
		total := int64(0)
		for i, t := range all {
			n, err := s.run(ctx, changed[i].Update(t.Table, i, joined))
			if err != nil {
				return err
			}
			if total += n; !t.ours {
				s.statement.matched += n
				s.statement.changed += n
			}
		}
		if _, err := s.run(ctx, "DROP TABLE "+joined); err != nil {
			return err
		}
		r, err = s.apply(total)
		return err
	})
	return r, err
}

// whole runs do on the user's tables so that all of its changes are made, or none.
func (s *Session) whole(ctx context.Context, do func() error) error {
	if _, err := s.conn.ExecContext(ctx, "SAVEPOINT ftrace_whole"); err != nil {
		return err
	}
	err := do()
	if err != nil {
		s.conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK TO ftrace_whole")
	}
	_, released := s.conn.ExecContext(context.WithoutCancel(ctx), "RELEASE ftrace_whole")
	return cmp.Or(err, released)
}
