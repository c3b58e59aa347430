
// The functions of libSystem that the core calls. Each variable has the address of a jump to one, as in package golang.org/x/sys/unix.

TEXT ftrace_clockGettime<>(SB), NOSPLIT, $0-0
	JMP	libc_clock_gettime(SB)
GLOBL runtime·ftraceSysClockGettime(SB), RODATA, $8
DATA runtime·ftraceSysClockGettime(SB)/8, $ftrace_clockGettime<>(SB)

TEXT ftrace_fcntl<>(SB), NOSPLIT, $0-0
	JMP	libc_fcntl(SB)
GLOBL runtime·ftraceSysFcntl(SB), RODATA, $8
DATA runtime·ftraceSysFcntl(SB)/8, $ftrace_fcntl<>(SB)

TEXT ftrace_fstat<>(SB), NOSPLIT, $0-0
#ifdef GOARCH_amd64
	JMP	libc_fstat64(SB)
#else
	JMP	libc_fstat(SB)
#endif
GLOBL runtime·ftraceSysFstat(SB), RODATA, $8
DATA runtime·ftraceSysFstat(SB)/8, $ftrace_fstat<>(SB)

TEXT ftrace_fstatfs<>(SB), NOSPLIT, $0-0
#ifdef GOARCH_amd64
	JMP	libc_fstatfs64(SB)
#else
	JMP	libc_fstatfs(SB)
#endif
GLOBL runtime·ftraceSysFstatfs(SB), RODATA, $8
DATA runtime·ftraceSysFstatfs(SB)/8, $ftrace_fstatfs<>(SB)

TEXT ftrace_ftruncate<>(SB), NOSPLIT, $0-0
	JMP	libc_ftruncate(SB)
GLOBL runtime·ftraceSysFtruncate(SB), RODATA, $8
DATA runtime·ftraceSysFtruncate(SB)/8, $ftrace_ftruncate<>(SB)

TEXT ftrace_getcwd<>(SB), NOSPLIT, $0-0
	JMP	libc_getcwd(SB)
GLOBL runtime·ftraceSysGetcwd(SB), RODATA, $8
DATA runtime·ftraceSysGetcwd(SB)/8, $ftrace_getcwd<>(SB)

TEXT ftrace_geteuid<>(SB), NOSPLIT, $0-0
	JMP	libc_geteuid(SB)
GLOBL runtime·ftraceSysGeteuid(SB), RODATA, $8
DATA runtime·ftraceSysGeteuid(SB)/8, $ftrace_geteuid<>(SB)

TEXT ftrace_getpid<>(SB), NOSPLIT, $0-0
	JMP	libc_getpid(SB)
GLOBL runtime·ftraceSysGetpid(SB), RODATA, $8
DATA runtime·ftraceSysGetpid(SB)/8, $ftrace_getpid<>(SB)

TEXT ftrace_getrlimit<>(SB), NOSPLIT, $0-0
	JMP	libc_getrlimit(SB)
GLOBL runtime·ftraceSysGetrlimit(SB), RODATA, $8
DATA runtime·ftraceSysGetrlimit(SB)/8, $ftrace_getrlimit<>(SB)

// Its first argument is the task that the memory is of: this one.
TEXT ftrace_machVMRead<>(SB), NOSPLIT, $0-0
#ifdef GOARCH_amd64
	MOVQ	$libc_mach_task_self_(SB), DI
	MOVL	(DI), DI
#else
	MOVD	$libc_mach_task_self_(SB), R0
	MOVW	(R0), R0
#endif
	JMP	libc_mach_vm_read_overwrite(SB)
GLOBL runtime·ftraceSysMachVMRead(SB), RODATA, $8
DATA runtime·ftraceSysMachVMRead(SB)/8, $ftrace_machVMRead<>(SB)

TEXT ftrace_mkdirat<>(SB), NOSPLIT, $0-0
	JMP	libc_mkdirat(SB)
GLOBL runtime·ftraceSysMkdirat(SB), RODATA, $8
DATA runtime·ftraceSysMkdirat(SB)/8, $ftrace_mkdirat<>(SB)

TEXT ftrace_mmap<>(SB), NOSPLIT, $0-0
	JMP	libc_mmap(SB)
GLOBL runtime·ftraceSysMmap(SB), RODATA, $8
DATA runtime·ftraceSysMmap(SB)/8, $ftrace_mmap<>(SB)

TEXT ftrace_munmap<>(SB), NOSPLIT, $0-0
	JMP	libc_munmap(SB)
GLOBL runtime·ftraceSysMunmap(SB), RODATA, $8
DATA runtime·ftraceSysMunmap(SB)/8, $ftrace_munmap<>(SB)

TEXT ftrace_openat<>(SB), NOSPLIT, $0-0
	JMP	libc_openat(SB)
GLOBL runtime·ftraceSysOpenat(SB), RODATA, $8
DATA runtime·ftraceSysOpenat(SB)/8, $ftrace_openat<>(SB)

TEXT ftrace_pwrite<>(SB), NOSPLIT, $0-0
	JMP	libc_pwrite(SB)
GLOBL runtime·ftraceSysPwrite(SB), RODATA, $8
DATA runtime·ftraceSysPwrite(SB)/8, $ftrace_pwrite<>(SB)

TEXT ftrace_readlinkat<>(SB), NOSPLIT, $0-0
	JMP	libc_readlinkat(SB)
GLOBL runtime·ftraceSysReadlinkat(SB), RODATA, $8
DATA runtime·ftraceSysReadlinkat(SB)/8, $ftrace_readlinkat<>(SB)

TEXT ftrace_unlinkat<>(SB), NOSPLIT, $0-0
	JMP	libc_unlinkat(SB)
GLOBL runtime·ftraceSysUnlinkat(SB), RODATA, $8
DATA runtime·ftraceSysUnlinkat(SB)/8, $ftrace_unlinkat<>(SB)
