package live

import "time"

// ProcessorTime returns 0: the processor time that the process has used is not known.
func (p *Process) ProcessorTime() time.Duration { return 0 }
