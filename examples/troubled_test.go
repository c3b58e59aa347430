package examples

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
)

// troubled looks from outside into a service that nobody prepared, while its requests wait for a
// lock, a queue, a file and a query: by ftrace waits, and by SQL with MySQL's client.
func troubled(t *testing.T, bin, server string) {
	if runtime.GOOS != "linux" {
		t.Skip("running programs can be inspected on Linux only")
	}
	testenv.Need(t, "mariadb")
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if out, err := exec.Command("mkfifo", pipe).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	writer, err := os.OpenFile(pipe, os.O_RDWR, 0) // who opens it waits no longer, who reads does
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	start := func(said *regexp.Regexp, args ...string) (pid int, found []string) {
		t.Helper()
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env = testenv.Environ()
		log := filepath.Join(dir, filepath.Base(args[0])+".log")
		to, err := os.Create(log)
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdout, cmd.Stderr = to, to
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			cmd.Process.Kill()
			cmd.Wait()
			to.Close()
		})
		eventually(t, func() string {
			text, _ := os.ReadFile(log)
			found = said.FindStringSubmatch(string(text))
			return string(text)
		}, said)
		return cmd.Process.Pid, found
	}
	pid, address := start(regexp.MustCompile(`listening at (\S+)`), filepath.Join(bin, "troubled"), "-file", pipe, "-dsn", "root@tcp("+server+")/", "127.0.0.1:0")
	get := func(path string, times int) {
		for range times {
			go func() {
				if answer, err := http.Get("http://" + address[1] + path); err == nil {
					answer.Body.Close()
				}
			}()
		}
	}
	get("/enqueue", 8)
	get("/load", 1)
	get("/report", 1)
	get("/count", 1000) // 100 s of work

	run := func(args ...string) string {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env = testenv.Environ()
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	ftrace := filepath.Join(bin, "ftrace")
	eventually(t, func() string { return run(ftrace, "waits", "-n", "0", strconv.Itoa(pid)) },
		regexp.MustCompile(`(?m)^ +\d{3} +\S+  waiting: wait/synch/mutex\(0x[0-9a-f]+ main.hits.mu\) at main.\(\*hits\).add \(main.go:\d+\)$`),
		regexp.MustCompile(`(?m)^ +3 +\S+  waiting: wait/synch/chan/send\(0x[0-9a-f]+ main.jobs\) at main.\(\*service\).enqueue \(main.go:\d+\)\n.*\n +from which nobody receives, and whose buffer of 2 is full$`),
		regexp.MustCompile(`(?m)^ +1 +\S+  waiting: wait/io/pipe/read\(fd \d+ `+regexp.QuoteMeta(pipe)+`\) at main.first \(main.go:\d+\)$`),
		regexp.MustCompile(`(?m)^ +1 +\S+  waiting: wait/io/socket/read\(fd \d+ 127\.0\.0\.1:\d+->`+regexp.QuoteMeta(server)+`\) at mysql.\S+ \(connection.go:\d+\), in main.\(\*service\).report \(main.go:\d+\)$`))

	// The same by SQL. Once locks are observed it is known who holds this one.
	_, port := start(regexp.MustCompile(`127\.0\.0\.1:(\d+)`), ftrace, "serve", "-no-auth", "-mysql", "127.0.0.1:0", strconv.Itoa(pid))
	query := func(statement string) func() string {
		return func() string {
			return run("mariadb", "--no-defaults", "-h", "127.0.0.1", "-P", port[1], "-u", "ftrace", "-N", "-e", statement)
		}
	}
	eventually(t, query("SELECT DISTINCT OBJECT_NAME, FUNCTION, WAITING_THREADS > 100 FROM sys.blocked WHERE OBJECT_NAME LIKE 'main.%' ORDER BY 1"),
		regexp.MustCompile(`^main.hits.mu\tcall/main/hits.add\t1\nmain.jobs\tcall/main/service.enqueue\t0\n$`))
	query("UPDATE performance_schema.setup_consumers SET ENABLED='YES' WHERE NAME='locks'")()
	eventually(t, query("SELECT DISTINCT STEP, OBJECT_NAME, FUNCTION, CYCLE FROM sys.wait_chains ORDER BY 1, 2"),
		regexp.MustCompile(`(?m)^1\tmain.hits.mu\tcall/main/hits.add\tNO\n2\tNULL\tcall/main/tell\tNO$`))
	eventually(t, query("SELECT COUNT(*) FROM performance_schema.processlist WHERE INFO IS NOT NULL"), regexp.MustCompile(`^\d{3,}\n$`))
}

// eventually looks until there is a match for each of the patterns.
func eventually(t *testing.T, look func() string, patterns ...*regexp.Regexp) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		text, missing := look(), ""
		for _, p := range patterns {
			if !p.MatchString(text) {
				missing = p.String()
				break
			}
		}
		if missing == "" {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("there is no %s in\n%s", missing, text)
		}
	}
}
