package schema

import (
	"encoding/json"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// SQLite's functions of JSON are used, which know JSON from text when one is an argument of
// another. What the outermost one returns is written as MySQL does, and is text.

// documents are functions that return JSON, and SQLite's names of them.
var documents = map[string]string{"JSON_OBJECT": "json_object", "JSON_ARRAY": "json_array", "JSON_SET": "json_set", "JSON_INSERT": "json_insert", "JSON_REPLACE": "json_replace", "JSON_REMOVE": "json_remove",
	"JSON_EXTRACT": "json_extract", "JSON_ARRAYAGG": "json_group_array", "JSON_OBJECTAGG": "json_group_object"}

var jsonFunctions = map[string]function{
	"json_text": {1, func(a []value) value { return spacedJSON(asText(a[0])) }},
	"json_truth": {1, func(a []value) value {
		return map[bool]string{true: "true", false: "false"}[asNumber(a[0]) != 0]
	}},
	"json_unquote": {1, unquoteJSON},
	"json_quoted": {1, func(a []value) value {
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(asText(a[0])); err != nil {
			return err
		}
		return strings.TrimSuffix(b.String(), "\n")
	}},
	"json_kind": {1, func(a []value) value {
		name := asText(a[0])
		if other := map[string]string{"real": "DOUBLE", "text": "STRING", "true": "BOOLEAN", "false": "BOOLEAN"}[name]; other != "" {
			return other
		}
		return strings.ToUpper(name)
	}},
	"json_length": {1, func(a []value) value {
		var v any
		if err := json.Unmarshal([]byte(asText(a[0])), &v); err != nil {
			return mysqlerr.New(mysqlerr.JSON, "Invalid JSON text in argument 1 to function json_length: %v", err)
		}
		switch v := v.(type) {
		case map[string]any:
			return int64(len(v))
		case []any:
			return int64(len(v))
		}
		return int64(1)
	}},
}

// spacedJSON returns JSON with a space after each comma and colon.
func spacedJSON(text string) string {
	var b strings.Builder
	for rest := text; rest != ""; {
		end := strings.IndexAny(rest, `",:`) + 1
		if end == 0 {
			end = len(rest)
		}
		mark := rest[end-1]
		for mark == '"' && end < len(rest) && rest[end] != '"' {
			if rest[end] == '\\' {
				end++
			}
			end++
		}
		if mark == '"' {
			end = min(end+1, len(rest))
		}
		b.WriteString(rest[:end])
		if rest = rest[end:]; mark == ',' || mark == ':' {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// unquoteJSON is JSON_UNQUOTE(x): a string without its quotes, and what else there is as it is.
func unquoteJSON(a []value) value {
	text := asText(a[0])
	if len(text) < 2 || text[0] != '"' || text[len(text)-1] != '"' {
		return text
	}
	var s string
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return mysqlerr.New(mysqlerr.JSON, "Invalid JSON text in argument 1 to function json_unquote: %v", err)
	}
	return s
}

// document writes a call of a function that returns JSON, for another one.
func (r *restorer) document(e *expr) {
	if e.text == "JSON_EXTRACT" && len(e.args) == 2 { // its own function returns no JSON for one path
		r.operand(e.args[0])
		r.write(" -> ")
		r.operand(e.args[1])
		return
	}
	r.write(documents[e.text], "(")
	r.each(len(e.args), "", ", ", func(i int) { r.jsonValue(e.args[i]) })
	r.write(")")
	r.over(e.window)
}

// jsonValue writes an argument that may become part of JSON.
func (r *restorer) jsonValue(e *expr) {
	switch k := r.kind(e); {
	case e.form == callForm && documents[e.text] != "":
		r.document(e)
	case isTruth(e):
		r.call("json(json_truth", e)
		r.write(")")
	case k.numeric():
		r.write("json(")
		r.text(e)
		r.write(")")
	default:
		r.expr(e)
	}
}

// isTruth reports whether an expression is true or false to JSON, and not a number.
func isTruth(e *expr) bool {
	switch e.form {
	case wordForm:
		return e.text != "NULL"
	case isForm, likeForm, betweenForm, inForm, existsForm:
		return true
	case callForm:
		return e.text == "ISNULL"
	case prefixForm:
		return e.text == "NOT" || e.text == "!"
	case binaryForm:
		return compares[e.text] || e.text == "AND" || e.text == "OR" || e.text == "XOR" || e.text == "REGEXP"
	}
	return false
}
