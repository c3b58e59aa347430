package exporter

import (
	"encoding/json"
	"regexp"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
)

// TestDashboard: Grafana's own library loads the dashboard, strictly, and what it asks for is what
// the exporter has. Script exporter lets Prometheus answer it.
func TestDashboard(t *testing.T) {
	text := testenv.Dashboard(t, "grafana.json")
	_, registry := collectorOf(t, served(), Options{})
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{"ftrace_left_alone": true} // which TestLook has
	for _, f := range families {
		known[f.GetName()] = true
		if len(f.Metric) > 0 && f.Metric[0].Histogram != nil {
			for _, part := range []string{"_bucket", "_sum", "_count"} {
				known[f.GetName()+part] = true
			}
		}
	}
	var asked struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &asked); err != nil {
		t.Fatal(err)
	}
	queries := 0
	for _, p := range asked.Panels {
		for _, target := range p.Targets {
			queries++
			for _, name := range metric.FindAllString(target.Expr, -1) {
				if !known[name] {
					t.Errorf("%s: there is no metric %s", p.Title, name)
				}
			}
		}
	}
	if queries < len(asked.Panels) || queries == 0 {
		t.Errorf("%d panels ask %d queries", len(asked.Panels), queries)
	}
}

var metric = regexp.MustCompile(`\bftrace_\w+`)
