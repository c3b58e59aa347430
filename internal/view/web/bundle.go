package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"io/fs"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// The forms of import and export that the page's modules use.
var (
	importLine = words.Regexp(`(?m)^import (\{ [\w$, ]+ \}) from "\./(\w+)\.js";$`)
	exported   = words.Regexp(`(?m)^export ((?:async )?function|class|const) ([\w$]+)`)
	other      = words.Regexp(`(?m)^(?:import|export)\b.*|import\(`)
)

// bundle returns a module and those that it imports as one script: each is a function that returns
// what it exports.
func bundle(files fs.FS, name string) (string, error) {
	var b strings.Builder
	done := map[string]bool{}
	var add func(name string) error
	add = func(name string) error {
		if done[name] {
			return nil
		}
		done[name] = true
		read, err := fs.ReadFile(files, name+".js")
		if err != nil {
			return err
		}
		text := string(read)
		for _, m := range importLine().FindAllStringSubmatch(text, -1) {
			if err := add(m[2]); err != nil {
				return err
			}
		}
		var exports []string
		for _, m := range exported().FindAllStringSubmatch(text, -1) {
			exports = append(exports, m[2])
		}
		text = importLine().ReplaceAllString(text, "const $1 = module_$2;")
		text = exported().ReplaceAllString(text, "$1 $2")
		if found := other().FindString(text); found != "" || strings.Contains(strings.ToLower(text), "</script") || strings.Contains(text, "<!--") {
			return fmt.Errorf("%s.js can't be put into a page: %q", name, found)
		}
		fmt.Fprintf(&b, "const module_%s = (() => {\n%s\nreturn { %s };\n})();\n", name, text, strings.Join(exports, ", "))
		return nil
	}
	err := add(name)
	return b.String(), err
}

// writeFile writes the page as one file of HTML that needs no server. It has the answers to what
// the page asks. The file loads nothing, and runs only the script that is meant to be in it.
func writeFile(w io.Writer, name string, answers *saved) error {
	page, err := fs.ReadFile(assets, "index.html")
	if err != nil {
		return err
	}
	style, err := fs.ReadFile(assets, "style.css")
	if err != nil {
		return err
	}
	icon, err := fs.ReadFile(assets, "icon.svg")
	if err != nil {
		return err
	}
	script, err := script()
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	to := gzip.NewWriter(&packed)
	if err := json.NewEncoder(to).Encode(answers); err != nil {
		return err
	}
	if err := to.Close(); err != nil {
		return err
	}
	sum := func(text string) string {
		hash := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'"
	}
	policy := "default-src 'none'; script-src " + sum(script) + "; style-src " + sum(string(style)) + "; img-src data:; base-uri 'none'; form-action 'none'"
	text := string(page)
	for _, r := range [][2]string{
		{`<meta charset="utf-8">`, `<meta charset="utf-8">` + "\n" + `<meta http-equiv="Content-Security-Policy" content="` + policy + `">`},
		{`<title>ftrace web</title>`, "<title>" + html.EscapeString(name) + " - ftrace web</title>"},
		{`href="icon.svg"`, `href="data:image/svg+xml;base64,` + base64.StdEncoding.EncodeToString(icon) + `"`},
		{`<link rel="stylesheet" href="style.css">`, "<style>" + string(style) + "</style>"},
		{`<script type="module" src="app.js"></script>`, `<script type="application/gzip" id="saved">` + base64.StdEncoding.EncodeToString(packed.Bytes()) + "</script>\n" + `<script type="module">` + script + "</script>"},
	} {
		if strings.Count(text, r[0]) != 1 {
			return fmt.Errorf("index.html does not have %s once", r[0])
		}
		text = strings.Replace(text, r[0], r[1], 1)
	}
	_, err = io.WriteString(w, text)
	return err
}
