package schema

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/accounts"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
)

// TestWL2360 runs what the page says of WL#2360: each statement, and a SELECT from each table and
// of each column.
func TestWL2360(t *testing.T) {
	page, err := os.ReadFile("../../docs/performance-schema.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## WL2360\n")
	section, _, _ = strings.Cut(section, "\n## ")
	f := newWaiting()
	f.threads[2].Current = nil
	c := &Catalog{Accounts: accounts.New("ftrace", "secret")}
	c.Add(f)
	s := openIn(t, c)
	ask(t, s, "CREATE USER user IDENTIFIED BY 'x'")
	row := regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (.*) \\|$")
	refused := regexp.MustCompile(`^error (\d+)`)
	kinds := map[string]int{}
	for _, m := range row.FindAllStringSubmatch(section, -1) {
		statement, here, kind := m[1], m[2], "statement"
		if table, column, ok := strings.Cut(statement, "."); !strings.Contains(statement, " ") {
			kind = "table"
			if !ok {
				table, column = statement, "*"
			} else {
				kind = "column"
			}
			statement = "SELECT " + column + " FROM " + table
		}
		kinds[kind]++
		_, _, err := try(t, s, statement)
		want := uint16(0)
		if e := refused.FindStringSubmatch(here); e != nil {
			n, _ := strconv.ParseUint(e[1], 10, 16)
			want = uint16(n)
		}
		switch {
		case want == 0 && err != nil:
			t.Errorf("%s: %v, but the page says: %s", statement, err, here)
		case want != 0 && (err == nil || err.Number != want):
			t.Errorf("%s: %v, want error %d", statement, err, want)
		}
	}
	if kinds["statement"] < 30 || kinds["table"] < 12 || kinds["column"] < 25 {
		t.Errorf("the page has %v", kinds)
	}
	// What the statements were to do.
	if f.actors[len(f.actors)-1] != newFake("").actors[0] {
		t.Errorf("ALL is not %%: %+v", f.actors)
	}
	if !slices.ContainsFunc(f.waits, func(w source.Function) bool { return w.Name == "synch/mutex" && !w.Enabled }) {
		t.Errorf("mutexes are enabled: %+v", f.waits)
	}
	if f.timer != "MILLISECOND" {
		t.Errorf("the timer is %s", f.timer)
	}
}
