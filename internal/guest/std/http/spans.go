//go:build ftrace_core

// This file is added to package net/http. It tells the core of requests that are served and made.

package http

var _ = func() bool {
	names, types := "request", "string"
	if ftracePropagate {
		names, types = "request,span,parent", "string,string,string"
	}
	ftraceDeclareSpan("stage/http/server", "other", names+";status;func("+types+")(int)")
	ftraceDeclareSpan("stage/http/client", "other", names+";status,err!;func("+types+")(int,error)")
	return true
}()

// ftraceServed is a request that is being served.
type ftraceServed struct {
	ftraceSpan
	ftracePlace
	w ResponseWriter
}

// ftraceMade is a request that is being made.
type ftraceMade struct {
	ftraceSpan
	ftracePlace
}

// ftraceServes is called by the function in which a ServeMux serves a request. end is called when
// it has.
//
//go:noinline
func ftraceServes(w ResponseWriter, r *Request) ftraceServed {
	s := ftraceServed{ftracePlace: ftraceReceive(r), w: w}
	text := r.Method + " " + r.URL.Path
	own := r.Pattern
	switch {
	case own == "":
		own = "other"
	case own[0] == '/' && ftraceKnown(r.Method): // it is for all methods
		own = r.Method + " " + own
	}
	span, parent, n := s.recorded()
	s.token, s.number = ftraceBeginSpan("stage/http/server", own, text, []any{text, span, parent}[:n]...)
	s.enter(s.token != 0)
	return s
}

// ftraceKnown reports whether a method is a usual one: a client can send any.
func ftraceKnown(method string) bool {
	switch method {
	case MethodGet, MethodHead, MethodPost, MethodPut, MethodPatch, MethodDelete, MethodConnect, MethodOptions, MethodTrace:
		return true
	}
	return false
}

// ftraceHandles is ftraceServes for a server whose handler is not a ServeMux.
//
//go:noinline
func ftraceHandles(h Handler, w ResponseWriter, r *Request) ftraceServed {
	s := ftraceServed{w: w}
	if ftracePropagate {
		ftraceSetTrace(nil) // that of the goroutine that started the server has nothing to do with it
	}
	if _, mux := h.(*ServeMux); !mux {
		text := r.Method + " " + r.URL.Path
		s.ftracePlace = ftraceReceive(r)
		span, parent, n := s.recorded()
		s.token, s.number = ftraceBeginSpan("stage/http/server", "other", text, []any{text, span, parent}[:n]...)
		s.enter(s.token != 0)
	}
	return s
}

func (s ftraceServed) end() {
	s.leave()
	if s.token == 0 {
		return
	}
	status := 0
	if w, ok := s.w.(*response); ok && !w.conn.hijacked() {
		if status = w.status; status == 0 {
			status = StatusOK // which it becomes unless the handler panics
		}
	}
	ftraceEndSpan(s.token, s.number, status, nil, &status)
}

// ftraceMakes is called by the function in which a Transport makes a request. made is called when
// the head of the response is there.
//
//go:noinline
func ftraceMakes(r *Request) (s ftraceMade) {
	if r.URL == nil {
		return s
	}
	method := r.Method
	if method == "" {
		method = "GET"
	}
	text := method + " " + r.URL.Scheme + "://" + r.URL.Host + r.URL.Path
	s.ftracePlace = ftraceSend(r)
	span, parent, n := s.recorded()
	s.token, s.number = ftraceBeginSpan("stage/http/client", method+" "+r.URL.Host, text, []any{text, span, parent}[:n]...)
	s.enter(s.token != 0)
	return s
}

func (s ftraceMade) made(resp **Response, err *error) {
	s.leave()
	status := 0
	if *resp != nil {
		status = (*resp).StatusCode
	}
	ftraceEndSpan(s.token, s.number, status, *err, &status, err)
}
