package levelhttp

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/loglevel"
)

func TestHandler(t *testing.T) {
	const form, asJSON = "application/x-www-form-urlencoded", "application/json"
	one, many := new(loglevel.LevelVar), new(loglevel.LevelsVar)
	for _, test := range []struct {
		v               loglevel.Var
		method          string
		body, bodyType  string
		status          int
		answer, inForce string
	}{
		{one, "GET", "", "", 200, "INFO\n", "INFO"},
		{one, "PUT", "debug\n", "", 200, "DEBUG\n", "DEBUG"},
		{one, "POST", "warn", form, 200, "WARN\n", "WARN"},
		{one, "POST", "level=info%2B1", form, 200, "INFO+1\n", "INFO+1"},
		{one, "PUT", `{"level":"trace"}`, asJSON + "; charset=utf-8", 200, `{"level":"TRACE"}` + "\n", "TRACE"},
		{one, "PUT", "loud", "", 400, `"loud" is no level`, "TRACE"},
		{one, "PUT", "", "", 400, "the request has no level", "TRACE"},
		{one, "PUT", `{"level":1}`, asJSON, 400, "json", "TRACE"},
		{one, "PUT", `{"lvl":"info"}`, asJSON, 400, "the request has no level", "TRACE"},
		{one, "POST", "level=%zz", form, 400, "%zz", "TRACE"},
		{one, "PUT", strings.Repeat("x", maxBody+1), "", 413, "too large", "TRACE"},
		{one, "DELETE", "", "", 405, "GET shows", "TRACE"},
		{many, "GET", "", "", 200, "info\n", "info"},
		{many, "PUT", "info,net/...=trace,db.go=debug", "", 200, "info,net/...=trace,db.go=debug\n", "info,net/...=trace,db.go=debug"},
		{many, "POST", "level=warn,x=debug", form, 200, "warn,x=debug\n", "warn,x=debug"},
		{many, "PUT", "level=warn", "text/plain", 200, "info,level=warn\n", "info,level=warn"}, // a package called level
		{many, "PUT", "warn,x=loud", "", 400, `at byte 7 of "warn,x=loud": "loud" is no level`, "info,level=warn"},
	} {
		r := httptest.NewRequest(test.method, "/", strings.NewReader(test.body))
		r.Header.Set("Content-Type", test.bodyType)
		w := httptest.NewRecorder()
		Handler(test.v).ServeHTTP(w, r)
		got := w.Body.String()
		if w.Code != test.status || test.status == 200 && got != test.answer || !strings.Contains(got, test.answer) || test.v.String() != test.inForce {
			t.Errorf("%s %.40q %s: %d %q, in force %s", test.method, test.body, test.bodyType, w.Code, got, test.v)
		}
	}
}

func TestAccept(t *testing.T) {
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Accept", "application/json, */*")
	w := httptest.NewRecorder()
	Handler(new(loglevel.LevelVar)).ServeHTTP(w, r)
	if w.Body.String() != `{"level":"INFO"}`+"\n" || w.Header().Get("Content-Type") != "application/json" {
		t.Error(w)
	}
}

// TestOtherSite has a browser send what another site's page wants.
func TestOtherSite(t *testing.T) {
	v := new(loglevel.LevelVar)
	r := httptest.NewRequest("POST", "/", strings.NewReader("trace"))
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	w := httptest.NewRecorder()
	if Handler(v).ServeHTTP(w, r); w.Code != http.StatusForbidden || v.Load() != loglevel.Info {
		t.Error(w.Code, v)
	}
}
