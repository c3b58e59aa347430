//go:build ftrace_core

package runtime

const (
	ftraceSysIoctl          = 16
	ftraceSysGetpid         = 39
	ftraceSysGettid         = 186
	ftraceSysOpenat         = 257
	ftraceSysReadlinkat     = 267
	ftraceSysProcessVMReadv = 310
)
