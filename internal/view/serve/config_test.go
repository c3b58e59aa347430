package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema"
)

const fleet = `{
	"mysql": [":0", "localhost:0"],
	"anywhere": false,
	"history": 5,
	"sources": ["server", 4242, "old.data"],
	"accounts": [
		{"name": "ann", "password-file": "ann.secret", "grants": ["SELECT ON performance_schema.*",
			"UPDATE (ENABLED, TIMED) ON performance_schema.setup_instruments"]},
		{"name": "bob", "password-file": "bob.secret"}
	]
}
`

// noPassword knows the passwords of made-up files.
func noPassword(file string) (string, error) {
	if file == "none" {
		return "", errors.New("there is no file")
	}
	return "in " + file, nil
}

func TestConfig(t *testing.T) {
	got, err := parseConfig("f", []byte(fleet), noPassword)
	if err != nil {
		t.Fatal(err)
	}
	want := &Config{
		Flags:   []Setting{{"mysql", ":0,localhost:0", "f:2"}, {"anywhere", "false", "f:3"}, {"history", "5", "f:4"}},
		Sources: []string{"server", "4242", "old.data"},
		Accounts: []Account{
			{"ann", "in ann.secret", []string{"SELECT ON performance_schema.*", "UPDATE (ENABLED, TIMED) ON performance_schema.setup_instruments"}, "f:7"},
			{"bob", "in bob.secret", nil, "f:9"},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	for text, want := range map[string]string{
		"":                                  "f:1: it is not JSON: unexpected end of JSON input",
		"{\n\"mysql\": \":1\",\n}":          "f:3: it is not JSON: invalid character '}' looking for beginning of object key string",
		"{\n} {":                            "f:2: it is not JSON: invalid character '{' after top-level value",
		"\n[]":                              "f:2: the file must be an object",
		"{\n\"mysql\":\n\n{}}":              "f:4: mysql must be text",
		"{\n\"mysql\": null}":               "f:2: mysql must be text",
		"{\"mysql\": [\n[]]}":               "f:2: each of mysql must be text",
		"{\"timeout\": 1,\n\"timeout\": 1}": `f:2: "timeout" is there twice`,
		"{\"config\": \"f\"}":               `f:1: a file has no "config"`,
		"{\"sources\":\n{}}":                "f:2: sources must be text",
		"{\"accounts\":\n\"ann\"}":          "f:2: accounts must be a list",
		"{\"accounts\":[\n\"ann\"]}":        "f:2: an account must be an object",
		"{\"accounts\":[{\"name\": \"ann\",\n\"password\": \"x\"}]}":                                           `f:2: an account has no "password": it has name, password-file, grants`,
		"{\"accounts\":[{\"name\": \"ann\"\n}]}":                                                               "f:2: an account has a name and a password-file",
		"{\"accounts\":[\n\n{\"name\": \"ann\", \"password-file\": \"none\"}]}":                                "f:3: there is no file",
		"{\"accounts\":[{\"name\":\"a\",\"password-file\":\"p\"},\n{\"name\":\"a\",\"password-file\":\"p\"}]}": `f:2: there is a second account "a"`,
	} {
		if c, err := parseConfig("f", []byte(text), noPassword); err == nil || err.Error() != want {
			t.Errorf("%q: %+v, %v, want %s", text, c, err, want)
		}
	}
}

// TestPasswordIn: a password is the first line of a file.
func TestPasswordIn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	for text, want := range map[string]string{"tulip": "tulip", "tulip\n": "tulip", "tulip\r\nrose\n": "tulip", " t \n": " t ", "": "", "\ntulip": ""} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := PasswordIn(file); got != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	if _, err := PasswordIn(file + ".none"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestAccounts: accounts of a file may do what they are granted, and nothing else; errors say where
// it is in the file.
func TestAccounts(t *testing.T) {
	c, err := parseConfig("f", []byte(fleet), noPassword)
	if err != nil {
		t.Fatal(err)
	}
	catalog := &schema.Catalog{}
	defer catalog.Close()
	s, err := Listen(Options{Address: ":0, :0", User: "ftrace", Reader: "reader"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if len(s.listeners) != 2 {
		t.Errorf("it listens at %d addresses", len(s.listeners))
	}
	if err := s.AddAccounts(catalog, c.Accounts); err != nil {
		t.Fatal(err)
	}
	session, err := catalog.Session(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for _, try := range []struct {
		user, statement string
		allowed         bool
	}{
		{"ann", "SELECT COUNT(*) FROM performance_schema.setup_instruments", true},
		{"ann", "UPDATE performance_schema.setup_instruments SET ENABLED='NO'", true},
		{"ann", "UPDATE performance_schema.setup_consumers SET ENABLED='NO'", false},
		{"bob", "SELECT COUNT(*) FROM performance_schema.setup_instruments", false},
		{"bob", "SELECT COUNT(*) FROM information_schema.tables", true},
	} {
		session.Identify(1, try.user+"@localhost", nil)
		result, err := session.Query(context.Background(), try.statement, nil)
		if err == nil {
			result.Close()
		}
		if (err == nil) != try.allowed || err != nil && !strings.Contains(err.Error(), "denied") {
			t.Errorf("%s: %s: %v", try.user, try.statement, err)
		}
	}
	for _, bad := range []struct {
		account Account
		want    string
	}{
		{Account{"ann", "p", nil, "f:7"}, `f:7: account "ann": there is one of that name`},
		{Account{"ftrace", "p", nil, "f:7"}, `f:7: account "ftrace": there is one of that name`},
		{Account{strings.Repeat("n", 33), "p", nil, "f:8"}, "its name is to have 1 to 32 bytes"},
		{Account{"c`x", "p", []string{"SELECT ON performance_schema.nosuch"}, "f:9"}, "f:9: account \"c`x\": "},
		{Account{"d", "p", []string{"SELECT"}, "f:9"}, `f:9: account "d": `},
		{Account{"e", "p", []string{"SELECT ON *.* TO ann; DROP USER"}, "f:9"}, `f:9: account "e": `},
	} {
		if err := s.AddAccounts(catalog, []Account{bad.account}); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%+v: %v", bad.account, err)
		}
	}
	open, err := Listen(Options{Address: ":0", Open: true}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	if err := open.AddAccounts(catalog, c.Accounts); err == nil || !strings.HasPrefix(err.Error(), "f:7: there are no accounts with -no-auth") {
		t.Error(err)
	}
}

// FuzzConfig: an error names a line of the file, and what is read says what JSON does.
func FuzzConfig(f *testing.F) {
	f.Add(fleet)
	f.Add(`{"accounts": [{"name": "a", "password-file": "none"}], "sources": "x", "tls": true, "n": 1e3}`)
	f.Add("{\n\"mysql\": {\"a\": []}}")
	line := regexp.MustCompile(`(?s)^f:(\d+): .`)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseConfig("f", []byte(text), noPassword)
		if err != nil {
			m := line.FindStringSubmatch(err.Error())
			if m == nil {
				t.Fatalf("%v", err)
			}
			if n, _ := strconv.Atoi(m[1]); n < 1 || n > 1+strings.Count(text, "\n") {
				t.Fatalf("%v: there is no such line", err)
			}
			return
		}
		var all map[string]any
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		if err := decoder.Decode(&all); err != nil {
			t.Fatal(err)
		}
		joined := func(v any) string {
			list, ok := v.([]any)
			if !ok {
				return fmt.Sprint(v)
			}
			var texts []string
			for _, one := range list {
				texts = append(texts, fmt.Sprint(one))
			}
			return strings.Join(texts, ",")
		}
		for _, s := range c.Flags {
			if value, ok := all[s.Name]; !ok || joined(value) != s.Value {
				t.Errorf("%q is %q, want %v", s.Name, s.Value, value)
			}
			delete(all, s.Name)
		}
		if sources, ok := all["sources"]; ok && joined(sources) != strings.Join(c.Sources, ",") {
			t.Errorf("sources are %q, want %v", c.Sources, sources)
		}
		if accounts, _ := all["accounts"].([]any); len(accounts) != len(c.Accounts) {
			t.Errorf("%d accounts, want %d", len(c.Accounts), len(accounts))
		}
		delete(all, "sources")
		delete(all, "accounts")
		if len(all) > 0 {
			t.Errorf("%v is left", all)
		}
	})
}
