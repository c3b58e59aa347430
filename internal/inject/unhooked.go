package inject

import "strings"

// unhooked are functions of the standard library that the runtime calls where a hook must not be,
// by package and name, each with the reason.
var unhooked = map[string]map[string]string{
	"sync": {
		"poolCleanup": "the runtime calls it while the world is stopped",
	},
	"time": {
		"sendTime": "the runtime calls it on the system stack when a timer fires",
		"goFunc":   "the runtime calls it on the system stack when a timer fires",
	},
	"syscall": {
		"forkAndExecInChild":  "it runs between fork and exec",
		"forkAndExecInChild1": "it runs between fork and exec",
		"capToIndex":          "it runs between fork and exec",
		"capToMask":           "it runs between fork and exec",
	},
}

// Unhooked returns the functions of a package that must not be hooked, each with the reason.
func Unhooked(importPath string) map[string]string { return unhooked[importPath] }

// Refused returns why no function of a package can be hooked although it is above runtime's
// dependencies, or "".
func Refused(importPath string) string {
	if importPath == "crypto/internal/fips140" || strings.HasPrefix(importPath, "crypto/internal/fips140/") {
		return "its code and data are verified by a checksum when the program starts (FIPS 140)"
	}
	return ""
}
