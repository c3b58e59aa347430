// Package view holds, in its folders, what shows recordings and running programs: a package a view.
//
//	cmd/ftrace -> report, graph, show, waits, diff, export, info, compact   a recording, once through
//	           -> web                                                 a recording, or what a program records, as a page asks for it
//	           -> live, probes                                        a program that runs, and what it records
//	           -> sql, top, serve, exporter                           tables, by package schema
//	           -> forward                                             recordings, also unfinished ones, for others
//	all of them may use -> walk, text                                 calls put together, and the lines of a trace
//
// What comes in is a recording, a process or a catalog, with a struct of plain options. What goes
// out is text on the writers that the caller gives. Only cmd/ftrace calls these packages, and
// package reach calls walk. They read no flags, end no process but by an error, and never print
// to the terminal by themselves: the caller's writers are those of package screen. A view uses no
// other view but walk and text; view_test.go has the one exception and its reason.
package view
