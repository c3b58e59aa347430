//go:build ftrace_core

package runtime

const (
	ftraceSysFstat          = 5
	ftraceSysMmap           = 9
	ftraceSysMunmap         = 11
	ftraceSysIoctl          = 16
	ftraceSysPwrite         = 18
	ftraceSysGetpid         = 39
	ftraceSysSendto         = 44
	ftraceSysGetsockopt     = 55
	ftraceSysFtruncate      = 77
	ftraceSysFchmod         = 91
	ftraceSysGetrlimit      = 97
	ftraceSysTimes          = 100
	ftraceSysGeteuid        = 107
	ftraceSysFstatfs        = 138
	ftraceSysGettid         = 186
	ftraceSysFutex          = 202
	ftraceSysOpenat         = 257
	ftraceSysClockGettime   = 228
	ftraceSysMkdirat        = 258
	ftraceSysReadlinkat     = 267
	ftraceSysPpoll          = 271
	ftraceSysFallocate      = 285
	ftraceSysProcessVMReadv = 310
	ftraceSysMemfdCreate    = 319

	ftraceODirectory = 0x10000
	ftraceONofollow  = 0x20000
)

// ftraceStatT is struct stat.
type ftraceStatT struct {
	dev, ino, nlink uint64
	mode, uid, _, _ uint32
	rdev            uint64
	_               [12]uint64
}
