package main

import (
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/view/forward"
)

// TestEndpoint: what -to names is what is sent to.
func TestEndpoint(t *testing.T) {
	for to, want := range map[string]string{
		"http://host:4318":            "http://host:4318/v1/logs",
		"https://host/otlp/v1/traces": "https://host/otlp/v1/logs",
		"grpc://host":                 "grpc://host",
		"grpcs://host:443/":           "grpcs://host:443",
		"otlp://host":                 "grpc://host",
		"otlp://host:4317":            "grpc://host:4317",
		"otlp://host:4318":            "http://host:4318/v1/logs",
		"otlp://host:4318/in":         "http://host:4318/in/v1/logs",
		"otlp://[::1]:4318":           "http://[::1]:4318/v1/logs",
		"otlps://host:4318":           "https://host:4318/v1/logs",
		"otlps://host:8443":           "grpcs://host:8443",
		"otlp://host/v1/logs":         "",
		"otlp://user:password@host":   "",
		"otlp:host":                   "",
		"s://host":                    "",
		"host:4318":                   "",
	} {
		got, err := endpoint(to, forward.Logs)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%s is %q, %v, want %q", to, got, err, want)
		}
	}
}
