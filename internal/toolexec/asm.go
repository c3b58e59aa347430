package toolexec

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/inject"
)

// assemble runs the assembler, which gets the core's functions along with files of package runtime.
func assemble(tool string, args []string) (status int, err error) {
	if valueOf(args, "-p") != "runtime" {
		return Exec(tool, args)
	}
	dir := filepath.Join(filepath.Dir(valueOf(args, "-o")), "ftrace-wrap")
	args = slices.Clone(args)
	for i, arg := range args {
		added := inject.Assembly(filepath.Base(arg))
		if added == "" || strings.HasPrefix(arg, "-") {
			continue
		}
		if args[i], err = assembleWith(dir, arg, added); err != nil {
			return 0, err
		}
	}
	return Exec(tool, args)
}

// assembleWith writes a file with functions added into dir, and returns its path.
func assembleWith(dir, path, added string) (copied string, err error) {
	source, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	file := filepath.Base(path)
	// Its name and lines stand in stack traces. The assembler takes this line for the one after it.
	source = append(fmt.Appendf(nil, "#line 2 %q\n", file), append(source, added...)...)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	copied = filepath.Join(dir, file)
	return copied, os.WriteFile(copied, source, 0o666)
}

// assemblerVersion answers the go command's question for the assembler's version. What we add to it
// is a hash of the core's functions: it does not depend on the settings.
func assemblerVersion(_, line string) (string, error) {
	h := fnv.New64a()
	h.Write([]byte(inject.AllAssembly()))
	return addKey(line, fmt.Sprintf("%016x", h.Sum64())), nil
}

// valueOf returns the value of a flag, "" if it is not there.
func valueOf(args []string, name string) string {
	for i, arg := range args {
		if value, ok := strings.CutPrefix(arg, name+"="); ok {
			return value
		}
		if arg == name && i+1 < len(args) {
			return args[i+1]
		}
	}
	return ""
}
