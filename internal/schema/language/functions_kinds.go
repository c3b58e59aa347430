package language

import "strings"

// What the restorer has to know of MySQL's functions: what they take, and what they return. One
// that is in no list may take and return anything.

// setOf returns the set of some words.
func setOf(text string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(text) {
		set[word] = true
	}
	return set
}

// integerResults are functions that return integers.
var integerResults = setOf(`COUNT SIGN ISNULL LENGTH OCTET_LENGTH CHAR_LENGTH CHARACTER_LENGTH BIT_LENGTH ASCII ORD
	LOCATE INSTR POSITION STRCMP FIELD FIND_IN_SET BIT_COUNT CRC32 CONNECTION_ID FOUND_ROWS
	ROW_COUNT LAST_INSERT_ID ROW_NUMBER RANK DENSE_RANK NTILE GROUPING YEAR MONTH DAY DAYOFMONTH
	HOUR MINUTE SECOND MICROSECOND QUARTER DAYOFYEAR DAYOFWEEK WEEKDAY WEEKOFYEAR TO_DAYS
	EXTRACT DATEDIFF TIMESTAMPDIFF TIME_TO_SEC SLEEP UNIX_TIMESTAMP WEEK YEARWEEK JSON_VALID
	JSON_LENGTH REGEXP_INSTR TO_SECONDS INET_ATON GET_LOCK RELEASE_LOCK IS_FREE_LOCK
	IS_USED_LOCK RELEASE_ALL_LOCKS`)

// doubleResults are functions that return floating-point numbers.
var doubleResults = setOf(`SQRT POW POWER EXP LN LOG LOG2 LOG10 RAND PI SIN COS TAN ASIN ACOS ATAN ATAN2 COT DEGREES
	RADIANS STD STDDEV STDDEV_POP STDDEV_SAMP VARIANCE VAR_POP VAR_SAMP PERCENT_RANK CUME_DIST`)

// textResults are functions that return text.
var textResults = setOf(`CONCAT CONCAT_WS UPPER LOWER LEFT RIGHT SUBSTRING SUBSTR SUBSTRING_INDEX TRIM LTRIM RTRIM
	REVERSE REPLACE LPAD RPAD GROUP_CONCAT QUOTE SOUNDEX TO_BASE64 FROM_BASE64 INSERT UUID
	INET_NTOA COLLATION CHARSET`)

// sameResults are functions that return what their first argument is.
var sameResults = setOf(`MIN MAX NULLIF ANY_VALUE FIRST_VALUE LAST_VALUE NTH_VALUE`)

// eitherResults are functions that return one of their arguments.
var eitherResults = setOf(`IFNULL COALESCE GREATEST LEAST`)

// numberArguments are functions that take text as numbers.
var numberArguments = setOf(`SUM AVG ABS SIGN ROUND TRUNCATE FLOOR CEILING CEIL MOD SQRT POW POWER EXP LN LOG LOG2 LOG10
	SIN COS TAN STD STDDEV STDDEV_POP STDDEV_SAMP VARIANCE VAR_POP VAR_SAMP`)

// textArguments are functions that take numbers as text.
var textArguments = setOf(`LENGTH OCTET_LENGTH CHAR_LENGTH CHARACTER_LENGTH STRCMP ASCII ORD FIND_IN_SET LOCATE INSTR
	REGEXP_LIKE REGEXP_INSTR REGEXP_SUBSTR REGEXP_REPLACE`)

// searches are functions that search without regard to case, unless a text is exact.
var searches = setOf(`LOCATE INSTR STRCMP FIELD FIND_IN_SET REGEXP_INSTR REGEXP_SUBSTR REGEXP_REPLACE`)

// aggregates are functions of the rows of a group.
var aggregates = setOf(`COUNT SUM AVG MIN MAX GROUP_CONCAT TOTAL STD STDDEV STDDEV_POP STDDEV_SAMP VARIANCE VAR_POP
	VAR_SAMP JSON_ARRAYAGG JSON_OBJECTAGG`)
