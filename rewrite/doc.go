// Package rewrite turns the source of one Go package into the source that is compiled in its place, in which every
// function looks at a hook before it runs.
//
// It is pure: bytes and options in, bytes and a list of what was hooked out. It reads no file, no environment and runs
// nothing; cmd/ftrace-wrap calls it from the compile step and from the list and show commands.
//
// Nothing is reprinted. Text is inserted on the line of a function's signature and opening brace, and generated
// declarations follow the last line of the file, so that every line number, comment and directive stays as it was; one
// //line directive in front gives the copy its original name.
//
// # What the inserted code looks like
//
// A function that may call others is hooked in its own frame, so that runtime.Caller, recover, stack traces and profiles
// stay right while it is traced. Unnamed parameters and results are given names:
//
//	func F(a int, s string) (_ftrace_r0 int, err error) {if _ftrace_t[7].on!=0{defer _ftrace_exit(_ftrace_enter(&_ftrace_t[7],interface{}(a),interface{}(s)),interface{}(&_ftrace_r0),interface{}(&err))};
//		... the body as it was ...
//	}
//
// The conversions to interface{} box nothing: enter and exit are declared go:noescape, so the compiler keeps the boxes in
// the frame. No function literal is inserted, because it would renumber the user's own (F.func1 would become F.func2).
//
// A leaf, that is a small function that calls nothing and that the compiler would inline, goes through a typed pointer to
// a wrapper with the same declaration instead. The compiler charges a call of a function parameter far less than a call of a
// function variable, so the leaf stays inlinable (see [Leaf]):
//
//	func (p *T) Get() int {if _ftrace_p:=_ftrace_h3.cur;_ftrace_p!=nil{return _ftrace_c3(_ftrace_p,p)};
//		return p.x
//	}
//
//	// at the end of the file:
//	var _ftrace_h3 = struct{cur, wrap func(*T) int}{wrap: _ftrace_a3}
//	func _ftrace_c3(_ftrace_p func(*T) int, p *T) int { return _ftrace_p(p) }
//	//go:linkname _ftrace_a3 example.com/pkg._ftrace_w3
//	func _ftrace_a3(p *T) int
//	func _ftrace_w3(p *T) (_ftrace_r0 int) { ... in-frame hook ... ; return p.x }
//
// The wrapper is named through a bodyless alias because Go orders package variables by references through function
// bodies: naming the wrapper itself would make the hook wait for every variable that the wrapper mentions.
//
// One more file, which must be given to the compiler first, holds the table of functions, the links into the core and a
// package variable whose initialiser registers the table (see register.go).
package rewrite
