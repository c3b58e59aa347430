//go:build ftrace_core

// What the program prints and logs, for recordings and FTRACE_ON_ERROR: lines and their level.
// Package log/slog says the level. In lines of others it is found where loggers put it.

package runtime

import "unsafe"

const (
	ftraceLevelError = 8 // as in log/slog, and the others accordingly
	ftraceLevelFatal = 12
)

// ftraceConsumeLines records the lines of text, which the goroutine is about to write. It shows the
// goroutine's last calls if one of the lines is an error. known is the level of the first line, or
// ftrace_format_LevelUnknown if it is to be found there.
func ftraceConsumeLines(gp *g, text []byte, known int32) {
	if !ftraceRecords() {
		return
	}
	for len(text) > 0 {
		n := 0
		for n < len(text) && text[n] != '\n' {
			n++
		}
		line := text[:n]
		text = text[min(n+1, len(text)):]
		level := known
		if known == ftrace_format_LevelUnknown {
			level = ftraceLineLevel(line)
		}
		known = ftrace_format_LevelUnknown
		ftraceRecordLine(gp, level, unsafe.String(unsafe.SliceData(line), len(line)))
		if level >= ftraceLevelError && !ftraceTesting {
			ftraceShowContext("error logged", nil)
		}
	}
}

// ftraceRecordLine records a line, if it was written within a recorded call.
func ftraceRecordLine(gp *g, level int32, line string) {
	depth, t := int32(0), gp.ftrace
	if t != nil {
		depth = t.shown
	}
	mp := acquirem()
	if ftraceRecording.on {
		ftraceRecorder(mp).follow(t).line(gp, depth, level, line)
	}
	for i := range ftraceSessions {
		if s := &ftraceSessions[i]; s.on {
			if t != nil {
				depth = t.seen[i]
			}
			s.recorder(gp, mp, nil).follow(t).line(gp, depth, level, line)
		}
	}
	releasem(mp)
}

func (w *ftraceWriter) line(gp *g, depth, level int32, line string) {
	if w != nil {
		r := w.begin(gp, ftrace_format_KindLine, nil, depth)
		w.end(r, w.text(r, uint32(level), line))
	}
}

// ftraceLevels are the words for levels.
var ftraceLevels = [...]struct {
	word  string
	level int32
}{
	{"ERROR", 8}, {"ERR", 8}, {"ERRO", 8}, {"FATAL", 12}, {"FATA", 12}, {"FTL", 12}, {"PANIC", 12}, {"PANI", 12}, {"PNC", 12}, {"DPANIC", 12}, {"CRITICAL", 12}, {"CRIT", 12}, {"ALERT", 12},
	{"EMERG", 12}, {"WARN", 4}, {"WARNING", 4}, {"WRN", 4}, {"NOTICE", 2}, {"INFO", 0}, {"INF", 0}, {"DEBUG", -4}, {"DEBU", -4}, {"DBG", -4}, {"TRACE", -8}, {"TRAC", -8}, {"TRC", -8},
}

// ftraceWordLevel returns the level that a word stands for. The word must be in capitals unless
// anyCase is set.
func ftraceWordLevel(word []byte, anyCase bool) int32 {
	for i := range ftraceLevels {
		l := &ftraceLevels[i]
		if len(l.word) != len(word) {
			continue
		}
		same := true
		for j, c := range word {
			if anyCase && c >= 'a' && c <= 'z' {
				c -= 'a' - 'A'
			}
			same = same && c == l.word[j]
		}
		if same {
			return l.level
		}
	}
	return ftrace_format_LevelUnknown
}

// ftraceLineLevel returns the level of a line. That is the level in its field "level" or the like,
// in JSON or as key=value; or a word in capitals, in brackets or before a colon, near its
// beginning; or glog's letter.
func ftraceLineLevel(line []byte) int32 {
	const most = 512 // bytes that are checked
	line = line[:min(len(line), most)]
	if len(line) > 5 && line[1] >= '0' && line[1] <= '9' && line[4] >= '0' && line[4] <= '9' && line[5] == ' ' {
		switch line[0] { // glog: E1121 10:11:12.123456
		case 'F':
			return 12
		case 'E':
			return 8
		case 'W':
			return 4
		case 'I':
			return 0
		}
	}
	const words = 6 // that are checked for a level, in a line without fields
	for i, n := 0, 0; i < len(line); n++ {
		start := i
		for i < len(line) && ftraceIsLetter(line[i]) {
			i++
		}
		word := line[start:i]
		next := byte(' ')
		if i < len(line) {
			next = line[i]
		}
		if len(word) == 0 {
			n--
			if line[i] == '\x1b' { // a colour
				for i < len(line) && line[i] != 'm' {
					i++
				}
			}
			i++
			continue
		}
		if ftraceIsLevelKey(word) && (next == '=' || next == '"') {
			for i < len(line) && (line[i] == '"' || line[i] == '=' || line[i] == ':' || line[i] == ' ') {
				i++
			}
			value := i
			for i < len(line) && ftraceIsLetter(line[i]) {
				i++
			}
			return ftraceWordLevel(line[value:i], true)
		}
		bracketed := start > 0 && line[start-1] == '[' && next == ']'
		if n < words && line[0] != '{' {
			if level := ftraceWordLevel(word, bracketed || start == 0 && next == ':'); level != ftrace_format_LevelUnknown {
				return level
			}
		}
	}
	return ftrace_format_LevelUnknown
}

func ftraceIsLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// ftraceIsLevelKey reports whether loggers use this name for the level.
func ftraceIsLevelKey(word []byte) bool {
	switch string(word) {
	case "level", "lvl", "severity", "Level", "L":
		return true
	}
	return false
}
