package language

// JSON is made by SQLite's functions, which tell JSON from text when one is an argument of another.
// The result of the outermost call is text, written as MySQL writes it.

// documents are functions that return JSON, and SQLite's names of them.
var documents = map[string]string{"JSON_OBJECT": "json_object", "JSON_ARRAY": "json_array", "JSON_SET": "json_set", "JSON_INSERT": "json_insert", "JSON_REPLACE": "json_replace", "JSON_REMOVE": "json_remove",
	"JSON_EXTRACT": "json_extract", "JSON_ARRAYAGG": "json_group_array", "JSON_OBJECTAGG": "json_group_object"}

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
	case k.Number():
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
