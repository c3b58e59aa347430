package levelhttp_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/loglevel"
	"github.com/ftrace-wrap/ftrace-wrap/loglevel/levelhttp"
)

func ExampleHandler() {
	levels := new(loglevel.LevelsVar)
	server := httptest.NewServer(levelhttp.Handler(levels))
	defer server.Close()
	for _, text := range []string{"info,net/...=trace", "net/...=loud"} {
		r, err := http.Post(server.URL, "text/plain", strings.NewReader(text))
		if err != nil {
			fmt.Println(err)
			return
		}
		answer, _ := io.ReadAll(r.Body)
		r.Body.Close()
		fmt.Printf("%d %s", r.StatusCode, answer)
	}
	// Output:
	// 200 info,net/...=trace
	// 400 loglevel: at byte 8 of "net/...=loud": "loud" is no level (one of err, warn, notice, info, debug, trace, one of these with an offset such as info+1, or a number)
}
