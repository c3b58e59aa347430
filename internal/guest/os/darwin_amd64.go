//go:build ftrace_core

package runtime

// Without 64, this function is for struct stat as it was in the first releases for this processor.
//
//go:cgo_import_dynamic libc_fstat64 fstat64 "/usr/lib/libSystem.B.dylib"
