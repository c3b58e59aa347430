// Package selection answers one question: which packages of this build are
// instrumented.
//
// In comes what a toolexec process knows about the build: the directory the
// go command runs in, its environment, and FTRACE_PACKAGES. Out comes a
// [Selection]. The wrapper uses it twice, in two kinds of process:
//
//   - compile -V=full, once per go command: [Resolve], [Selection.Validate]
//     (a pattern that can't mean anything is a build error), and
//     [Selection.Key], which goes into the action key of the build cache.
//   - compile, once per package: [Resolve] again, then [Selection.Contains].
//
// Key and Contains must agree: the go command serves an object from its cache
// if the key and the package's own action ID (import path and directory, or
// module and version under -trimpath) are the same. So Contains looks at the
// package and at what Key covers, and at nothing else.
package selection
