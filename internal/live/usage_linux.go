package live

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// ProcessorTime returns the processor time that the process has used, in steps of 10 ms, or 0 if it
// has ended.
func (p *Process) ProcessorTime() time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID))
	if err != nil {
		return 0
	}
	return processorTime(string(stat))
}

// processorTime reads the times that a process was in its own code and in the system, of proc(5).
func processorTime(stat string) (sum time.Duration) {
	_, rest, _ := strings.Cut(stat[strings.LastIndexByte(stat, ')')+1:], " ")
	fields := strings.Fields(rest)
	const utime, stime, perSecond = 14 - 3, 15 - 3, 100
	for _, at := range []int{utime, stime} {
		if at < len(fields) {
			ticks, _ := strconv.ParseUint(fields[at], 10, 48)
			sum += time.Duration(ticks) * (time.Second / perSecond)
		}
	}
	return sum
}
