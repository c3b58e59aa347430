package symbols

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// Program returns the executable that a process of this system runs, "" if it is unknown, and the
// program's arguments with its name.
func Program(pid int) (executable string, args []string) {
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return "", []string{""}
	}
	defer windows.CloseHandle(process)
	path, n := make([]uint16, 1<<15), uint32(1<<15)
	if windows.QueryFullProcessImageName(process, 0, &path[0], &n) == nil {
		executable = windows.UTF16ToString(path[:n])
	}
	// A UNICODE_STRING, and its text behind it.
	line := make([]windows.NTUnicodeString, 1+(1<<16)/unsafe.Sizeof(windows.NTUnicodeString{}))
	if err := windows.NtQueryInformationProcess(process, windows.ProcessCommandLineInformation, unsafe.Pointer(&line[0]), uint32(uintptr(len(line))*unsafe.Sizeof(line[0])), &n); err == nil {
		if args, err := windows.DecomposeCommandLine(line[0].String()); err == nil && len(args) > 0 {
			return executable, args
		}
	}
	return executable, []string{executable}
}

// executableOf returns the executable of a process.
func executableOf(pid int) string {
	executable, _ := Program(pid)
	return executable
}
