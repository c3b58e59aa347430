package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

// TestOpening: recordings are read no further until a page that is opened has its first picture, or
// for a second if it asks for none.
func TestOpening(t *testing.T) {
	s, err := Listen([]string{recorded(t, "parser")}, Options{Address: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	asks := func(t *testing.T, what string) {
		t.Helper()
		r := httptest.NewRequest(http.MethodGet, s.URL()+what, nil)
		r.Host = s.hosts[0]
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, r); w.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", what, w.Code, w.Body)
		}
	}
	const picture = "slices?sketch=1&from=0&to=10&pixels=1&lanes=1"
	for _, c := range []struct {
		name  string
		does  func(t *testing.T)
		waits time.Duration
	}{
		{"nothing", func(*testing.T) {}, 0},
		{"a picture of a page that was there", func(t *testing.T) { asks(t, picture) }, 0},
		{"no picture", func(t *testing.T) { asks(t, ""); asks(t, "status") }, openingMax},
		{"a picture", func(t *testing.T) { asks(t, ""); asks(t, picture) }, drawing},
		{"a late picture", func(t *testing.T) {
			asks(t, "")
			time.Sleep(openingMax - drawing/2)
			asks(t, picture)
		}, drawing / 2},
		{"another page", func(t *testing.T) {
			asks(t, "")
			asks(t, picture)
			time.Sleep(drawing)
			synctest.Wait()
			asks(t, "")
		}, openingMax},
	} {
		synctest.Test(t, func(t *testing.T) {
			c.does(t)
			began := time.Now()
			if s.opening.wait(t.Context()); time.Since(began) != c.waits {
				t.Errorf("%s: it waits for %v, not %v", c.name, time.Since(began), c.waits)
			}
			time.Sleep(openingMax) // for what is left
		})
	}

	synctest.Test(t, func(t *testing.T) {
		var o opening
		o.begin()
		ctx, end := context.WithCancel(t.Context())
		end()
		began := time.Now()
		if o.wait(ctx); time.Since(began) != 0 {
			t.Error("it waits though the server ends")
		}
	})
}
