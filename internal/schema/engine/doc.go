// Package engine is SQLite as package schema needs it: with limits of memory, of temporary files
// and of what a statement may have, with functions that know for whom they are called, and with
// statements that can be interrupted at any time.
//
// In comes a connection of database/sql by the driver modernc.org/sqlite. Out comes an [Engine] for
// it. [Limit] is called before the first connection is made. This package knows neither MySQL nor
// tables.
package engine
