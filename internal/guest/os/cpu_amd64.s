
// ftraceCycles reads the processor's counter of cycles, without waiting for what comes before it as cputicks does, which takes half as long.
// func ftraceCycles() uint64
TEXT runtime·ftraceCycles<ABIInternal>(SB), NOSPLIT, $0-0
	RDTSC
	SHLQ	$32, DX
	ADDQ	DX, AX
	RET

// ftraceTouch reads the byte at p. If that faults, the handler of the signal goes on at ftraceUntouched, as if this had been called.
// func ftraceTouch(p uintptr) bool
TEXT runtime·ftraceTouch<ABIInternal>(SB), NOSPLIT, $0-0
	MOVB	(AX), AX
	MOVL	$1, AX
	RET

// func ftraceUntouched() bool
TEXT runtime·ftraceUntouched<ABIInternal>(SB), NOSPLIT, $0-0
	XORL	AX, AX
	RET
