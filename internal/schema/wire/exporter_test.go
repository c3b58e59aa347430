package wire

import (
	"io"
	"net"
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
	const program = "prometheus-mysqld-exporter"
	testenv.Need(t, program)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String() // which is free once more
	l.Close()
	var said strings.Builder
	exporter := exec.CommandContext(t.Context(), program, "--web.listen-address="+addr, "--collect.perf_schema.eventswaits", "--collect.perf_schema.file_events", "--collect.perf_schema.file_instances",
		"--collect.info_schema.tables", "--collect.info_schema.processlist")
	exporter.Env = append(testenv.Environ(), "DATA_SOURCE_NAME=reader:readers@tcp("+serve(t, 20, nil)+")/")
	exporter.Stderr = &said
	if err := exporter.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- exporter.Wait() }()
	var page []byte
	for page == nil {
		select {
		case err := <-ended:
			t.Fatalf("%v\n%s", err, said.String())
		default:
		}
		if answer, err := http.Get("http://" + addr + "/metrics"); err != nil {
			time.Sleep(10 * time.Millisecond)
		} else if page, err = io.ReadAll(answer.Body); err != nil {
			t.Fatal(err)
		}
	}
	exporter.Process.Kill()
	<-ended
	for _, want := range []string{
		"mysql_up 1", "mysql_exporter_last_scrape_error 0", "mysql_global_variables_max_connections 151", "mysql_global_status_threads_connected ", "mysql_info_schema_table_version{",
		`mysql_version_info{innodb_version="",version="5.7.44-ftrace"`,
	} {
		if !strings.Contains(string(page), "\n"+want) {
			t.Errorf("the metrics lack %q", want)
		}
	}
	if t.Failed() {
		t.Logf("%s\n%s", page, said.String())
	}
}
