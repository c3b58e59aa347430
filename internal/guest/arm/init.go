//go:build ftrace_core

// The start: FTRACE's environment variables are read before any other package is initialised.

package runtime

import "internal/runtime/atomic"

// ftraceVariables are the environment variables that this file or the build knows.
var ftraceVariables = [...]string{"FTRACE", "FTRACE_OUT", "FTRACE_FORMAT", "FTRACE_STATS", "FTRACE_SHOW", "FTRACE_FAIL", "FTRACE_RECORD", "FTRACE_ON_ERROR", "FTRACE_KEEP", "FTRACE_WEAVE", "FTRACE_GROUP", "FTRACE_CONSUMERS", "FTRACE_LOCKS", "FTRACE_BUDGET", "FTRACE_MEMORY", "FTRACE_TIMER", "FTRACE_PROTOCOL", "FTRACE_REDACT", "FTRACE_SHAKE", "FTRACE_PROPAGATE", "FTRACE_PACKAGES", "FTRACE_VARIABLES", "FTRACE_INLINE", "FTRACE_CACHE", "FTRACE_GO"}

// ftraceActivating are those of them that make a program do something. The others only say how.
var ftraceActivating = [...]string{"FTRACE", "FTRACE_STATS", "FTRACE_SHOW", "FTRACE_FAIL", "FTRACE_RECORD", "FTRACE_ON_ERROR", "FTRACE_LOCKS", "FTRACE_PROTOCOL"}

// ftraceInit is called by main before the first package is initialised. Without any FTRACE variable
// it only lets others find the program.
func ftraceInit() {
	lockInit(&ftraceTables.lock, lockRankItab)
	ftraceMakeWaits()
	if ftraceMayBePrivileged() {
		ftraceRefuseCaller()
		return
	}
	ftraceParseRedact(ftraceGetenv("FTRACE_REDACT"))
	ftraceParseMemory(ftraceGetenv("FTRACE_MEMORY"))
	ftraceParseTimer(ftraceGetenv("FTRACE_TIMER"))
	ftraceParseShake(ftraceGetenv("FTRACE_SHAKE"))
	ftraceParsePropagate(ftraceGetenv("FTRACE_PROPAGATE"))
	ftraceMakeMemory()
	if ftraceParseLocks(ftraceGetenv("FTRACE_LOCKS")) {
		ftraceObserveLocks(true)
		ftraceLocks.reports = true
		if h := ftraceMemory.head; h != nil {
			h.Own[1] = ftrace_format_ConsumerLocks
		}
	}
	ftraceParseConsumers(ftraceGetenv("FTRACE_CONSUMERS"))
	ftraceParseBudget(ftraceGetenv("FTRACE_BUDGET"))
	rules, format, out, stats, show := ftraceGetenv("FTRACE"), ftraceGetenv("FTRACE_FORMAT"), ftraceGetenv("FTRACE_OUT"), ftraceGetenv("FTRACE_STATS"), ftraceGetenv("FTRACE_SHOW")
	ftraceCheckVariables()
	ftraceParseFormat(format)
	ftraceParseWeave(ftraceGetenv("FTRACE_WEAVE"))
	if ftraceParseSwitch("FTRACE_GROUP", ftraceGetenv("FTRACE_GROUP")) {
		ftraceGroups.on = 1
	}
	ftraceShow = ftraceParseSwitch("FTRACE_SHOW", show)
	ftraceStats = ftraceParseStats(stats)
	fail, record := ftraceGetenv("FTRACE_FAIL"), ftraceGetenv("FTRACE_RECORD")
	ftraceParseOnError(ftraceGetenv("FTRACE_ON_ERROR"), record)
	if ftraceOnError != 0 && record == "" {
		record = "ring"
	}
	if ftraceTestRings.directory = ftraceGetenv("FTRACE_KEEP"); ftraceTestRings.directory != "" && ftraceOnError == 0 {
		ftraceComplain("FTRACE_KEEP: recordings are kept of tests for which FTRACE_ON_ERROR is set, and it is not; none are kept")
		ftraceTestRings.directory = ""
	}
	ftraceRecording.wanted = record != "" || out == "off"
	switch {
	case rules != "":
	case record != "":
		rules = "1"
	case ftraceStats != 0:
		rules = "*=count"
	}
	protocol := ftraceParseProtocol(ftraceGetenv("FTRACE_PROTOCOL"), out)
	if rules == "" && !ftraceShow && fail == "" && protocol == nil {
		return
	}
	r, err, ok := ftraceNewRules(rules, !ftraceRecording.wanted)
	if !ok {
		ftraceComplainRules("FTRACE", rules, "the program runs untraced", &err)
		return
	}
	traces, failing := len(r.clauses) > 0 || ftraceStats != 0 || ftraceShow, ftraceParseFail(fail)
	if !traces && !failing && protocol == nil || !ftraceOpen(out) {
		ftraceFailing.text = ""
		return
	}
	if protocol != nil {
		ftraceStartTestTrace(protocol)
		if !traces && !failing {
			ftraceOut.spare = true
			return
		}
	}
	if ftraceFormat.terminal(ftraceOut.fd); ftraceFormat.lines != 0 {
		r.noUsualFirst()
	}
	chunks, ok := ftraceParseRecord(record)
	wanted := uint32(ftraceConsumersUsual)
	if record != "" && chunks == 0 {
		wanted = 0 // all is in the files
	}
	ftracePrepare(chunks, ftraceConsumersOr(wanted))
	recorded := ok && record != ""
	if recorded {
		ftraceRecording.asked = ftraceAskedAtStart
		if failed := ftraceRecording.begin(record, chunks); failed != "" {
			ftraceComplain("FTRACE_RECORD: " + failed + "; nothing is recorded")
			recorded = false
		}
		ftraceShowRecording()
	}
	if record != "" && !recorded && out == "" {
		return
	}
	ftraceOut.on = out != "off" && (record == "" || out != "" && ftraceOnError == 0)
	if traces {
		ftraceArm(0, r, false)
	}
}

// ftraceRefuseCaller is all that happens at the start of a program with privileges that its caller
// may lack: setuid, setgid or file capabilities. There is no memory file, so nobody can send the
// program requests. The variables are taken out of the environment, as the dynamic linker does with
// its own. So nothing sees them later: not the core, when the program itself calls package ftrace,
// and not the programs that it starts, which may have its privileges without AT_SECURE.
func ftraceRefuseCaller() {
	asked := false
	kept := envs[:0]
	for _, entry := range envs {
		name := ftraceVariableName(entry)
		if name != "FTRACE" && (len(name) < 7 || name[:7] != "FTRACE_") {
			kept = append(kept, entry)
			continue
		}
		for _, v := range ftraceActivating {
			asked = asked || v == name && len(entry) > len(name)+1
		}
		unsetenv_c(name)
	}
	clear(envs[len(kept):])
	envs = kept
	if asked {
		ftraceComplain("this program has privileges that its caller may lack (setuid, setgid or file capabilities): FTRACE and all FTRACE_ variables are ignored")
	}
}

// ftracePreparing is a semaphore for those who prepare while the program runs.
var ftracePreparing uint32 = 1

// ftracePrepare makes what is needed once something is armed. chunks is the size of each
// processor's ring, 0 for the usual.
func ftracePrepare(chunks uint64, consumers uint32) {
	if ftraceStarted != 0 {
		return
	}
	ftraceStarted = nanotime()
	ftraceBinary = ftraceExecutable()
	ftraceMakeUUID()
	if chunks == 0 {
		chunks = ftraceRingSize / ftrace_format_RingChunk
	}
	ftraceArmMemory(chunks)
	if h := ftraceArmed(); h != nil {
		h.Own = [2]uint32{consumers, consumers | h.Own[1]}
		atomic.Store(&h.Consumers, consumers)
		atomic.Store(&h.Waits, consumers)
	}
}

// ftraceCheckVariables complains about FTRACE variables that do not exist: a misspelt one would
// otherwise silently do nothing.
func ftraceCheckVariables() {
	for _, entry := range envs {
		if len(entry) < 6 || entry[:6] != "FTRACE" {
			continue
		}
		name := ftraceVariableName(entry)
		known := false
		for _, v := range ftraceVariables {
			known = known || v == name
		}
		if !known {
			all := ""
			for _, v := range ftraceVariables {
				all += " " + v
			}
			ftraceComplain("unknown environment variable " + name + "; known are" + all)
		}
	}
}

// ftraceParseStats reads FTRACE_STATS: on, off, or how many functions to list.
func ftraceParseStats(s string) int {
	switch s {
	case "", "0", "off", "false":
		return 0
	case "1", "on", "true", "all":
		return 1 << 30
	}
	n, ok := ftraceParseInt(s)
	if !ok || n < 0 {
		ftraceComplain("FTRACE_STATS: " + s + " is neither on, off nor a number of functions to list")
		return 1 << 30
	}
	return n
}

// ftraceParseFormat reads FTRACE_FORMAT: words and numbers, comma-separated.
func ftraceParseFormat(s string) {
	f := &ftraceFormat
	for s != "" {
		var item string
		item, s = ftraceItem(s)
		if item != "" && !f.option(item) {
			ftraceComplain("FTRACE_FORMAT: unknown option " + item + "; known are seq, wall, elapsed, tid, duration, pos, fold, path, json, errors=on|off, color=auto|always|never, lines=N|all, line=N, str=N, slice=N, nest=N")
		}
	}
}

func (f *ftraceFormatType) option(item string) bool {
	name, value := item, ""
	for i := 0; i < len(item); i++ {
		if item[i] == '=' {
			name, value = item[:i], item[i+1:]
			break
		}
	}
	for _, o := range [...]struct {
		name string
		flag *bool
	}{{"seq", &f.seq}, {"wall", &f.wall}, {"elapsed", &f.elapsed}, {"tid", &f.tid}, {"duration", &f.duration}, {"pos", &f.pos}, {"fold", &f.fold}, {"path", &f.paths}, {"json", &f.json}, {"errors", &f.errors}} {
		if o.name == name {
			*o.flag = value != "off"
			return value == "" || value == "on" || value == "off"
		}
	}
	if name == "color" || name == "colour" {
		f.colour, f.colourSet = value == "always", value != "auto"
		return value == "always" || value == "never" || value == "auto"
	}
	if name == "lines" {
		f.lines, f.linesSet = 0, true
		if value == "all" {
			return true
		}
	}
	for _, o := range [...]struct {
		name  string
		value *int
		most  int
	}{{"lines", &f.lines, 1e9}, {"line", &f.line, ftraceTextSize - 4096}, {"str", &f.str, ftraceTextSize}, {"slice", &f.slice, 1 << 20}, {"nest", &f.nest, 100}} {
		if n, ok := ftraceParseInt(value); ok && o.name == name {
			*o.value = min(n, o.most)
			return true
		}
	}
	return false
}

// terminal switches colours and a limit of lines on if fd is a terminal, except what the variable
// mentions.
func (f *ftraceFormatType) terminal(fd int32) {
	if f.json || !ftraceTerminal(fd) {
		return
	}
	if !f.colourSet {
		f.colour = ftraceGetenv("NO_COLOR") == ""
	}
	if !f.linesSet {
		f.lines = ftraceLinesUsual
	}
}
