//go:build ftrace_core

package runtime

const (
	ftraceSysFstat          = 80
	ftraceSysIoctl          = 29
	ftraceSysOpenat         = 56
	ftraceSysReadlinkat     = 78
	ftraceSysGetpid         = 172
	ftraceSysGettid         = 178
	ftraceSysProcessVMReadv = 270
)

// Where struct stat has the mode and the device that a device file stands for.
const (
	ftraceStatMode = 16
	ftraceStatRdev = 32
)
