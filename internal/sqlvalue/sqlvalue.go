// Package sqlvalue converts arguments of SQL statements without their driver.
//
// In comes what a program gives to package database/sql. Out comes what doubles keep and compare.
// Packages mock/sqldouble and mock/doubles/sqlrecord call it.
package sqlvalue

import "database/sql/driver"

// Plain returns an argument as a driver without wishes of its own would get it. An argument that
// only some drivers take stays as it is.
func Plain(v any) any {
	if plain, err := driver.DefaultParameterConverter.ConvertValue(v); err == nil {
		return plain
	}
	return v
}

// Named returns arguments that have no names, in the form of those that may.
func Named(args []driver.Value) []driver.NamedValue {
	named := make([]driver.NamedValue, len(args))
	for i, v := range args {
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	return named
}
