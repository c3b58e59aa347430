package wire

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
)

// TestDashboard: Grafana's own library loads the dashboard of docs/grafana-sql.json, strictly, and
// its queries are answered, as Grafana's data source asks them: by go-sql-driver/mysql.
func TestDashboard(t *testing.T) {
	text := testenv.Dashboard(t, "grafana-sql.json")
	var asked struct {
		Panels []struct {
			Title       string
			FieldConfig struct {
				Overrides []struct{ Matcher struct{ Options string } }
			}
			Targets []struct{ RawSql string }
		}
	}
	if err := json.Unmarshal(text, &asked); err != nil {
		t.Fatal(err)
	}
	addr := serve(t, 20, nil)
	db := connect(t, "reader:readers@tcp("+addr+")/")
	for _, p := range asked.Panels {
		for _, target := range p.Targets {
			rows, err := db.Query(target.RawSql)
			if err != nil {
				t.Errorf("%s: %v", p.Title, err)
				continue
			}
			columns, err := rows.Columns()
			for rows.Next() {
			}
			if err != nil || rows.Err() != nil {
				t.Errorf("%s: %v %v", p.Title, err, rows.Err())
			}
			for _, o := range p.FieldConfig.Overrides { // the units of columns
				if !slices.Contains(columns, o.Matcher.Options) {
					t.Errorf("%s: no column %s in %v", p.Title, o.Matcher.Options, columns)
				}
			}
		}
	}
	if len(asked.Panels) < 10 {
		t.Errorf("%d panels", len(asked.Panels))
	}
}
