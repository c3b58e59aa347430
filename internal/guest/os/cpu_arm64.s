
// ftraceTouch reads the byte at p. If that faults, the handler of the signal goes on at ftraceUntouched, as if this had been called.
// func ftraceTouch(p uintptr) bool
TEXT runtime·ftraceTouch<ABIInternal>(SB), NOSPLIT, $0-0
	MOVBU	(R0), R0
	MOVD	$1, R0
	RET

// func ftraceUntouched() bool
TEXT runtime·ftraceUntouched<ABIInternal>(SB), NOSPLIT, $0-0
	MOVD	ZR, R0
	RET
