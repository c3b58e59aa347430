//go:build ftrace_core

package runtime

const (
	ftraceSysFstat          = 80
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

// Where struct stat has the mode and the device that a device file stands for.
const (
	ftraceStatMode = 16
	ftraceStatRdev = 32
)
