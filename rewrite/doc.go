// Package rewrite turns the source of one Go package into source that can be traced: each function
// looks at a hook when it is entered and when it returns.
//
// The package is pure. [Package] takes the text of files and options, and returns the new text and
// a list of the functions, each with the way it is hooked or the reason why not. It reads no file
// and no environment, and runs nothing. The compile step (internal/toolexec) calls it, and so do
// the verbs list and show (internal/inspect). The result compiles only where ftrace-wrap has added
// the core to package runtime. [Insert] puts statements into functions by the same means.
//
// Nothing is reprinted. Text is inserted on the lines of a function's signature, opening brace and
// returns. So every line number, comment and directive stays as it was. A //line directive at the
// beginning gives the copy its original name.
//
// # What the inserted code looks like
//
// Every function has a hook: a variable that is nil while the function is not traced, and which it
// looks at when it is entered and when it returns. Unnamed parameters and results are given names.
//
//	func (p *T) Get(k string) (_ftrace_r0 int) {if _ftrace_f[3]!=nil{if _ftrace_v0,_ftrace_is:=_ftrace_h0(&_ftrace_f[3],p,k);_ftrace_is{return _ftrace_v0}};
//		_ftrace_r0=p.x[k];if _ftrace_f[3]!=nil{_ftrace_r0=_ftrace_h1(&_ftrace_f[3],_ftrace_r0)};return
//	}
//
// h0 and h1 are helpers for the types of these parameters and results (see helper.go); they call
// the core. h0 reports whether a mock was called instead, and returns its results. The calls are
// short, because they are in the program wherever the function is inlined, and take little of its
// frame. A call through a pointer to a wrapper of the body would make every parameter escape.
//
// Such hooks do not see a panic that passes through the function. The core notices it by the stack
// pointer. [Result].Profile gives the inliner room for the hooks. Function choose decides about
// functions that are not to be inlined.
//
// A function in which something runs after the return, because it has a deferred call, has a hook
// at its entry alone:
//
//	func F(a int, s string) (_ftrace_r0 int, err error) {if _ftrace_f[7]!=nil{_ftrace_c:=_ftrace_h2(_ftrace_f[7],a,s);defer _ftrace_h3(_ftrace_c,&_ftrace_r0,&err);if _ftrace_c<0{return}};
//		... the body as it was ...
//	}
//
// The conversions to interface{} in helpers allocate nothing: the core's functions are go:noescape
// by their declarations, so the compiler keeps the boxes in the helper's frame. No function
// literal is inserted, because it would renumber the user's own (F.func1 would become F.func2).
//
// Either way the function is traced in its own frame, so that runtime.Caller, recover, stack traces
// and profiles stay right while it is.
//
// One more file, which must be given to the compiler first, holds the hooks, the table of
// functions, the links into the core and a package variable whose initialiser registers the table
// (see register.go).
//
// # Known limits
//
// Functions have the names that the compiler gives them, with two exceptions. The compiler numbers
// the literals in package-level initialisers (init.func1) in the order of initialisation; here they
// are numbered in source order. And it does not number literals that are never reached: after a
// return or a panic, or in an if statement whose condition is constant. Of these conditions only
// those are known here that are made of true, false and the package's own constants.
//
// A function in which nil means something else stays as it is. So does a package that redeclares
// nil, or a predeclared type that the registering file uses.
package rewrite
