package examples

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
	"github.com/google/go-cmp/cmp"
)

// protocolPrograms builds the programs in protocol, which use client libraries, with ftrace-wrap, and returns their directory and the flag for ftrace-wrap.
func protocolPrograms(t *testing.T) (bin, toolexec string) {
	t.Helper()
	if testing.Short() {
		t.Skip("compiles programs")
	}
	testenv.NeedAll(t)
	download := exec.Command("go", "-C", "protocol", "mod", "download")
	download.Env = append(testenv.Environ(), "GOFLAGS=")
	if out, err := download.CombinedOutput(); err != nil {
		if os.Getenv("CI") == "" {
			t.Skipf("client libraries could not be downloaded: %v\n%s", err, out)
		}
		t.Fatalf("%v\n%s", err, out)
	}
	watch(t, "protocol", "../scripts")
	bin = testenv.Build(t, "ftrace-wrap", "ftrace")
	toolexec = testenv.Toolexec(t, bin)
	buildIn(t, "protocol", "-o", bin+string(filepath.Separator), toolexec, "./...")
	return bin, toolexec
}

// redis starts a server for the test, whose default user has the password, and returns its address.
func redis(t *testing.T, password string) (address string) {
	t.Helper()
	testenv.Need(t, "redis-server")
	for port := 20000 + os.Getpid()%10000; ; port += 7 { // another process may have it
		var log bytes.Buffer
		server := exec.Command("redis-server", "--port", fmt.Sprint(port), "--bind", "127.0.0.1", "--save", "", "--requirepass", password, "--dir", t.TempDir())
		server.Stdout = &log
		reader, writer, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		server.Stdout = writer
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		writer.Close()
		ready := make(chan bool, 1)
		go func() {
			said := make([]byte, 0, 1<<16)
			for len(said) < cap(said) {
				n, err := reader.Read(said[len(said):cap(said)])
				said = said[:len(said)+n]
				if bytes.Contains(said, []byte("Ready to accept connections")) {
					ready <- true
				}
				if err != nil {
					break
				}
			}
			ready <- false
			reader.Close()
		}()
		select {
		case ok := <-ready:
			if !ok {
				server.Wait()
				if port > 31000 {
					t.Fatal("redis-server does not start")
				}
				continue
			}
		case <-time.After(time.Minute):
			t.Error("redis-server is not ready")
		}
		t.Cleanup(func() {
			server.Process.Kill()
			server.Wait()
		})
		return fmt.Sprintf("127.0.0.1:%d", port)
	}
}

// runProgram runs a program that is to succeed, with arguments and further environment variables.
func runProgram(t *testing.T, env []string, program string, args ...string) printed {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program+testenv.Exe(), args...)
	cmd.Env = append(testenv.Environ(), env...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", program, err, stderr.String())
	}
	return printed{stdout.String(), stderr.String()}
}

// contain reports the parts that a trace lacks.
func contain(t *testing.T, trace string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(trace, part) {
			t.Errorf("the trace lacks %s:\n%s", part, trace)
		}
	}
}

// TestProtocols runs programs that use servers, and compares the traces with those that are expected.
func TestProtocols(t *testing.T) {
	bin, toolexec := protocolPrograms(t)
	testTrace := []string{"FTRACE_PROTOCOL=test_trace"}

	t.Run("seed", func(t *testing.T) { seedSession(t, filepath.Join(bin, "session")) })

	t.Run("mariadb", func(t *testing.T) {
		server := testenv.MariaDB(t)
		session := []string{"root@tcp(" + server + ")/", "select @@version_comment limit 1", "SELECT user()"}
		got := runProgram(t, testTrace, filepath.Join(bin, "session"), session...)
		compare(t, "protocol/session/expected.txt", normalProtocol(got.Stderr, false))
		off := runProgram(t, nil, filepath.Join(bin, "session"), session...)
		if off.Stdout != got.Stdout || off.Stderr != "" {
			t.Errorf("without the trace it prints %q and %q, with it %q", off.Stdout, off.Stderr, got.Stdout)
		}

		toured := runProgram(t, testTrace, filepath.Join(bin, "tour"), server, "127.0.0.1:1")
		compare(t, "protocol/tour/expected.txt", normalProtocol(toured.Stderr, true))
		plain := t.TempDir()
		buildIn(t, "protocol", "-o", plain+string(filepath.Separator), "./tour")
		if diff := cmp.Diff(runProgram(t, nil, filepath.Join(plain, "tour"), server, "127.0.0.1:1").Stdout, toured.Stdout); diff != "" {
			t.Errorf("output (-built plainly +traced):\n%s", diff)
		}
		if strings.Contains(toured.Stderr, "sesame") || strings.Contains(toured.Stderr, "secret word") {
			t.Error("there is a password or a parameter in the trace")
		}
		shown := runProgram(t, []string{"FTRACE_PROTOCOL=test_trace,secrets,params"}, filepath.Join(bin, "tour"), server, "127.0.0.1:1").Stderr
		if !strings.Contains(shown, "identified by 'open sesame'") || !strings.Contains(shown, " 73 65 63 72 65 74 20 77 6F 72 64") || strings.Contains(shown, "not shown") {
			t.Error("with secrets,params they are not all in the trace")
		}

		probes := runProgram(t, []string{"FTRACE=probe/mysql/query-*;probe/mysql/connection-*", "FTRACE_FORMAT=str=200"}, filepath.Join(bin, "tour"), server, "127.0.0.1:1").Stderr
		compare(t, "protocol/tour/probes.txt", normalProtocol(probes, true))
		spans := runProgram(t, []string{"FTRACE=statement/sql/*"}, filepath.Join(bin, "session"), session...).Stderr
		contain(t, spans, `statement/sql/select(text="SELECT user()")`, "} = err=nil // statement/sql/select")
		t.Run("recorded", func(t *testing.T) { recordedStatements(t, filepath.Join(bin, "tour"), server) })
		t.Run("plugins", func(t *testing.T) { testIn(t, "protocol", []string{"MYSQL_ADDR=" + server}, toolexec, ".") })
		t.Run("driver", func(t *testing.T) { driverSuite(t, toolexec, server) })
		t.Run("troubled", func(t *testing.T) { troubled(t, bin, server) })
		t.Run("unknown", func(t *testing.T) { unknownDrivers(t, toolexec, session) })
	})

	t.Run("redis", func(t *testing.T) {
		server := redis(t, "open sesame")
		got := runProgram(t, append(testTrace, "REDIS_PASSWORD=open sesame"), filepath.Join(bin, "redis"), server)
		compare(t, "protocol/redis/expected.txt", normalProtocol(got.Stderr, false))
		spans := runProgram(t, []string{"FTRACE=statement/redis/*", "REDIS_PASSWORD=open sesame"}, filepath.Join(bin, "redis"), server).Stderr
		contain(t, spans, `statement/redis/set(text="set greeting hello")`, `statement/redis/get(text="get nothing")`, `statement/redis/pipeline(text="incr; del")`,
			`err=proto.RedisError("WRONGTYPE`)
		if strings.Contains(spans, "sesame") || strings.Contains(spans, `RedisError("redis: nil`) {
			t.Errorf("there is a password in the trace, or a missing key is an error:\n%s", spans)
		}
		probes := runProgram(t, []string{"FTRACE=probe/redis/*", "REDIS_PASSWORD=open sesame"}, filepath.Join(bin, "redis"), server)
		compare(t, "protocol/redis/probes.txt", normalProtocol(probes.Stderr, false))
		if strings.Contains(got.Stderr+probes.Stderr, "sesame") {
			t.Error("there is a password in the trace")
		}
	})

	t.Run("settings", func(t *testing.T) {
		for setting, want := range map[string]string{
			"test_trace": "", "off": "", "tcpdump": "unknown plugin tcpdump; known are test_trace", "test_trace,all": "unknown option all; known are",
		} {
			got := runProgram(t, []string{"FTRACE_PROTOCOL=" + setting}, filepath.Join(bin, "session"), "root@tcp(127.0.0.1:1)/").Stderr
			if want != "" && !strings.Contains(got, want) || (want == "") == strings.Contains(got, "FTRACE_PROTOCOL") {
				t.Errorf("FTRACE_PROTOCOL=%s: %q", setting, got)
			}
		}
	})
}

// What differs from run to run, or from server to server.
var (
	connectionID   = regexp.MustCompile(`(?m)^test_trace: [0-9]{3,}: `)
	connectionArg  = regexp.MustCompile(`connection=[0-9]+`)
	greetingPacket = regexp.MustCompile(`(?m)^(test_trace: stage: WAIT_FOR_INIT_PACKET, event: PACKET_RECEIVED\ntest_trace: packet received: )[0-9]+ bytes\n(?:  .*\n)*`)
	authPacket     = regexp.MustCompile(`(?m)^(test_trace: N: stage: AUTHENTICATE, event: SEND_AUTH_RESPONSE\ntest_trace: N: packet sent: )[0-9]+ bytes`)
	received       = regexp.MustCompile(`(?m)^test_trace: N: packet received: .*\n(?:  .*\n)*`)
	tlsError       = regexp.MustCompile(`(?m)error 2026: .*`)
	serversWords   = regexp.MustCompile(`(?m)(check the manual that corresponds to your ).*`)
	probesThere    = regexp.MustCompile(`of [0-9]+ probes`)
	threads        = regexp.MustCompile(`(?m)^G[0-9]+ +`)
	statement      = regexp.MustCompile(`(Prepared )?statement ([0-9]+)`)
)

// normalProtocol makes traces the same that say the same. Packets that servers send differ from release to release; without bytes they are left out.
func normalProtocol(trace string, withoutBytes bool) string {
	trace = connectionID.ReplaceAllString(trace, "test_trace: N: ")
	trace = connectionArg.ReplaceAllString(trace, "connection=N")
	trace = greetingPacket.ReplaceAllString(trace, "${1}N bytes\n  ...\n")
	trace = authPacket.ReplaceAllString(trace, "${1}N bytes")
	trace = tlsError.ReplaceAllString(trace, "error 2026: ...")
	trace = serversWords.ReplaceAllString(trace, "${1}...")
	trace = probesThere.ReplaceAllString(trace, "of N probes")
	trace = threads.ReplaceAllString(trace, "G ")
	trace = numberStatements(trace)
	if withoutBytes {
		trace = received.ReplaceAllString(trace, "")
	}
	return trace
}

// numberStatements numbers prepared statements in the order in which they are prepared: a connection of MariaDB counts on from where another one ended whose thread serves it.
func numberStatements(trace string) string {
	numbers, prepared := map[string]int{}, 0
	return statement.ReplaceAllStringFunc(trace, func(found string) string {
		m := statement.FindStringSubmatch(found)
		if m[1] != "" {
			prepared++
			numbers[m[2]] = prepared
		}
		return fmt.Sprintf("%sstatement %d", m[1], numbers[m[2]])
	})
}

// recordedStatements looks at what the Performance Schema makes of a recording of the tour.
func recordedStatements(t *testing.T, tour, server string) {
	dir := filepath.Join(t.TempDir(), "tour.data")
	runProgram(t, []string{"FTRACE=probe/mysql/query-*", "FTRACE_RECORD=" + dir}, tour, server, "127.0.0.1:1")
	recorded, err := source.OpenRecording(dir, source.RecordingOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer recorded.Close()
	snapshot, err := recorded.Snapshot(live.AllContents)
	if err != nil {
		t.Fatal(err)
	}
	statements, err := snapshot.Statements()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][4]uint64{}
	for _, s := range statements.Digests {
		got[s.Normal] = [4]uint64{s.Count, s.Errors, s.Rows, s.Affected}
	}
	for _, s := range statements.Events {
		got[s.Event] = [4]uint64{s.Count, s.Errors, s.Rows, s.Affected}
	}
	for name, want := range map[string][4]uint64{
		"select ? + ?, upper(?)": {2, 0, 2, 0},
		"select name from pets; select legs from pets where legs > ?": {1, 0, 3, 0},
		"load data local infile ? into table words":                   {2, 1, 0, 2},
		"select sleep(?)":        {1, 1, 0, 0},
		"statement/sql/select":   {6, 2, 6, 0},
		"statement/sql/load":     {2, 1, 0, 2},
		"statement/sql/rollback": {1, 0, 0, 0},
	} {
		if got[name] != want {
			t.Errorf("%s: number, errors, rows and affected rows are %v, want %v", name, got[name], want)
		}
	}
	for _, s := range statements.Long {
		if s.Inside || s.End < s.Start || s.Connection == 0 {
			t.Errorf("%+v", s)
		}
	}
	if n := len(statements.Long); n != 17 || len(statements.Current) < 5 {
		t.Errorf("%d statements, %d current", n, len(statements.Current))
	}
}

// testIn runs go test in a directory, with further environment variables.
func testIn(t *testing.T, dir string, settings []string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"test", "-count=1"}, args...)...)
	cmd.Dir, cmd.Env = dir, append(append(testenv.Environ(), "GOFLAGS=-buildvcs=false"), settings...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
	}
}

// driverSuite runs the driver's own tests, as they are, while its protocol is traced.
func driverSuite(t *testing.T, toolexec, server string) {
	dir := copyDriver(t)
	create := exec.Command("go", "-C", "protocol", "run", "./session", "root@tcp("+server+")/", "create database gotest")
	create.Env = append(testenv.Environ(), "GOFLAGS=-buildvcs=false")
	if out, err := create.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	trace := filepath.Join(t.TempDir(), "trace")
	// TestConnectorReturnsTimeout dials 1.1.1.1:1234, which answers in some networks; it fails there without ftrace-wrap, too.
	cmd := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-skip=TestConnectorReturnsTimeout", toolexec, ".")
	cmd.Dir = dir
	cmd.Env = append(testenv.Environ(), "GOFLAGS=-buildvcs=false", "FTRACE_PROTOCOL=test_trace", "FTRACE_OUT="+trace,
		"MYSQL_TEST_ADDR="+server, "MYSQL_TEST_USER=root", "MYSQL_TEST_PASS=", "MYSQL_TEST_CONCURRENT=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	traced, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(traced), "event: AUTHENTICATED\n"); n < 100 {
		t.Errorf("%d connections were traced", n)
	}
}

// copyDriver copies the driver from the module cache, so that it can be changed.
func copyDriver(t *testing.T) string {
	t.Helper()
	list := exec.Command("go", "-C", "protocol", "list", "-m", "-f", "{{.Dir}}", "github.com/go-sql-driver/mysql")
	list.Env = append(testenv.Environ(), "GOFLAGS=")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "mysql@v1.99.0")
	if err := os.CopyFS(dir, os.DirFS(strings.TrimSpace(string(out)))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// unknownDrivers runs the session with drivers that have other functions than those that are known.
func unknownDrivers(t *testing.T, toolexec string, session []string) {
	for _, driver := range []struct {
		name, old, new string
		want           []string
		without        string
	}{
		{"packets", "startWatcher", "beginWatcher", []string{
			"ftrace: protocol: package github.com/go-sql-driver/mysql v1.99.0 is not quite one that this ftrace-wrap knows (there is no (*mysqlConn).startWatcher): what its packets tell is traced, and no more\n",
			"stage: CONNECTING, event: CONNECTED\n", "stage: AUTHENTICATE, event: AUTHENTICATED\n", "QUERY: SELECT user()\n", "event: DISCONNECTED\n",
		}, "ERROR"},
		{"nothing", "readPacket", "readOnePacket", []string{
			"ftrace: protocol: package github.com/go-sql-driver/mysql v1.99.0 is not one that this ftrace-wrap knows (there is no (*mysqlConn).readPacket): what it says to its servers is not traced\n",
		}, "event:"},
	} {
		t.Run(driver.name, func(t *testing.T) {
			dir := copyDriver(t)
			files, err := filepath.Glob(filepath.Join(dir, "*.go"))
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range files {
				source, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				if strings.HasSuffix(name, "_test.go") {
					continue
				}
				if err := os.Chmod(name, 0o666); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, bytes.ReplaceAll(source, []byte(driver.old), []byte(driver.new)), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			program := filepath.Join(t.TempDir(), "session")
			modfile := filepath.Join(t.TempDir(), "go.mod")
			for _, name := range []string{"go.mod", "go.sum"} {
				text, err := os.ReadFile(filepath.Join("protocol", name))
				if err != nil {
					t.Fatal(err)
				}
				if name == "go.mod" {
					root, err := filepath.Abs("..")
					if err != nil {
						t.Fatal(err)
					}
					text = bytes.Replace(text, []byte("=> ../.."), []byte("=> "+root), 1)
					text = fmt.Appendf(text, "\nreplace github.com/go-sql-driver/mysql => %s\n", dir)
				}
				if err := os.WriteFile(filepath.Join(filepath.Dir(modfile), name), text, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			buildIn(t, "protocol", "-modfile="+modfile, "-o", program+testenv.Exe(), toolexec, "./session")
			got := runProgram(t, []string{"FTRACE_PROTOCOL=test_trace"}, program, session...)
			for _, want := range driver.want {
				if !strings.Contains(got.Stderr, want) {
					t.Errorf("there is no %q in\n%s", want, got.Stderr)
				}
			}
			if strings.Contains(got.Stderr, driver.without) {
				t.Errorf("there is %q in\n%s", driver.without, got.Stderr)
			}
			if quiet := runProgram(t, nil, program, session...); quiet.Stderr != "" || quiet.Stdout != got.Stdout {
				t.Errorf("without the trace it prints %q and %q", quiet.Stdout, quiet.Stderr)
			}
		})
	}
}
