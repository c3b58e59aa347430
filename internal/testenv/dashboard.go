package testenv

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// Dashboard returns the text of a dashboard in docs, which Grafana's own library has loaded,
// strictly.
func Dashboard(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(Root(t), "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	plugins.RegisterDefaultPlugins()
	//lint:ignore SA1019 this is the format that all releases of Grafana import
	var d dashboard.Dashboard
	if err := d.UnmarshalJSONStrict(text); err != nil && err.Error() != "" { // of nothing wrong it makes a list of errors without any
		t.Fatal(err)
	}
	if err := d.Validate(); err != nil && err.Error() != "" {
		t.Fatal(err)
	}
	return text
}
