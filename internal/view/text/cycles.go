package text

import (
	"fmt"
	"io"
	"slices"
)

// Cycles returns the cycles of those who wait for one another: each waits for the next one, the
// last for the first. awaits returns for whom one waits. Each is in one cycle at most.
func Cycles(all []uint64, awaits func(uint64) []uint64) (found [][]uint64) {
	const inPath, done = 1, 2
	state := map[uint64]int{}
	var path []uint64
	var visit func(id uint64)
	visit = func(id uint64) {
		state[id] = inPath
		path = append(path, id)
		for _, by := range awaits(id) {
			switch state[by] {
			case 0:
				visit(by)
			case inPath:
				found = append(found, slices.Clone(path[slices.Index(path, by):]))
			}
		}
		path = path[:len(path)-1]
		state[id] = done
	}
	for _, id := range all {
		if state[id] == 0 {
			visit(id)
		}
	}
	return found
}

// WriteCycles writes goroutines that wait for locks in a circle, and what each awaits.
func WriteCycles(out io.Writer, cycles [][]uint64, awaits func(id uint64) string) {
	for _, cycle := range cycles {
		fmt.Fprintf(out, "Each of these %d goroutines waits for a lock that the next one holds, the last for one of the first:\n", len(cycle))
		for _, id := range cycle {
			fmt.Fprintf(out, "  G%d: %s\n", id, awaits(id))
		}
		fmt.Fprintln(out)
	}
}
