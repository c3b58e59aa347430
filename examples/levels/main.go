// Levels is a shop whose log level is changed while it runs. LOG=info,main=trace shows its calls.
//
// LOG has the level it starts with. The operator, who would use curl, is played by the program.
package main

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/loglevel"
	"github.com/ftrace-wrap/ftrace-wrap/loglevel/levelhttp"
)

func main() {
	levels, err := loglevel.FromEnv("LOG", "info")
	if err != nil {
		slog.Error("starting with the default", "err", err)
	}
	handler := loglevel.NewTextHandler(os.Stderr, &loglevel.HandlerOptions{Level: levels})
	slog.SetDefault(slog.New(loglevel.NewFilter(handler, levels)))
	loglevel.Bind(levels) // without ftrace-wrap there is nothing to show at TRACE

	server := httptest.NewServer(levelhttp.Handler(levels))
	defer server.Close()
	sell("tea", 3)
	put(server.URL, "debug")
	sell("milk", 2)
	put(server.URL, "info,main=trace")
	sell("salt", 1)
	put(server.URL, "loud")
	put(server.URL, "info")
	sell("rice", 4)
}

// put sets the level.
func put(url, level string) {
	request, err := http.NewRequest(http.MethodPut, url, strings.NewReader(level))
	if err != nil {
		panic(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	answer, _ := io.ReadAll(response.Body)
	fmt.Printf("PUT %s: %d %s", level, response.StatusCode, answer)
}

func sell(item string, pieces int) {
	slog.Debug("looking up", "item", item)
	slog.Info("sold", "item", item, "sum", pieces*price(item))
}

func price(item string) int { return len(item) }
