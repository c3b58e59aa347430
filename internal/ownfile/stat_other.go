//go:build !unix

package ownfile

import "io/fs"

// Of returns what the system says of a file, if it says it.
func Of(info fs.FileInfo) (Stat, bool) { return Stat{}, false }
