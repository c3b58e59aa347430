package live

import (
	"time"

	"golang.org/x/sys/windows"
)

// ProcessorTime returns the processor time that the process has used, in steps of some 16 ms, or 0
// if that is not known.
func (p *Process) ProcessorTime() time.Duration {
	var created, ended, system, own windows.Filetime
	if windows.GetProcessTimes(p.memory.process, &created, &ended, &system, &own) != nil {
		return 0
	}
	ticks := func(t windows.Filetime) int64 { return int64(t.HighDateTime)<<32 | int64(t.LowDateTime) }
	return time.Duration(ticks(system)+ticks(own)) * 100
}
