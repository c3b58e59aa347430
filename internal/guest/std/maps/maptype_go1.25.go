//go:build ftrace_core

package maps

import "internal/abi"

type ftraceMapType = abi.SwissMapType

const ftraceGroupSlots = abi.SwissMapGroupSlots
