//go:build ftrace_core

package runtime

const (
	ftraceSysIoctl          = 29
	ftraceSysMkdirat        = 34
	ftraceSysFstatfs        = 44
	ftraceSysFtruncate      = 46
	ftraceSysFallocate      = 47
	ftraceSysFchmod         = 52
	ftraceSysOpenat         = 56
	ftraceSysClockGettime   = 113
	ftraceSysPwrite         = 68
	ftraceSysPpoll          = 73
	ftraceSysReadlinkat     = 78
	ftraceSysFstat          = 80
	ftraceSysFutex          = 98
	ftraceSysTimes          = 153
	ftraceSysGetrlimit      = 163
	ftraceSysGetpid         = 172
	ftraceSysGeteuid        = 175
	ftraceSysGettid         = 178
	ftraceSysSendto         = 206
	ftraceSysGetsockopt     = 209
	ftraceSysMunmap         = 215
	ftraceSysMmap           = 222
	ftraceSysProcessVMReadv = 270
	ftraceSysMemfdCreate    = 279

	ftraceODirectory = 0x4000
	ftraceONofollow  = 0x8000
)

// ftraceStatT is struct stat.
type ftraceStatT struct {
	dev, ino            uint64
	mode, nlink, uid, _ uint32
	rdev                uint64
	_                   [11]uint64
}
