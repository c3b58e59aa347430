package sqlrecord

//lint:file-ignore SA1019 drivers may implement what is deprecated, and package database/sql calls it

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"

	"github.com/ftrace-wrap/ftrace-wrap/internal/sqlvalue"
)

// An argument is one of a statement, on its way through package database/sql: as the program gave
// it, and as the driver converts it.
type argument struct{ raw, real any }

// plain returns the argument as it is recorded, whatever the driver.
func (a argument) plain() any { return sqlvalue.Plain(a.raw) }

// converted returns arguments as the driver gets them.
func converted(args []driver.NamedValue) []driver.NamedValue {
	real := make([]driver.NamedValue, len(args))
	for i, nv := range args {
		if a, ok := nv.Value.(argument); ok {
			nv.Value = a.real
		}
		real[i] = nv
	}
	return real
}

// positional returns arguments for methods that know neither names nor contexts.
func positional(ctx context.Context, args []driver.NamedValue) (values []driver.Value, err error) {
	values = []driver.Value{}
	for _, nv := range converted(args) {
		if nv.Name != "" {
			return nil, errors.New("sql: driver does not support the use of Named Parameters")
		}
		values = append(values, nv.Value)
	}
	return values, ctx.Err()
}

// CheckNamedValue is called for a statement that is not prepared.
func (c *conn) CheckNamedValue(nv *driver.NamedValue) error {
	switch c.real.(type) {
	case driver.QueryerContext, driver.ExecerContext, driver.Queryer, driver.Execer:
		return c.check(nil, nv)
	}
	nv.Value = argument{nv.Value, nv.Value} // it will be prepared, and its arguments checked then
	return nil
}

// CheckNamedValue is called for a statement that is prepared.
func (s *stmt) CheckNamedValue(nv *driver.NamedValue) error { return s.c.check(s.real, nv) }

// check converts an argument as package database/sql does for a driver.
func (c *conn) check(prepared driver.Stmt, nv *driver.NamedValue) error {
	raw := nv.Value
	checker, ok := prepared.(driver.NamedValueChecker)
	if !ok {
		checker, ok = c.real.(driver.NamedValueChecker)
	}
	err := driver.ErrSkip
	if ok {
		err = checker.CheckNamedValue(nv)
	}
	if columns, ok := prepared.(driver.ColumnConverter); ok && err == driver.ErrSkip {
		err = column(columns, prepared.NumInput(), nv)
	}
	if err == driver.ErrSkip {
		nv.Value, err = driver.DefaultParameterConverter.ConvertValue(nv.Value)
	}
	if err == nil {
		nv.Value = argument{raw, nv.Value}
	}
	return err
}

// column converts an argument by what a statement says of its column.
func column(of driver.ColumnConverter, want int, nv *driver.NamedValue) (err error) {
	if want <= nv.Ordinal-1 {
		return nil
	}
	if v, ok := nv.Value.(driver.Valuer); ok {
		value, err := valuer(v)
		if err != nil {
			return err
		}
		if !driver.IsValue(value) {
			return fmt.Errorf("non-subset type %T returned from Value", value)
		}
		nv.Value = value
	}
	given := nv.Value
	if nv.Value, err = of.ColumnConverter(nv.Ordinal - 1).ConvertValue(given); err != nil {
		return err
	}
	if !driver.IsValue(nv.Value) {
		return fmt.Errorf("driver ColumnConverter error converting %T to unsupported type %T", given, nv.Value)
	}
	return nil
}

// valuer calls Value. A nil pointer to a type with that method is NULL.
func valuer(v driver.Valuer) (driver.Value, error) {
	of := reflect.ValueOf(v)
	if of.Kind() == reflect.Pointer && of.IsNil() {
		if _, ok := of.Type().Elem().MethodByName("Value"); ok {
			return nil, nil
		}
	}
	return v.Value()
}
