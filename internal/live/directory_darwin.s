// As in package golang.org/x/sys/unix: the address of a jump to a function of libSystem.

#include "textflag.h"

TEXT procPidfdinfo<>(SB), NOSPLIT, $0-0
	JMP	libc_proc_pidfdinfo(SB)
GLOBL ·procPidfdinfo(SB), RODATA, $8
DATA ·procPidfdinfo(SB)/8, $procPidfdinfo<>(SB)
