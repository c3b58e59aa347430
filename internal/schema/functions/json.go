package functions

import (
	"encoding/json"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

var jsonFunctions = map[string]function{
	"json_text": {1, func(a []value) value { return spacedJSON(AsText(a[0])) }},
	"json_truth": {1, func(a []value) value {
		return map[bool]string{true: "true", false: "false"}[AsNumber(a[0]) != 0]
	}},
	"json_unquote": {1, unquoteJSON},
	"json_quoted": {1, func(a []value) value {
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(AsText(a[0])); err != nil {
			return err
		}
		return strings.TrimSuffix(b.String(), "\n")
	}},
	"json_kind": {1, func(a []value) value {
		name := AsText(a[0])
		if other := map[string]string{"real": "DOUBLE", "text": "STRING", "true": "BOOLEAN", "false": "BOOLEAN"}[name]; other != "" {
			return other
		}
		return strings.ToUpper(name)
	}},
	"json_length": {1, func(a []value) value {
		var v any
		if err := json.Unmarshal([]byte(AsText(a[0])), &v); err != nil {
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
	text := AsText(a[0])
	if len(text) < 2 || text[0] != '"' || text[len(text)-1] != '"' {
		return text
	}
	var s string
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return mysqlerr.New(mysqlerr.JSON, "Invalid JSON text in argument 1 to function json_unquote: %v", err)
	}
	return s
}
