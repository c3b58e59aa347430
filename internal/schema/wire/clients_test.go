package wire

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/language"
)

// TestClients: what graphical clients ask when they connect and show a schema, in testdata/clients,
// is answered. The statements are written after these clients, most from knowledge of them; they
// are no recordings of their sessions.
func TestClients(t *testing.T) {
	files, err := filepath.Glob("testdata/clients/*.sql")
	if err != nil || len(files) < 2 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	addr := serve(t, 20, nil)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".sql"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			statements, rest := language.Split(string(text))
			if rest != "" || len(statements) < 20 {
				t.Fatalf("%d statements, and %q", len(statements), rest)
			}
			db := connect(t, "ftrace:secret@tcp("+addr+")/performance_schema?timeout=1m")
			for _, statement := range statements {
				rows, err := db.Query(statement)
				if err != nil {
					t.Errorf("%s\n%v", statement, err)
					continue
				}
				columns, err := rows.Columns()
				n := 0
				for rows.Next() {
					n++
				}
				if err == nil {
					err = rows.Err()
				}
				rows.Close()
				reads := strings.HasPrefix(statement, "SELECT") || strings.HasPrefix(statement, "SHOW")
				if err != nil || reads && len(columns) == 0 {
					t.Errorf("%s\n%d rows of %d columns: %v", statement, n, len(columns), err)
				}
			}
		})
	}
}
