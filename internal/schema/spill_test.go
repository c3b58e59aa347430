package schema

import (
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/engine"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// spillAtMost sets the limit of temporary files for a test.
func spillAtMost(t *testing.T, most int64) {
	before := engine.SetSpillLimit(most)
	t.Cleanup(func() { engine.SetSpillLimit(before) })
}

// rows makes 200 rows of 100,000 bytes each, in no order.
const wideRows = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 200) SELECT REPEAT(CHAR(97 + n * 7 % 26), 100000) AS a, n FROM c "

// TestSpill: sorts, groups and temporary tables of a statement have a limit of what they put in
// files, which is free again after it.
func TestSpill(t *testing.T) {
	s := open(t, newFake("app"))
	queries := []string{
		"SELECT LENGTH(a) FROM (" + wideRows + ") x ORDER BY a, n",
		"SELECT LENGTH(a) FROM (" + wideRows + ") x GROUP BY a, n",
		"SELECT COUNT(*) FROM (SELECT DISTINCT a, n FROM (" + wideRows + ") x) y",
		"SELECT LENGTH(a) FROM (" + wideRows + ") x UNION SELECT 1",
		"SELECT ROW_NUMBER() OVER (ORDER BY a) FROM (" + wideRows + ") x",
	}
	spillAtMost(t, 4<<20)
	refused := 0
	for _, query := range queries {
		_, _, err := try(t, s, query)
		if err != nil && (err.Number != mysqlerr.TableFull || !strings.Contains(err.Message, "temporary files of all sessions (4 MB)")) {
			t.Errorf("%s: %v", query, err)
		}
		if err != nil {
			refused++
		}
	}
	if refused < 3 {
		t.Errorf("%d of %d statements were refused", refused, len(queries))
	}
	spillAtMost(t, 1<<30)
	for _, query := range queries {
		if _, _, err := try(t, s, query); err != nil {
			t.Errorf("with room: %s: %v", query, err)
		}
	}
	s.Close()
	if bytes, files := engine.Spilled(); bytes != 0 || files != 0 {
		t.Errorf("after all there are %d bytes in %d files", bytes, files)
	}
}
