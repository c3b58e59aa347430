package testenv

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// MariaDB starts a server for the test, with a user root that has no password, and returns its
// address.
func MariaDB(t testing.TB) (address string) {
	t.Helper()
	Need(t, "mariadbd", "mariadb-install-db", "openssl")
	script, dir := filepath.Join(Root(t), "scripts", "mariadb"), t.TempDir()
	start := exec.Command(script, "start", dir)
	start.Stderr = os.Stderr
	out, err := start.Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if out, err := exec.Command(script, "stop", dir).CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
	port, _, _ := strings.Cut(string(out), " ")
	return "127.0.0.1:" + port
}
