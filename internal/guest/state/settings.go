//go:build ftrace_core

// What the environment has set for the whole program.

package runtime

// ftraceFormatType is FTRACE_FORMAT.
type ftraceFormatType struct {
	seq, wall, elapsed, tid, duration, pos, fold, paths, errors, json bool

	colour, colourSet bool

	line, str, slice, nest int

	lines    int // a second, 0: there is no limit
	linesSet bool
}

var ftraceFormat = ftraceFormatType{errors: !raceenabled, line: 2000, str: 64, slice: 8, nest: 3}

var (
	ftraceStarted  int64  // nanotime
	ftraceBinary   string // path of the program
	ftraceStats    int    // FTRACE_STATS: how many functions to list; 0 none
	ftraceShow     bool   // FTRACE_SHOW
	ftraceFinished uint32 // the statistics were written; atomic
)
