//go:build !unix

package toolexec

// Exec runs the tool with our standard files and returns its exit status. Nothing is to be done
// after it.
func Exec(tool string, args []string) (status int, err error) { return runTool(tool, args) }
