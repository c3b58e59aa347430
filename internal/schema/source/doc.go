// Package source has processes as snapshots: what functions there are, which calls and waits are
// under way, which were the last, and sums of them.
//
// In come running processes, by package live, and recordings, by package recording. Out come
// [Source]s, which give a [Snapshot] of one moment, and take commands: what is collected, and what
// is forgotten. A running process is [Attach]ed to. A recording is read once by [OpenRecording],
// which keeps what a process keeps: rings of the last events, and sums, all of limited size, with
// counters of what was left out. [Looks] chooses what is counted because someone looks at it.
//
// Package schema makes tables of snapshots. The views top and exporter read them without SQL. This
// package knows no SQL, and no tables. What can be truncated, [Part], and what can be turned on,
// [Consumers], have the names of tables, since these are what users know.
package source
