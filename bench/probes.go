package main

// probeWays are the columns of the table of probes.
var probeWays = []way{
	{"plain", false, nil, nil},
	{"off", true, nil, nil},
	{"count", true, nil, []string{"FTRACE=probe/*=count"}},
	{"ring, call", true, nil, []string{"FTRACE=probe/*=call", "FTRACE_RECORD=ring", "FTRACE_CONSUMERS=none"}},
	{"ring, some fields", true, nil, []string{"FTRACE=probe/*=fields=cs_pid+ip_plength+n", "FTRACE_RECORD=ring", "FTRACE_CONSUMERS=none"}},
	{"ring", true, nil, []string{"FTRACE=probe/*", "FTRACE_RECORD=ring", "FTRACE_CONSUMERS=none"}},
	{"file", true, nil, []string{"FTRACE=probe/*", "FTRACE_RECORD=" + recorded}},
	{"text", true, nil, []string{"FTRACE=probe/*=first=0", "FTRACE_OUT=/dev/null"}},
}

// firesPerOp says how often an operation of each benchmark fires.
func firesPerOp(string) float64 { return 1000 }
