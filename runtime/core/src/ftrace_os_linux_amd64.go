//go:build ftrace_core

package runtime

const (
	ftraceSysMmap           = 9
	ftraceSysMunmap         = 11
	ftraceSysIoctl          = 16
	ftraceSysPwrite         = 18
	ftraceSysGetpid         = 39
	ftraceSysGettid         = 186
	ftraceSysOpenat         = 257
	ftraceSysMkdirat        = 258
	ftraceSysReadlinkat     = 267
	ftraceSysFallocate      = 285
	ftraceSysProcessVMReadv = 310

	ftraceODirectory = 0x10000
)
