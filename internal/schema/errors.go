package schema

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
)

// An Error is an error with MySQL's number and state.
type Error struct {
	Number  uint16
	State   string
	Message string
}

func (e *Error) Error() string { return fmt.Sprintf("ERROR %d (%s): %s", e.Number, e.State, e.Message) }

// Numbers of errors, from MySQL's mysqld_error.h.
const (
	erDenied        = 1142 // command denied to user for table
	erNoSuchTable   = 1146
	erSyntax        = 1064
	erUnknownColumn = 1054
	erUnknownDB     = 1049
	erUsage         = 1683 // Invalid performance_schema usage.
	erReadOnly      = 1036
	erPrevented     = 1290 // by an option
	erTruncated     = 1265
	erNull          = 1048
	erUnknownVar    = 1193
	erVarReadOnly   = 1238
	erUnsupported   = 1235
	erInterrupted   = 1317
	erTimeout       = 3024
	erTooLong       = 1301
	erRegexp        = 1139
	erRegexpTime    = 3699
	erTooDeep       = 1436
	erRecursion     = 3636
	erTableFull     = 1114
	erMemory        = 1041
	erLock          = 1205
	erVariableType  = 1232
	erUnknown       = 1105
	erTableExists   = 1050
	erNoFunction    = 1305
	erAmbiguous     = 1052
	erGroup         = 1111
	erColumnCount   = 1136
	erColumnList    = 1353
	erDuplicate     = 1060
	erBadTable      = 1051
	erDBExists      = 1007
	erDBDenied      = 1044
	erWrongValue    = 1231
	erNotView       = 1347
	erColumnDenied  = 1143
	erNeeds         = 1227 // a privilege
	erAccount       = 1396
	erGrantsNobody  = 1410
	erNoGrant       = 1141
	erArguments     = 1582
	erJSON          = 3141 // it is not valid
	erLockName      = 3057
	erLockDeadlock  = 3058
)

var states = map[uint16]string{
	erDenied: "42000", erNoSuchTable: "42S02", erSyntax: "42000", erUnknownColumn: "42S22", erUnknownDB: "42000", erTruncated: "01000",
	erNull: "23000", erUnsupported: "42000", erInterrupted: "70100", erVariableType: "42000", erTableExists: "42S01", erNoFunction: "42000", erAmbiguous: "23000", erColumnCount: "21S01", erDuplicate: "42S21",
	erColumnDenied: "42000", erNeeds: "42000", erGrantsNobody: "42000", erNoGrant: "42000", 1062: "23000", 1144: "42000", 1147: "42000",
	erBadTable: "42S02", erDBDenied: "42000", erWrongValue: "42000",
	1040: "08004", 1043: "08S01", 1045: "28000", 1047: "08S01", 1065: "42000", 1139: "42000",
}

// tooDeep returns the error of a statement that is nested too deep.
func tooDeep() *Error {
	return NewError(erTooDeep, "Thread stack overrun: a statement can have %d nested parentheses or operators", maxDepth)
}

// NewError returns an error with MySQL's number.
func NewError(number uint16, format string, args ...any) *Error {
	state := states[number]
	if state == "" {
		state = "HY000"
	}
	return &Error{number, state, fmt.Sprintf(format, args...)}
}

// sourceError returns the error for a process that fails, or can't be read.
func sourceError(process source.Source, err error) *Error {
	of := fmt.Sprintf("process %s: ", process.Name())
	return NewError(erUnknown, "%s%s", of, strings.TrimPrefix(strings.TrimPrefix(err.Error(), of), strings.TrimSuffix(of, ": ")+" "))
}

var (
	functionError = regexp.MustCompile(`ERROR ([0-9]+) \([0-9A-Z]+\): (.*?)(?: \(\d+\))?$`)
	nearError     = regexp.MustCompile(`near "((?:[^"]|"")*)": syntax error`)
	engineError   = regexp.MustCompile(`^(?:SQL logic error|constraint failed|database table is locked)?:? ?(.*?)(?: \(\d+\))?$`)
	quotedName    = regexp.MustCompile(`: "?([^ ":]+)"?`)
)

// A mapped is an error of MySQL's for one of the engine's.
type mapped struct {
	parts   string
	number  uint16
	message string
}

// syntaxNear is what comes before the place of a syntax error.
const syntaxNear = "You have an error in your SQL syntax; check the manual for the right syntax to use near "

// engineErrors say which of MySQL's errors stands for one of the engine's: that of the first of
// which all parts, with * between them, are in its text. In messages {text} is that text, {last}
// its last word, {name} the name in it, {table} that with its schema, {column} without.
var engineErrors = []mapped{
	{"incomplete input", erSyntax, syntaxNear + "''"},             // MySQL reports it near the statement's end
	{"missing argument with index", erSyntax, syntaxNear + "'?'"}, // nothing was prepared
	{"missing named argument", erSyntax, syntaxNear + "'?'"},
	{"unrecognized token", erSyntax, "You have an error in your SQL syntax; {text}"},
	{"no such table", erNoSuchTable, "Table '{table}' doesn't exist"},
	{"no such column", erUnknownColumn, "Unknown column '{name}' in 'field list'"},
	{"has no column named", erUnknownColumn, "Unknown column '{last}' in 'field list'"},
	{"no such function", erNoFunction, "FUNCTION {name} does not exist"},
	{"wrong number of arguments to function", erArguments, "Incorrect parameter count: {text}"},
	{"ambiguous column name", erAmbiguous, "Column '{name}' in field list is ambiguous"},
	{"unknown database", erUnknownDB, "Unknown database '{last}'"},
	{"already exists", erTableExists, "{text}"},
	{"misuse of aggregate", erGroup, "Invalid use of group function"},
	{"table*values for", erColumnList, "In definition of view, derived table or common table expression, SELECT list and column names list have different column counts"},
	{"values for*columns", erColumnCount, "Column count doesn't match value count at row 1"},
	{"values were supplied", erColumnCount, "Column count doesn't match value count at row 1"},
	{"string or blob too big", erTooLong, fmt.Sprintf("A value is larger than max_allowed_packet (%d)", maxText)},
	{"out of memory", erMemory, fmt.Sprintf("Out of memory: the statements of all clients together may use %d MB", maxHeap>>20)},
	{"database or disk is full", erTableFull, "The table is full: the schema test, the temporary files of all sessions ({spill} MB) or the disk has no room for more"},
	{"database is locked", erLock, "Lock wait timeout exceeded; try restarting transaction"},
	{"database table is locked", erLock, "Lock wait timeout exceeded; try restarting transaction"},
	{"Expression tree is too large", erTooDeep, tooDeep().Message},
	{"parser stack overflow", erTooDeep, tooDeep().Message},
	{"too many terms in compound", erTooDeep, tooDeep().Message},
	{"NOT NULL constraint failed", erNull, "Column '{column}' cannot be null"},
	{"UNIQUE constraint failed", 1062, "Duplicate entry for key '{name}'"},
	{"tables in a join", 1116, "Too many tables; {text}"},
	{"malformed JSON", erJSON, "Invalid JSON text"},
	{"pattern too complex", erUnsupported, fmt.Sprintf("This version of ftrace doesn't yet support a pattern of LIKE of more than %d bytes", maxPattern)},
	{"interrupted", erInterrupted, "Query execution was interrupted"},
	{"", erUnknown, "{text}"},
}

// asError gives an error of the engine MySQL's number for it.
func (s *Session) asError(err error) *Error {
	var known *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return known
	case errors.As(s.interrupted(), &known):
		return known
	}
	text := err.Error()
	if m := functionError.FindStringSubmatch(text); m != nil { // that a function returned
		number, _ := strconv.ParseUint(m[1], 10, 16)
		return NewError(uint16(number), "%s", m[2])
	}
	if m := nearError.FindStringSubmatch(text); m != nil {
		return NewError(erSyntax, syntaxNear+"'%s'", m[1])
	}
	if m := engineError.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	name := ""
	if m := quotedName.FindStringSubmatch(text); m != nil {
		name = m[1]
	}
	table := name
	if !strings.Contains(name, ".") {
		table = s.database + "." + name
	}
	words := strings.NewReplacer("{text}", text, "{last}", text[strings.LastIndexByte(text, ' ')+1:], "{name}", name, "{table}", table, "{column}", name[strings.LastIndexByte(name, '.')+1:],
		"{spill}", strconv.FormatInt(spilled.most>>20, 10))
	at := slices.IndexFunc(engineErrors, func(e mapped) bool {
		return !slices.ContainsFunc(strings.Split(e.parts, "*"), func(part string) bool { return !strings.Contains(text, part) })
	})
	return NewError(engineErrors[at].number, "%s", words.Replace(engineErrors[at].message))
}
