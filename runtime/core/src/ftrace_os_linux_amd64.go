//go:build ftrace_core

package runtime

const (
	ftraceSysFstat          = 5
	ftraceSysIoctl          = 16
	ftraceSysGetpid         = 39
	ftraceSysGettid         = 186
	ftraceSysOpenat         = 257
	ftraceSysReadlinkat     = 267
	ftraceSysProcessVMReadv = 310
)

// Where struct stat has the mode and the device that a device file stands for.
const (
	ftraceStatMode = 24
	ftraceStatRdev = 40
)
