package schema

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/engine"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/language"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// sourceError returns the error for a process that fails, or can't be read.
func sourceError(process source.Source, err error) *mysqlerr.Error {
	of := fmt.Sprintf("process %s: ", process.Name())
	return mysqlerr.New(mysqlerr.Unknown, "%s%s", of, strings.TrimPrefix(strings.TrimPrefix(err.Error(), of), strings.TrimSuffix(of, ": ")+" "))
}

var (
	functionError = words.Regexp(`ERROR ([0-9]+) \([0-9A-Z]+\): (.*?)(?: \(\d+\))?$`)
	nearError     = words.Regexp(`near "((?:[^"]|"")*)": syntax error`)
	engineError   = words.Regexp(`^(?:SQL logic error|constraint failed|database table is locked)?:? ?(.*?)(?: \(\d+\))?$`)
	quotedName    = words.Regexp(`: "?([^ ":]+)"?`)
)

// A mapped is an error of MySQL's for one of the engine's.
type mapped struct {
	parts   string
	number  uint16
	message string
}

// engineErrors say which of MySQL's errors stands for one of the engine's: that of the first of
// which all parts, with * between them, are in its text. In messages {text} is that text, {last}
// its last word, {name} the name in it, {table} that with its schema, {column} without.
var engineErrors = []mapped{
	{"incomplete input", mysqlerr.Syntax, mysqlerr.SyntaxNear + "''"},             // MySQL reports it near the statement's end
	{"missing argument with index", mysqlerr.Syntax, mysqlerr.SyntaxNear + "'?'"}, // nothing was prepared
	{"missing named argument", mysqlerr.Syntax, mysqlerr.SyntaxNear + "'?'"},
	{"unrecognized token", mysqlerr.Syntax, "You have an error in your SQL syntax; {text}"},
	{"no such table", mysqlerr.NoSuchTable, "Table '{table}' doesn't exist"},
	{"no such column", mysqlerr.UnknownColumn, "Unknown column '{name}' in 'field list'"},
	{"has no column named", mysqlerr.UnknownColumn, "Unknown column '{last}' in 'field list'"},
	{"no such function", mysqlerr.NoFunction, "FUNCTION {name} does not exist"},
	{"wrong number of arguments to function", mysqlerr.Arguments, "Incorrect parameter count: {text}"},
	{"ambiguous column name", mysqlerr.Ambiguous, "Column '{name}' in field list is ambiguous"},
	{"unknown database", mysqlerr.UnknownDB, "Unknown database '{last}'"},
	{"already exists", mysqlerr.TableExists, "{text}"},
	{"misuse of aggregate", mysqlerr.Group, "Invalid use of group function"},
	{"table*values for", mysqlerr.ColumnList, "In definition of view, derived table or common table expression, SELECT list and column names list have different column counts"},
	{"values for*columns", mysqlerr.ColumnCount, "Column count doesn't match value count at row 1"},
	{"values were supplied", mysqlerr.ColumnCount, "Column count doesn't match value count at row 1"},
	{"string or blob too big", mysqlerr.TooLong, fmt.Sprintf("A value is larger than max_allowed_packet (%d)", engine.MaxText)},
	{"out of memory", mysqlerr.Memory, fmt.Sprintf("Out of memory: the statements of all clients together may use %d MB", engine.MaxHeap>>20)},
	{"database or disk is full", mysqlerr.TableFull, "The table is full: the schema test, the temporary files of all sessions ({spill} MB) or the disk has no room for more"},
	{"database is locked", mysqlerr.Lock, "Lock wait timeout exceeded; try restarting transaction"},
	{"database table is locked", mysqlerr.Lock, "Lock wait timeout exceeded; try restarting transaction"},
	{"Expression tree is too large", mysqlerr.TooDeep, language.TooDeep().Message},
	{"parser stack overflow", mysqlerr.TooDeep, language.TooDeep().Message},
	{"too many terms in compound", mysqlerr.TooDeep, language.TooDeep().Message},
	{"NOT NULL constraint failed", mysqlerr.Null, "Column '{column}' cannot be null"},
	{"UNIQUE constraint failed", 1062, "Duplicate entry for key '{name}'"},
	{"tables in a join", 1116, "Too many tables; {text}"},
	{"malformed JSON", mysqlerr.JSON, "Invalid JSON text"},
	{"pattern too complex", mysqlerr.Unsupported, fmt.Sprintf("This version of ftrace doesn't yet support a pattern of LIKE of more than %d bytes", engine.MaxPattern)},
	{"interrupted", mysqlerr.Interrupted, "Query execution was interrupted"},
	{"", mysqlerr.Unknown, "{text}"},
}

// asError gives an error of the engine MySQL's number for it.
func (s *Session) asError(err error) *mysqlerr.Error {
	var known *mysqlerr.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return known
	case errors.As(s.interrupted(), &known):
		return known
	}
	text := err.Error()
	if m := functionError().FindStringSubmatch(text); m != nil { // that a function returned
		number, _ := strconv.ParseUint(m[1], 10, 16)
		return mysqlerr.New(uint16(number), "%s", m[2])
	}
	if m := nearError().FindStringSubmatch(text); m != nil {
		return mysqlerr.New(mysqlerr.Syntax, mysqlerr.SyntaxNear+"'%s'", m[1])
	}
	if m := engineError().FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	name := ""
	if m := quotedName().FindStringSubmatch(text); m != nil {
		name = m[1]
	}
	table := name
	if !strings.Contains(name, ".") {
		table = s.database + "." + name
	}
	words := strings.NewReplacer("{text}", text, "{last}", text[strings.LastIndexByte(text, ' ')+1:], "{name}", name, "{table}", table, "{column}", name[strings.LastIndexByte(name, '.')+1:],
		"{spill}", strconv.FormatInt(engine.SpillLimit()>>20, 10))
	at := slices.IndexFunc(engineErrors, func(e mapped) bool {
		return !slices.ContainsFunc(strings.Split(e.parts, "*"), func(part string) bool { return !strings.Contains(text, part) })
	})
	return mysqlerr.New(engineErrors[at].number, "%s", words.Replace(engineErrors[at].message))
}
