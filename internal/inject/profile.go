package inject

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strings"
)

// hot are the core's functions through which a recorded call and return go. The compiler gets a
// profile by which they are inlined into one another (see rewrite/profile.go for its form). Most of
// the cost of a call there is saving and restoring registers.
var hot = map[string]bool{
	"ftraceBeginCall": true, "ftraceExitSlow": true, "ftraceEntrySlow": true, "ftraceEntryFast": true, "ftraceExitFast": true,
	"(*ftraceWriter).next": true, "(*ftraceWriter).complete": true, "(*ftraceEvent).head": true, "ftraceRecordEntry": true,
	"ftraceConsumeEntry": true, "ftraceConsumeExit": true, "ftraceOutcome": true, "ftraceConsume": true, "(*ftraceCall).fill": true, "(*ftraceWriter).summarize": true,
	"(*ftraceLaid).shows": true, "(*ftraceFunc).loadLaid": true,
	"(*ftraceG).push": true, "(*ftraceG).pop": true, "(*ftraceG).endCall": true, "(*ftraceG).settled": true,
	"ftraceWriterOf": true, "(*ftraceWriter).room": true, "(*ftraceWriter).now": true, "ftraceTicks": true,
	"(*ftraceWriter).entry": true, "(*ftraceWriter).exit": true, "(*ftraceWriter).values": true, "(*ftraceKnownLayouts).find": true, "(*ftraceLayout).holds": true,
	"(*ftraceLayout).capture": true,
	"(*ftraceFastMock).call":  true, "(*ftracePlanWord).load": true, "(*ftraceFastMockWord).load": true, "(*ftraceScope).contains": true,
}

// apart are functions into which nothing more is inlined than would be without a profile: they are
// called in more than one way.
var apart = map[string]bool{"ftraceEntrySlow": true, "ftraceExitSlow": true, "ftraceEntryFast": true, "ftraceExitFast": true, "ftraceConsume": true, "(*ftraceLayout).capture": true}

// Profile returns the edges of the profile, in the form of "go tool preprofile", for the files that
// are added to package runtime.
func Profile(files []File) string {
	var b strings.Builder
	fset := token.NewFileSet()
	for _, file := range files {
		tree, err := parser.ParseFile(fset, file.Name, file.Source, parser.SkipObjectResolution)
		if err != nil || path.Ext(file.Name) != ".go" {
			continue // the compiler words it best
		}
		for _, decl := range tree.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Body == nil || !hot[symbolOf(fn)] {
				continue
			}
			name := "runtime." + symbolOf(fn)
			if !apart[symbolOf(fn)] {
				fmt.Fprintf(&b, "ftrace\n%s\n0 0\n", name)
			}
			start := fset.Position(fn.Pos()).Line
			noted := map[int]bool{}
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					if line := fset.Position(call.Lparen).Line - start; !noted[line] {
						noted[line] = true
						fmt.Fprintf(&b, "%s\nftrace\n%d 0\n", name, line)
					}
				}
				return true
			})
		}
	}
	return b.String()
}

// symbolOf returns the function's name in symbols.
func symbolOf(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	star, ok := fn.Recv.List[0].Type.(*ast.StarExpr)
	if !ok {
		return ""
	}
	return fmt.Sprintf("(*%s).%s", star.X.(*ast.Ident).Name, fn.Name.Name)
}
