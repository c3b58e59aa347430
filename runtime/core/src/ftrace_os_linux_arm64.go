//go:build ftrace_core

package runtime

const (
	ftraceSysIoctl          = 29
	ftraceSysOpenat         = 56
	ftraceSysReadlinkat     = 78
	ftraceSysGetpid         = 172
	ftraceSysGettid         = 178
	ftraceSysProcessVMReadv = 270
)
