// Package rewrite turns the source of one Go package into the source that is compiled in its place,
// in which every function looks at a hook before it runs.
//
// It is pure: bytes and options in, bytes and a list of what was hooked out. It reads no file, no
// environment and runs nothing. The compile step (internal/toolexec) calls it, and the verbs list
// and show (internal/inspect).
//
// Nothing is reprinted. Text is inserted on the lines of a function's signature, opening brace and
// returns, so that every line number, comment and directive stays as it was; one //line directive
// in front gives the copy its original name.
//
// # What the inserted code looks like
//
// Every function has a hook: a variable that is nil while the function is not traced, and which it
// looks at when it is entered and when it returns. Unnamed parameters and results are given names.
//
//	func (p *T) Get(k string) (_ftrace_r0 int) {if _ftrace_f.h3!=nil{if _ftrace_v0,_ftrace_is:=_ftrace_h0(&_ftrace_f.h3,p,k);_ftrace_is{return _ftrace_v0}};
//		_ftrace_r0=p.x[k];if _ftrace_f.h3!=nil{_ftrace_r0=_ftrace_h1(&_ftrace_f.h3,_ftrace_r0)};return
//	}
//
// h0 and h1 are helpers (see helper.go), for the types of these parameters and results, which call
// the core. h0 reports whether a mock was called instead, and returns its results. These calls are
// short, since they are in the program wherever the function is inlined, and take little of its
// frame; a call through a pointer to a wrapper in front of the body would make every parameter
// escape. What such hooks don't see is a panic that passes the function: the core notices that by
// the stack pointer. [Result.Profile] gives the inliner room for the hooks, and choose says what is
// done to what is not to be inlined.
//
// A function in which something runs behind the return, because it has a deferred call, has a hook
// at its entry alone:
//
//	func F(a int, s string) (_ftrace_r0 int, err error) {if _ftrace_f.h7!=nil{_ftrace_c:=_ftrace_h2(_ftrace_f.h7,a,s);defer _ftrace_h3(_ftrace_c,&_ftrace_r0,&err);if _ftrace_c<0{return}};
//		... the body as it was ...
//	}
//
// The conversions to interface{} in helpers allocate nothing: the core's functions are declared
// go:noescape, so the compiler keeps the boxes in the helper's frame. No function literal is
// inserted, because it would renumber the user's own (F.func1 would become F.func2).
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
// Functions are named as the compiler names them, except that it numbers the literals in
// package-level initialisers (init.func1) in the order in which the variables are initialised, and
// here they are numbered in source order; and that it doesn't number literals that it sees are
// never reached: behind a return or a panic, or in an if statement whose condition is constant, of
// which only conditions made of true, false and the package's own constants are known here.
//
// A function is left alone in which nil means something else, and so is a package that redeclares
// nil or a predeclared type that the registering file spells.
package rewrite
