package main

// waitWays are the columns of the table of waits.
var waitWays = []way{
	{"plain", false, nil, nil},
	{"off", true, nil, nil},
	{"count", true, nil, []string{"FTRACE=wait/*=count"}},
	{"summary", true, nil, []string{"FTRACE=wait/*", "FTRACE_OUT=off", "FTRACE_CONSUMERS=summary"}},
	{"kept", true, nil, []string{"FTRACE=wait/*", "FTRACE_OUT=off"}},
	{"ring", true, nil, []string{"FTRACE=wait/*", "FTRACE_RECORD=ring", "FTRACE_CONSUMERS=none"}},
	{"file", true, nil, []string{"FTRACE=wait/*", "FTRACE_RECORD=" + recorded}},
}

// waitsPerOp says how many stops, locks or messages an operation of each benchmark is.
func waitsPerOp(benchmark string) float64 {
	if benchmark == "Stop" {
		return 2000
	}
	return 1000
}
