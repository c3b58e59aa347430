package main

import (
	"fmt"
)

const usage = `ftrace records what programs do that were built with ftrace-wrap, and shows it.

Build a program, and see its calls as it runs:

	go build -toolexec=ftrace-wrap ./cmd/app
	ftrace ./app

Or record, and look at it afterwards in as many ways as you like:

	ftrace record ./app
	ftrace replay -f 'main.handle=tree'
	ftrace report

Commands:

	record   run a program and record its calls in ftrace.data
	live     run a program and show its calls as it runs; the default
	replay   show a recording as the text of a trace
	report   calls, times and errors of each function
	graph    what calls a function, and what it calls
	diff     find where two recordings differ first
	info     what a recording is of, how large, and what is missing
	export   write a recording in the formats of other tools
	compact  make a recording three to eight times smaller
	list     the running programs that can be attached to
	attach   look into a running program, arm it, record it
	top      the functions of a running program as a live table
	sql      ask running programs and recordings in SQL: the Performance Schema
	serve    the same for MySQL's clients
	version  print the version and what it was built with
	help     say more about a command: ftrace help replay

Probes, predicates and one-liners in D, the language of DTrace (ftrace help probes):

	ftrace -n 'call:main:*:entry { @[probefunc] = count(); }' -c ./app

The commands that read take the directory of a recording, ftrace.data if none is
named, and all have these flags:

	-f RULES     show what FTRACE=RULES would have shown (docs/rules.md)
	-from TIME   leave out what was before, since the start: 1.5s, 20ms
	-to TIME     leave out what was later
	-g N,N...    these goroutines only
	-children    (replay, report, info) with what child processes recorded
	-json        JSON lines in place of text, times in ns
	-color WHEN  auto, always or never
	-pager=false do not show by $PAGER what goes to a terminal
`

// helpTexts has the text of each command.
var helpTexts = map[string]string{
	"version": `usage: ftrace version

Version prints the version of ftrace, the commit that it was built from if that is
known, and the Go release and platform that it was built with.
`,
	"record": `usage: ftrace record [-o DIR] [-f RULES] CMD [ARGS]

Record runs a program with FTRACE_RECORD set to DIR, ftrace.data if -o names none. A
recording that is there already is renamed to DIR.old. Children of the program that
were built with ftrace-wrap record to directories within DIR. The exit status is the
program's, or 128 and the signal's number if a signal ended it.

	-f RULES  record what FTRACE=RULES would show; without, and without FTRACE
	          in the environment, everything

	$ ftrace record ./app -v
	$ ftrace record -f 'main.*;net/http/...=call' -o slow.data ./app
`,
	"live": `usage: ftrace [live] [FLAGS] CMD [ARGS]

Live runs a program and shows on stderr, as it runs, what it records to a temporary
directory. The exit status is the program's. It is what ftrace does if no command is
named, but a program by its path.

	-f RULES         what is recorded; without, everything
	-format OPTIONS  as FTRACE_FORMAT
	-fold, -repeats  see ftrace help replay

	$ ftrace ./app
	$ ftrace -f 'main.*' -format duration ./app
	$ ftrace live -repeats app
`,
	"replay": `usage: ftrace replay [FLAGS] [DIR]

Replay writes a recording as the text that the program would have written under
FTRACE. Values are those that were recorded: of strings the first 64 bytes, of slices
the first 8 elements, of maps the length.

	-f RULES         all that FTRACE's rules can say: selectors, first, depth, min,
	                 tree, in, after, rate
	-format OPTIONS  as FTRACE_FORMAT, which is the default: seq, wall, elapsed,
	                 duration, pos, path, fold, line=N, str=N, slice=N, nest=N
	-fold            a call that shows no others takes one line
	-repeats         so do consecutive calls that call the same functions
	                 (x1000), and recursion (x5 deep): the first is shown
	-group           goroutine by goroutine, not by time
	-children        with the recordings within this one, of child processes, in
	                 the order of the time of day; lines begin with the process's
	                 number

and those that all commands have: -from, -to, -g, -json, -color, -pager (ftrace help).

	$ ftrace replay
	$ ftrace replay -repeats -format duration
	$ ftrace replay -f 'main.handle=tree,min=1ms' -from 2s -to 2.5s
	$ ftrace replay -g 1,7 -group old.data
	$ ftrace replay -children -f 'main.*' -format wall
`,
	"report": `usage: ftrace report [FLAGS] [DIR]
       ftrace report -diff [FLAGS] A B

Report writes a table of the functions that were called: calls, total time (of calls
within others of the same function only the outer ones), self time (without the calls
that they made and that are shown), average, shortest, longest, percentiles (within
3 %), calls whose last result was an error that is not nil, and panics.

	-by WHAT   function, package or goroutine
	-sort BY   total, or name, calls, self, avg, min, max, p50, p95, p99, errors,
	           panics
	-n N       the first N rows
	-children  with the calls of child processes; by goroutine these are named
	           by process, 1234 G1
	-diff      what changed from A to B, the largest change first

and those that all commands have: -f, -from, -to, -g, -json, -color, -pager.

	$ ftrace report -n 20
	$ ftrace report -by package -sort self
	$ ftrace report -diff ftrace.data.old ftrace.data
`,
	"graph": `usage: ftrace graph [FLAGS] FUNC [DIR]

Graph writes what calls a function and what it calls, how often, and how long that
took. FUNC is a GLOB as in FTRACE's rules; of several functions each has its graph.
What is not shown by -f is left out: its callers then call what it called.

Flags are those that all commands have: -f, -from, -to, -g, -json, -color, -pager.

	$ ftrace graph main.parse
	$ ftrace graph '(*Conn).Read' slow.data
`,
	"diff": `usage: ftrace diff [FLAGS] A B

Diff finds out why one run did not do what another did. It puts the goroutines of two
recordings together that were started by the same functions, and compares their calls
by function, parameters and results; addresses are taken to be the same. It writes the
first divergence with the calls around it, and which functions were not called as
often, or returned not as many errors, or panicked. The exit status is 0 if there is
no difference, 1 if there is, 2 for trouble.

	-context N  lines in front of and behind the divergence, 5
	-n N        functions in the summary, 20; 0: all

and those that all commands have: -f, -from, -to, -g, -json, -color, -pager.

	$ ftrace diff good.data bad.data
	$ ftrace diff -json good.data bad.data | jq .divergence.path
	$ ftrace diff -f 'main.*' ftrace.data.old ftrace.data
`,
	"info": `usage: ftrace info [FLAGS] [DIR]

Info writes what a recording is of: program, process, times, functions, goroutines,
calls, events, size, how many records were lost, and what is damaged. It reads all of
it. Recordings within this one, of other processes, are named, and with -children
described.

	$ ftrace info
	$ ftrace info -children
	$ ftrace info -json slow.data
`,
	"export": `usage: ftrace export -format FORMAT [-o FILE] [FLAGS] [DIR]

Export writes a recording in the format of another tool, to stdout or to FILE:

	perfetto    a trace for https://ui.perfetto.dev and trace_processor: a track for
	            each goroutine, values as arguments, arrows to what go starts
	chrome      trace events (JSON) for chrome://tracing and what else reads these
	pprof       a profile for go tool pprof: calls, and time in each function itself
	folded      stacks and their time in ns, for flamegraph.pl and others
	speedscope  for https://www.speedscope.app: the calls in the order of time
	json        a line of JSON for each event
	mermaid     a sequence diagram between packages and types, of at most 500
	            messages: choose by -f and the like
	uftrace     a directory for uftrace -d DIR, which -o names; a goroutine is a task
	ctf         a directory, which -o names, that is a recording again, of what the
	            flags leave: for ftrace, babeltrace2, Trace Compass. Of a compact
	            recording it is one that these read

and those that all commands have: -f, -from, -to, -g. What min= in -f would leave out
for being short is exported.

	$ ftrace export -format perfetto -from 2s -to 2.1s -o app.pftrace
	$ ftrace export -format ctf -f 'main.handle=tree' -o handle.data
	$ ftrace export -format pprof -o app.pprof && go tool pprof -top app.pprof
	$ ftrace export -format folded | flamegraph.pl >app.svg
`,
	"compact": `usage: ftrace compact [-o DIR] [-json] [DIR]

Compact makes a recording three to eight times smaller, and the recordings of child
processes within it. All commands read it as before, and show the same; other tools
do not: ftrace export -format ctf makes what they read. It replaces the recording,
unless -o names a new directory. What is damaged, or is still being written, is not
replaced.

	$ ftrace compact -o small.data ftrace.data
	$ ftrace compact
`,
	"list": `usage: ftrace list [-json]

List writes the running programs of this user that were built with ftrace-wrap, with
their number, whether anything is armed in them, where they record if someone asked
them to, and their command line. They need not have been prepared for that.

	$ ftrace list
`,
	"attach": `usage: ftrace attach [FLAGS] PID|NAME

Attach shows the calls of a program while it runs, until Ctrl-C, until it ends, or for
-for. Then all is as it was before, also if ftrace is killed. NAME is the name of an
executable of which one process runs. If nothing is armed in the program, and there is
no -f, all its functions are.

	-f RULES         put these rules in force, as FTRACE=RULES
	-for DURATION    stay attached for 10s, 1m, ...; calls that could not be shown in
	                 the time are not
	-o DIR           record to DIR, and show nothing
	-format OPTIONS  as FTRACE_FORMAT
	-fold, -repeats  see ftrace help replay

What is asked once, or set to stay:

	-stack           each goroutine's last calls, and those that it is in, with how
	                 long; values are there if the program records to rings
	-arm             put the rules of -f, or all functions, in force; let the program
	                 record to rings
	-disarm          disarm all functions, end a recording that -arm began
	-dump DIR        write what the rings have, as a recording

	$ ftrace attach 4242
	$ ftrace attach -f 'net/http.*=call' -for 10s -o slow.data server
	$ ftrace attach -arm -f 'main.*' server; sleep 60; ftrace attach -dump last.data server
	$ ftrace attach -stack server
`,
	"top": `usage: ftrace top [FLAGS] [PID|NAME|RECORDING]

Top shows the functions of a running program, how often they were called and how long
they took, and goes on showing it. Functions are turned on and off by key; what is
turned on stays so when top ends. ? lists the keys.

	-every TIME   how often it looks, 1s
	-sort BY      calls, rate, total, self, avg, max, errors, panics, name
	-filter TEXT  functions with this in their names

	$ ftrace top server
	$ ftrace top -sort rate -filter http. 4242
`,
	"sql": `usage: ftrace sql [FLAGS] [PID|NAME|RECORDING ...] [QUERY]

Sql queries running programs and recordings in SQL, as MySQL spells it, and turns
instruments, which are functions, on and off by UPDATE. NAME is the name of an
executable: it means all its processes, also those that start later. Live processes are
in the schema performance_schema; each recording is a schema of its own. QUERY is
statements separated by semicolons; without, they are read from stdin, on a terminal
with a history and completion. docs/performance-schema.md describes the tables.

	-json            rows as JSON lines, not as tables
	-batch           rows separated by tabs
	-test FILE       keep the schema test, for tables of your own, in FILE
	-history-long N  of recordings: the last N calls, 10000
	-history N       of recordings: the last N calls of each goroutine, 10

	$ ftrace sql server 'UPDATE setup_instruments SET ENABLED="YES" WHERE NAME LIKE "%/http/%"'
	$ ftrace sql good.data bad.data
	$ echo 'SHOW TABLES' | ftrace sql 4242
`,
	"serve": `usage: ftrace serve [FLAGS] [PID|NAME|RECORDING ...]

Serve lets MySQL's clients, drivers and tools ask what ftrace sql asks. It writes how to
connect. It ends by Ctrl-C or SIGTERM, or when the processes have ended that were named by number.

	-mysql ADDR      HOST:PORT or :PORT, 127.0.0.1:3307; port 0 is a free one
	-anywhere        allow addresses that are reached from other machines
	-user NAME       who may log in, ftrace
	-password TEXT   with what; better in FTRACE_PASSWORD. If there is none one is made
	                 up and written to stdout
	-no-auth         anyone may log in
	-tls auto|FILES  offer TLS, with a certificate made for this run or with CERT,KEY
	-timeout D       how long a statement may take, 1m; 0: as long as it likes. Clients
	                 change that by max_statement_time and max_execution_time
	-test FILE, -history-long N, -history N  as of ftrace sql

	$ ftrace serve server
	$ FTRACE_PASSWORD=secret ftrace serve -mysql :3306 4242 4243 old.data
`,
	"probes": `usage: ftrace -n 'PROGRAM'|-s FILE [FLAGS] [-c 'CMD ARGS' | -p PID|NAME | RECORDING]
       ftrace -l [-n PROBES] [-json] [-c 'CMD ARGS' | PID|NAME | RECORDING]

Runs a program in D, the language of DTrace, over what a program built with ftrace-wrap
does: with -c over CMD, which it runs; with -p over a process that runs already, which
is left as it was; or over a recording, ftrace.data by default. Only what the D program
asks about is armed and recorded. Maps are printed at the end, also of Ctrl-C. A D
program is clauses of probes, a predicate and actions:

	call:net/http:(*Server).*:return /elapsed > 1ms/ { @[probefunc] = count(); }

	call:PACKAGE:FUNCTION:entry, :return   calls; parts may be empty or globs
	tcp:::send, udp:::*, myapp:::start     static probes
	BEGIN, END, tick-1s, interval:s:1

	-n PROGRAM  the program; several are one
	-s FILE     the program is in FILE
	-q          print only what the program prints: no columns
	-json       print the maps as JSON, a line each
	-o FILE     print to FILE
	-l          list probes with their arguments and results; -n names those wanted

docs/probes.md has the language, and examples.

	$ ftrace -n 'tcp:::accept-established { trace(args[2]->ip_saddr); }' -p server
	$ ftrace -n 'call:main:*:return { @[probefunc] = quantize(elapsed); }' -c './app -v'
	$ ftrace -qn 'call:::return /err != nil/ { @[probefunc, err] = count(); }'
	$ ftrace -l -n 'call:net/http:*:entry' server
`,
	"help": `usage: ftrace help [COMMAND]

Help says what a command does, or lists the commands.

	$ ftrace help replay
`,
}

// helpCommand is "ftrace help [COMMAND]".
func helpCommand(args []string) int {
	if len(args) == 0 {
		stdout.WriteString(usage)
		return 0
	}
	text, ok := helpTexts[args[0]]
	if !ok {
		fmt.Fprintf(stderr, "ftrace: help: %s: there is no such command: ftrace help lists them\n", args[0])
		return 1
	}
	stdout.WriteString(text)
	return 0
}
