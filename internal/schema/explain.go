package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/language"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// explained returns what SQLite is to run for the statement after EXPLAIN, which begins at a token.
func (s *Session) explained(st *language.Statement, first int) (*language.Plan, error) {
	if !slices.Contains([]string{"UPDATE", "INSERT", "REPLACE", "DELETE"}, st.Verb(first)) {
		q, err := st.Query(first)
		if err != nil {
			return nil, err
		}
		return q.Plan(names{s})
	}
	c, err := st.Change(first)
	if err != nil {
		return nil, err
	}
	switch several, err := c.Joined(); {
	case err != nil:
		return nil, err
	case several != nil:
		return nil, mysqlerr.NotYet("EXPLAIN of an UPDATE of several tables")
	}
	return s.changing(c)
}

// A planStep is one of SQLite's steps as MySQL's EXPLAIN FORMAT=JSON has it: a table that is read,
// or an operation, and the steps that it is made of.
type planStep struct {
	Table     *planTable  `json:"table,omitempty"`
	Operation string      `json:"operation,omitempty"`
	Steps     []*planStep `json:"nested_loop,omitempty"`
}

type planTable struct {
	Name    string `json:"table_name"`
	Access  string `json:"access_type"` // ALL: each row is looked at
	Message string `json:"message"`     // what SQLite says of it
}

// planJSON returns the answer to EXPLAIN FORMAT=JSON, given that of SQLite's EXPLAIN QUERY PLAN.
func planJSON(r *Result) (*Result, error) {
	defer r.Close()
	steps := map[any]*planStep{int64(0): {}} // by their numbers, which are the rows' first columns
	for {
		row, err := r.Next()
		if err != nil {
			return nil, err
		}
		if row == nil {
			break
		}
		step, parent := &planStep{Operation: fmt.Sprint(row[3])}, steps[row[1]]
		if parent == nil {
			parent = steps[int64(0)]
		}
		if words := strings.Fields(step.Operation); len(words) > 1 && (words[0] == "SCAN" || words[0] == "SEARCH") && !slices.Contains(words, "CONSTANT") {
			access := map[string]string{"SCAN": "ALL", "SEARCH": "ref"}[words[0]]
			step = &planStep{Table: &planTable{words[1], access, step.Operation}}
		}
		steps[row[0]] = step
		parent.Steps = append(parent.Steps, step)
	}
	text, err := json.MarshalIndent(map[string]any{"query_block": struct {
		ID    int         `json:"select_id"`
		Steps []*planStep `json:"nested_loop"`
	}{1, steps[int64(0)].Steps}}, "", "  ")
	if err != nil {
		return nil, err
	}
	return &Result{Columns: textColumns("EXPLAIN"), ahead: [][]any{{string(text)}}}, nil
}
