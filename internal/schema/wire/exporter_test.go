package wire

import (
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
)

// TestMysqldExporter: Prometheus' exporter of MySQL scrapes the server, as the account that may
// only read, and none of its collectors fails: those that it has on by itself, and those of tables
// that are here.
func TestMysqldExporter(t *testing.T) {
	testenv.Need(t, mysqldExporter)
	server := serve(t, 20, nil)
	page, said := scraped(t, server)
	for attempt := 0; page == "" && attempt < 5; attempt++ { // another process had the port
		page, said = scraped(t, server)
	}
	for _, want := range []string{
		"mysql_up 1", "mysql_exporter_last_scrape_error 0", "mysql_global_variables_max_connections 151", "mysql_global_status_threads_connected ", "mysql_info_schema_table_version{",
		`mysql_version_info{innodb_version="",version="5.7.44-ftrace"`,
	} {
		if !strings.Contains(page, "\n"+want) {
			t.Errorf("the metrics lack %q", want)
		}
	}
	if t.Failed() {
		t.Logf("%s\n%s", page, said)
	}
}

const mysqldExporter = "prometheus-mysqld-exporter"

// scraped runs the exporter, and returns its metrics of a server, "" if it ends before it has them,
// and what it says.
func scraped(t *testing.T, server string) (page, said string) {
	port, err := testenv.Port()
	if err != nil {
		t.Fatal(err)
	}
	addr := fmt.Sprint("127.0.0.1:", port)
	var out strings.Builder
	exporter := exec.CommandContext(t.Context(), mysqldExporter, "--web.listen-address="+addr, "--collect.perf_schema.eventswaits", "--collect.perf_schema.file_events", "--collect.perf_schema.file_instances",
		"--collect.info_schema.tables", "--collect.info_schema.processlist")
	exporter.Env = append(testenv.Environ(), "DATA_SOURCE_NAME=reader:readers@tcp("+server+")/")
	exporter.Stderr = &out
	if err := exporter.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- exporter.Wait() }()
	for {
		answer, err := http.Get("http://" + addr + "/metrics")
		if err == nil {
			b, err := io.ReadAll(answer.Body)
			answer.Body.Close()
			exporter.Process.Kill()
			<-ended
			if err != nil {
				t.Fatal(err)
			}
			return string(b), out.String()
		}
		select {
		case <-ended:
			return "", out.String()
		case <-time.After(10 * time.Millisecond): // it does not listen yet
		}
	}
}
