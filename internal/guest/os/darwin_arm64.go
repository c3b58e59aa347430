//go:build ftrace_core

package runtime

//go:cgo_import_dynamic libc_fstat fstat "/usr/lib/libSystem.B.dylib"
//go:cgo_import_dynamic libc_fstatfs fstatfs "/usr/lib/libSystem.B.dylib"
