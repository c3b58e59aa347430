//go:build ftrace_core && go1.22

// This file is added to package google.golang.org/grpc. It tells the core of the calls that are
// served and made, and has them belong to a trace, with FTRACE_PROPAGATE.

package definition

import (
	"context"

	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

const (
	ftraceServer = "stage/grpc/server" // a call is served
	ftraceClient = "stage/grpc/client" // a call with one request and one response is made
	ftraceStream = "stage/grpc/stream" // a stream is opened
)

var _ = func() bool {
	names, types := "request", "string"
	if ftracePropagate {
		names, types = "request,span,parent", "string,string,string"
	}
	for _, family := range [...]string{ftraceServer, ftraceClient, ftraceStream} {
		ftraceDeclareSpan(family, "other", names+";status,err!;func("+types+")(int,error)")
	}
	return true
}()

// An ftraceRPC is a call that is served or made.
type ftraceRPC struct {
	ftraceSpan
	ftracePlace
}

// ftraceServes is called by the functions that serve a call. end is called when it was served.
//
//go:noinline
func ftraceServes(method string, ctx context.Context) (r ftraceRPC) {
	if ftracePropagate {
		// That of the goroutine that started the server has nothing to do with it.
		ftraceSetTrace(nil)
		md, _ := metadata.FromIncomingContext(ctx)
		r.ftracePlace = ftraceReceived(ctx, md["traceparent"], md["tracestate"], md["baggage"])
	}
	span, parent, n := r.recorded()
	r.token, r.number = ftraceBeginSpan(ftraceServer, ftraceMethod(method), method, []any{method, span, parent}[:n]...)
	r.enter(r.token != 0)
	return r
}

// ftraceMakes is called by the functions that make a call or open a stream, as family says. end is
// called when they return.
//
//go:noinline
func ftraceMakes(family, method string, ctx context.Context) (r ftraceRPC) {
	if ftracePropagate {
		md, _ := metadata.FromOutgoingContext(ctx)
		r.ftracePlace = ftraceSent(ctx, func(c *ftrace_tracecontext_Context) []string { return ftraceTraceparent(md, c) })
	}
	span, parent, n := r.recorded()
	r.token, r.number = ftraceBeginSpan(family, ftraceMethod(method), method, []any{method, span, parent}[:n]...)
	r.enter(r.token != 0)
	return r
}

func (r ftraceRPC) end(err *error) {
	r.leave()
	code := int(status.Code(*err))
	ftraceEndSpan(r.token, r.number, code, *err, &code, err)
}

// ftraceMethod returns the name of a method, which is package.Service/Method, for that of a stage.
func ftraceMethod(method string) string {
	if method != "" && method[0] == '/' {
		return method[1:]
	}
	return method
}

// ftraceTraceparent returns what the program itself has set as traceparent. c is what is around the
// call. To pass on what was received is not to set one.
func ftraceTraceparent(md metadata.MD, c *ftrace_tracecontext_Context) []string {
	values := md["traceparent"]
	if c != nil && len(values) == 1 && c.PassesOn(values[0]) {
		return nil
	}
	return values
}

// ftraceCarry returns the context by which a call is made: with the headers, unless the program has
// set a traceparent.
func ftraceCarry(ctx context.Context) context.Context {
	c := ftraceTrace()
	if !ftracePropagate || c == nil {
		return ctx
	}
	md, _ := metadata.FromOutgoingContext(ctx)
	if ftraceTraceparent(md, c) != nil {
		return ctx
	}
	md = md.Copy()
	md.Set("traceparent", c.Header)
	if c.State != "" && len(md["tracestate"]) == 0 {
		md.Set("tracestate", c.State)
	}
	if c.Baggage != "" && len(md["baggage"]) == 0 {
		md.Set("baggage", c.Baggage)
	}
	return metadata.NewOutgoingContext(ctx, md)
}
