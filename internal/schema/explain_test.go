package schema

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestPlanJSON: EXPLAIN FORMAT=JSON has the tables that a query reads, within the steps that they
// are read for.
func TestPlanJSON(t *testing.T) {
	s := open(t, newFake("app"))
	for query, want := range map[string]string{
		"SELECT 1": "operation",
		"SELECT * FROM threads t JOIN setup_instruments i ON i.NAME = t.NAME ORDER BY 1":                     "t:ALL i:ALL operation",
		"SELECT * FROM (SELECT NAME FROM threads UNION SELECT NAME FROM setup_timers) x WHERE NAME IN ('a')": "operation(operation(operation(threads:ALL operation) operation(setup_timers:ALL operation))) x:ALL",
		"UPDATE setup_consumers SET ENABLED = 'NO'":                                                          "setup_consumers:ALL",
	} {
		text := ask(t, s, "EXPLAIN FORMAT=JSON "+query)
		var plan struct {
			Block struct {
				Steps []*planStep `json:"nested_loop"`
			} `json:"query_block"`
		}
		if err := json.Unmarshal([]byte(text), &plan); err != nil {
			t.Fatalf("%s: %s: %v", query, text, err)
		}
		if got := outline(plan.Block.Steps); got != want {
			t.Errorf("%s: %s, want %s\n%s", query, got, want, text)
		}
	}
}

// outline has the tables of steps, and what else there is.
func outline(steps []*planStep) string {
	var list []string
	for _, step := range steps {
		text := "operation"
		if step.Table != nil {
			text = strings.TrimPrefix(step.Table.Name, "performance_schema.") + ":" + step.Table.Access
		}
		if len(step.Steps) > 0 {
			text += "(" + outline(step.Steps) + ")"
		}
		list = append(list, text)
	}
	return strings.Join(list, " ")
}
