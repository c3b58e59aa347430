// Package levelhttp shows and sets a program's log level by HTTP.
//
//	http.Handle("/debug/loglevel", levelhttp.Handler(levels))
//
//	$ curl localhost:8080/debug/loglevel
//	info
//	$ curl -X PUT -d info,net/...=trace localhost:8080/debug/loglevel
//	info,net/...=trace
//
// It is a package of its own so that programs which do without are not linked with net/http.
package levelhttp

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/loglevel"
)

// maxBody is how long a request may be.
const maxBody = 64 << 10

// Handler returns a handler that shows v (GET, HEAD) and sets it (PUT, POST), for one level or,
// with a [loglevel.LevelsVar], levels by package and file. The answer is the level in force, as
// text, or as {"level":"..."} if the request's Accept or Content-Type says application/json.
//
// To set it, the body is what v.Set reads: as it is; in JSON, {"level":"debug"}, if Content-Type
// says so; or the value of a form's only field, level=debug. What v.Set refuses is answered with
// status 400 and the error, and changes nothing.
//
// Who can reach the handler can have parameters of calls traced: like net/http/pprof it belongs on
// an address for operators. Requests that a browser makes for a page of another site are refused
// with status 403.
func Handler(v loglevel.Var) http.Handler {
	return http.NewCrossOriginProtection().Handler(&handler{v})
}

type handler struct{ v loglevel.Var }

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodPut, http.MethodPost:
		text, err := requested(w, r)
		if err == nil {
			err = h.v.Set(text)
		}
		if err != nil {
			status := http.StatusBadRequest
			if tooLong := new(http.MaxBytesError); errors.As(err, &tooLong) {
				status = http.StatusRequestEntityTooLarge
			}
			http.Error(w, err.Error(), status)
			return
		}
	default:
		w.Header().Set("Allow", "GET, HEAD, PUT, POST")
		http.Error(w, "GET shows the level, PUT or POST sets it", http.StatusMethodNotAllowed)
		return
	}
	h.show(w, r)
}

func (h *handler) show(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	if !strings.Contains(r.Header.Get("Accept"), "application/json") && !isType(r, "application/json") {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		io.WriteString(w, h.v.String()+"\n")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.Encode(message{h.v.String()})
}

type message struct {
	Level string `json:"level"`
}

// requested returns the level that a request is to set.
func requested(w http.ResponseWriter, r *http.Request) (string, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return "", err
	}
	text := strings.TrimSpace(string(body))
	switch {
	case isType(r, "application/json"):
		var m message
		if err := json.Unmarshal(body, &m); err != nil {
			return "", err
		}
		text = m.Level
	case isType(r, "application/x-www-form-urlencoded") && strings.HasPrefix(text, "level="):
		// curl -d has this type for what is no form, too.
		form, err := url.ParseQuery(text)
		if err != nil {
			return "", err
		}
		text = form.Get("level")
	}
	if text == "" {
		return "", errors.New("the request has no level: it is the body, or {\"level\":\"debug\"} with Content-Type: application/json")
	}
	return text, nil
}

func isType(r *http.Request, want string) bool {
	got, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return got == want
}
