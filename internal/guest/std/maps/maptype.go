//go:build ftrace_core

package maps

import "internal/abi"

type ftraceMapType = abi.MapType

const ftraceGroupSlots = abi.MapGroupSlots
