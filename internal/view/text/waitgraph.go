package text

// A WaitGraph says what goroutines wait for, and who waits for whom.
type WaitGraph struct {
	Groups []WaitGroup `json:"groups"`
	Cycles [][]uint64  `json:"cycles"` // of goroutines each of which waits for a lock that the next one holds, the last for one of the first
	Left   int         `json:"left"`   // groups that are left out
	Notes  []string    `json:"notes"`  // what there is to say of all
}

// A WaitGroup is goroutines that do the same at the same place.
type WaitGroup struct {
	Goroutines []uint64 `json:"goroutines"` // the first ones
	Count      int      `json:"count"`
	Does       string   `json:"does"`
	At         string   `json:"at"`       // "": it is not known
	Longest    int64    `json:"longest"`  // ns that one of them has waited; 0: not known
	AtLeast    bool     `json:"at_least"` // it may be longer
	Stuck      bool     `json:"stuck"`    // nothing can wake them any more
	For        []uint64 `json:"for"`      // who holds the lock that they wait for
	More       []string `json:"more"`     // what else there is to say, such as who holds it, and since when
}

// The groups of a graph, and the goroutines of a group that are named.
const (
	waitGroupsMax = 500
	waitNamedMax  = 20
)

// Add adds a group, as long as there is room for it.
func (g *WaitGraph) Add(w WaitGroup, goroutines []uint64) {
	if len(g.Groups) == waitGroupsMax {
		g.Left++
		return
	}
	w.Count, w.Goroutines = len(goroutines), Rows(goroutines, waitNamedMax)
	g.Groups = append(g.Groups, w)
}
