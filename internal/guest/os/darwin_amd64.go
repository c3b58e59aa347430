//go:build ftrace_core

package runtime

// Without 64, these functions are for structures with inodes of 32 bits.
//
//go:cgo_import_dynamic libc_fstat64 fstat64 "/usr/lib/libSystem.B.dylib"
//go:cgo_import_dynamic libc_fstatfs64 fstatfs64 "/usr/lib/libSystem.B.dylib"
