package dtrace

import (
	"maps"
	"slices"
)

// Words returns what a program can say in a clause, by sort, each in alphabetical order: variables,
// functions, actions, and the functions of aggregations.
func Words() (variables, called, acting, aggregating []string) {
	return slices.Sorted(maps.Keys(builtins)), slices.Sorted(maps.Keys(functions)), slices.Sorted(maps.Keys(actions)), slices.Sorted(maps.Keys(aggregators))
}

// Kept returns how many values the program keeps in maps and in arrays of its own, without those
// of goroutines.
func (m *Machine) Kept() (n int) {
	for _, a := range m.program.aggregations {
		n += len(a.cells)
	}
	for _, a := range m.arrays {
		n += len(a)
	}
	return n
}
