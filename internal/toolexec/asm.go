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

// assemble runs the assembler, which gets the core's functions along with a file of package
// runtime.
func assemble(tool string, args []string) (status int, err error) {
	i := slices.IndexFunc(args, func(arg string) bool {
		return inject.Assembly(filepath.Base(arg)) != "" && !strings.HasPrefix(arg, "-")
	})
	if i < 0 || valueOf(args, "-p") != "runtime" {
		return Exec(tool, args)
	}
	file := filepath.Base(args[i])
	source, err := os.ReadFile(args[i])
	if err != nil {
		return 0, err
	}
	// Its name and lines stand in stack traces. The assembler takes this line for the one after it.
	source = append(fmt.Appendf(nil, "#line 2 %q\n", file), append(source, inject.Assembly(file)...)...)
	dir := filepath.Join(filepath.Dir(valueOf(args, "-o")), "ftrace-wrap")
	copied := filepath.Join(dir, file)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return 0, err
	}
	if err := os.WriteFile(copied, source, 0o666); err != nil {
		return 0, err
	}
	args = slices.Clone(args)
	args[i] = copied
	return Exec(tool, args)
}

// assemblerVersion answers the go command's question for the assembler's version. What we add to it
// is a hash of the core's functions: it does not depend on the settings.
func assemblerVersion(_, line string) (string, error) {
	h := fnv.New64a()
	for _, file := range []string{"asm_amd64.s", "asm_arm64.s"} {
		h.Write([]byte(inject.Assembly(file)))
	}
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
