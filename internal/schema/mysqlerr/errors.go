// Package mysqlerr has errors as MySQL has them: with a number, a state and a message. Package
// schema and those below it return them, and package wire sends them to clients. The numbers are
// from MySQL's mysqld_error.h.
package mysqlerr

import "fmt"

// An Error is an error with MySQL's number and state.
type Error struct {
	Number  uint16
	State   string
	Message string
}

func (e *Error) Error() string { return fmt.Sprintf("ERROR %d (%s): %s", e.Number, e.State, e.Message) }

// Numbers of errors.
const (
	Denied        = 1142 // command denied to user for table
	NoSuchTable   = 1146
	Syntax        = 1064
	UnknownColumn = 1054
	UnknownDB     = 1049
	Usage         = 1683 // Invalid performance_schema usage.
	ReadOnly      = 1036
	Prevented     = 1290 // by an option
	Truncated     = 1265
	Null          = 1048
	UnknownVar    = 1193
	VarReadOnly   = 1238
	Unsupported   = 1235
	Interrupted   = 1317
	Timeout       = 3024
	TooLong       = 1301
	Regexp        = 1139
	RegexpTime    = 3699
	TooDeep       = 1436
	Recursion     = 3636
	TableFull     = 1114
	Memory        = 1041
	Lock          = 1205
	VariableType  = 1232
	Unknown       = 1105
	TableExists   = 1050
	NoFunction    = 1305
	Ambiguous     = 1052
	Group         = 1111
	ColumnCount   = 1136
	ColumnList    = 1353
	Duplicate     = 1060
	BadTable      = 1051
	DBExists      = 1007
	DBDenied      = 1044
	WrongValue    = 1231
	NotView       = 1347
	ColumnDenied  = 1143
	Needs         = 1227 // a privilege
	Account       = 1396
	GrantsNobody  = 1410
	NoGrant       = 1141
	Arguments     = 1582
	JSON          = 3141 // it is not valid
	LockName      = 3057
	LockDeadlock  = 3058
	Cut           = 1292 // text, to make a number of it

	ReadTransaction = 1792
)

var states = map[uint16]string{
	Denied: "42000", NoSuchTable: "42S02", Syntax: "42000", UnknownColumn: "42S22", UnknownDB: "42000", Truncated: "01000",
	Null: "23000", Unsupported: "42000", Interrupted: "70100", VariableType: "42000", TableExists: "42S01", NoFunction: "42000", Ambiguous: "23000", ColumnCount: "21S01", Duplicate: "42S21",
	ColumnDenied: "42000", Needs: "42000", GrantsNobody: "42000", NoGrant: "42000", ReadTransaction: "25006", 1062: "23000", 1144: "42000", 1147: "42000",
	BadTable: "42S02", DBDenied: "42000", WrongValue: "42000",
	1040: "08004", 1043: "08S01", 1045: "28000", 1047: "08S01", 1065: "42000", 1139: "42000",
}

// New returns an error with MySQL's number.
func New(number uint16, format string, args ...any) *Error {
	state := states[number]
	if state == "" {
		state = "HY000"
	}
	return &Error{number, state, fmt.Sprintf(format, args...)}
}

// SyntaxNear is how the message of a syntax error begins. What is not understood follows in quotes.
const SyntaxNear = "You have an error in your SQL syntax; check the manual for the right syntax to use near "

// Near returns the error of a statement of which the rest is not understood.
func Near(rest string) *Error {
	return New(Syntax, SyntaxNear+"'%s'", rest[:min(len(rest), 80)])
}

// NotYet returns the error of what MySQL has, and ftrace does not.
func NotYet(what string) *Error {
	return New(Unsupported, "This version of ftrace doesn't yet support '%s'", what)
}
