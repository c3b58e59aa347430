//go:build ftrace_core

package runtime

const (
	ftraceSysIoctl          = 29
	ftraceSysMkdirat        = 34
	ftraceSysFallocate      = 47
	ftraceSysOpenat         = 56
	ftraceSysPwrite         = 68
	ftraceSysReadlinkat     = 78
	ftraceSysGetpid         = 172
	ftraceSysGettid         = 178
	ftraceSysMunmap         = 215
	ftraceSysMmap           = 222
	ftraceSysProcessVMReadv = 270

	ftraceODirectory = 0x4000
)
