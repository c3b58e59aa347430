package schema

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
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
func sourceError(source Source, err error) *Error {
	of := fmt.Sprintf("process %s: ", source.Name())
	return NewError(erUnknown, "%s%s", of, strings.TrimPrefix(strings.TrimPrefix(err.Error(), of), strings.TrimSuffix(of, ": ")+" "))
}

var (
	functionError = regexp.MustCompile(`ERROR ([0-9]+) \([0-9A-Z]+\): (.*?)(?: \(\d+\))?$`)
	nearError     = regexp.MustCompile(`near "((?:[^"]|"")*)": syntax error`)
	engineError   = regexp.MustCompile(`^(?:SQL logic error|constraint failed|database table is locked)?:? ?(.*?)(?: \(\d+\))?$`)
	quotedName    = regexp.MustCompile(`: "?([^ ":]+)"?`)
)

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
		return NewError(erSyntax, "You have an error in your SQL syntax; check the manual for the right syntax to use near '%s'", m[1])
	}
	if m := engineError.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	name := ""
	if m := quotedName.FindStringSubmatch(text); m != nil {
		name = m[1]
	}
	has := func(part string) bool { return strings.Contains(text, part) }
	switch {
	case has("incomplete input"): // MySQL reports it near the statement's end
		return NewError(erSyntax, "You have an error in your SQL syntax; check the manual for the right syntax to use near ''")
	case has("missing argument with index"), has("missing named argument"): // nothing was prepared
		return NewError(erSyntax, "You have an error in your SQL syntax; check the manual for the right syntax to use near '?'")
	case has("unrecognized token"):
		return NewError(erSyntax, "You have an error in your SQL syntax; %s", text)
	case has("no such table"):
		schema, table, ok := strings.Cut(name, ".")
		if !ok {
			schema, table = s.database, schema
		}
		return NewError(erNoSuchTable, "Table '%s.%s' doesn't exist", schema, table)
	case has("no such column"):
		return NewError(erUnknownColumn, "Unknown column '%s' in 'field list'", name)
	case has("has no column named"):
		return NewError(erUnknownColumn, "Unknown column '%s' in 'field list'", text[strings.LastIndexByte(text, ' ')+1:])
	case has("no such function"):
		return NewError(erNoFunction, "FUNCTION %s does not exist", name)
	case has("wrong number of arguments to function"):
		return NewError(1582, "Incorrect parameter count: %s", text)
	case has("ambiguous column name"):
		return NewError(erAmbiguous, "Column '%s' in field list is ambiguous", name)
	case has("unknown database"):
		return NewError(erUnknownDB, "Unknown database '%s'", text[strings.LastIndexByte(text, ' ')+1:])
	case has("already exists"):
		return NewError(erTableExists, "%s", text)
	case has("misuse of aggregate"):
		return NewError(erGroup, "Invalid use of group function")
	case has("table") && has("values for"):
		return NewError(erColumnList, "In definition of view, derived table or common table expression, SELECT list and column names list have different column counts")
	case has("values for") && has("columns"), has("values were supplied"):
		return NewError(erColumnCount, "Column count doesn't match value count at row 1")
	case has("doesn't yet support"):
		return NewError(erUnsupported, "%s", strings.ToUpper(text[:1])+text[1:])
	case has("string or blob too big"):
		return NewError(erTooLong, "A value is larger than max_allowed_packet (%d)", maxText)
	case has("out of memory"):
		return NewError(erMemory, "Out of memory: the statements of all clients together may use %d MB", maxHeap>>20)
	case has("database or disk is full"):
		return NewError(erTableFull, "The table is full: the schema test, the temporary files of all sessions (%d MB) or the disk has no room for more", spilled.most>>20)
	case has("database is locked"), has("database table is locked"):
		return NewError(erLock, "Lock wait timeout exceeded; try restarting transaction")
	case has("Expression tree is too large"), has("parser stack overflow"), has("too many terms in compound"):
		return tooDeep()
	case has("NOT NULL constraint failed"):
		return NewError(erNull, "Column '%s' cannot be null", name[strings.LastIndexByte(name, '.')+1:])
	case has("UNIQUE constraint failed"):
		return NewError(1062, "Duplicate entry for key '%s'", name)
	case has("tables in a join"):
		return NewError(1116, "Too many tables; %s", text)
	case has("malformed JSON"):
		return NewError(3141, "Invalid JSON text")
	case has("pattern too complex"):
		return NewError(erUnsupported, "This version of ftrace doesn't yet support a pattern of LIKE of more than %d bytes", maxPattern)
	case has("interrupted"):
		return NewError(erInterrupted, "Query execution was interrupted")
	}
	return NewError(erUnknown, "%s", text)
}
