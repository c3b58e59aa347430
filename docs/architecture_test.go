package docs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// parts are folders whose own folders architecture.md need not name.
var parts = map[string]bool{"bench": true, "bench/mocks": true, "bench/mocks/rows": true, "bench/programs": true, "examples": true,
	"examples/invoice": true, "examples/logging": true, "examples/protocol": true, "scripts/torture": true}

// TestFolders: architecture.md names every folder with Go files, by its path, or by its last
// element where the folder around it is named.
func TestFolders(t *testing.T) {
	page := read(t, "architecture.md")
	named := func(name string) bool { return strings.Contains(page, "`"+name+"`") }
	seen := map[string]bool{}
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && (name == "testdata" || name != ".." && strings.HasPrefix(name, ".")) {
			return filepath.SkipDir
		}
		folder, _ := filepath.Rel("..", filepath.Dir(file))
		folder = filepath.ToSlash(folder)
		if filepath.Ext(file) != ".go" || folder == "." {
			return nil
		}
		if seen[folder] {
			return nil
		}
		seen[folder] = true
		around := path.Dir(folder)
		if !named(folder) && !parts[around] && !(around != "." && named(path.Base(folder))) && !strings.Contains(page, "**"+path.Base(folder)+"**") {
			t.Errorf("architecture.md does not name %s", folder)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(seen) < 50 {
		t.Errorf("looked at %d folders only", len(seen))
	}
}

// rooms are those of the core, the lowest first.
var rooms = []string{"os", "state", "value", "text", "record", "keep", "weave", "mock", "call", "probe", "wait", "arm", "share"}

// TestRooms compares the table of the core's rooms with the sources; -update puts in what is right.
// A reference is a name that a room declares outside of functions, other than a method's, and that
// another room has in it, however often.
func TestRooms(t *testing.T) {
	files := map[string][]*ast.File{}
	declared := map[string]string{} // the room, by name
	for _, room := range rooms {
		names, err := filepath.Glob("../internal/guest/" + room + "/*.go")
		if err != nil || len(names) == 0 {
			t.Fatal(room, err)
		}
		for _, name := range names {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files[room] = append(files[room], file)
			for _, d := range file.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					if d.Recv == nil {
						declared[d.Name.Name] = room
					}
				case *ast.GenDecl:
					for _, s := range d.Specs {
						switch s := s.(type) {
						case *ast.TypeSpec:
							declared[s.Name.Name] = room
						case *ast.ValueSpec:
							for _, name := range s.Names {
								declared[name.Name] = room
							}
						}
					}
				}
			}
		}
	}
	delete(declared, "_")
	table, up, all := "| uses | "+strings.Join(rooms, " | ")+" |\n|"+strings.Repeat("---|", len(rooms)+1)+"\n", 0, 0
	for i, room := range rooms {
		uses := map[string]map[string]bool{}
		for _, file := range files[room] {
			ast.Inspect(file, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && declared[id.Name] != room && declared[id.Name] != "" {
					other := declared[id.Name]
					if uses[other] == nil {
						uses[other] = map[string]bool{}
					}
					uses[other][id.Name] = true
				}
				return true
			})
		}
		table += "| **" + room + "** |"
		for j, other := range rooms {
			n := len(uses[other])
			if all += n; j > i {
				up += n
			}
			table += strings.TrimSuffix(fmt.Sprintf(" %d |", n), " 0 |")
			if n == 0 {
				table += " |"
			}
		}
		table += "\n"
	}
	page := read(t, "architecture.md")
	begin := strings.Index(page, "| uses |")
	end := begin + strings.Index(page[begin:], "\n\n") + 1
	if sum := fmt.Sprintf("%d of %d references", up, all); page[begin:end] != table || !strings.Contains(page, sum) {
		if *update {
			page = regexp.MustCompile(`\d+ of \d+ references`).ReplaceAllLiteralString(page[:begin]+table+page[end:], sum)
			if err := os.WriteFile("architecture.md", []byte(page), 0o666); err != nil {
				t.Fatal(err)
			}
			return
		}
		t.Errorf("architecture.md has another table; go test ./docs -run Rooms -update changes it:\n%s%s", table, sum)
	}
}

// ours matches paths of this repository in pages.
var ours = regexp.MustCompile("`((?:cmd|internal|rewrite|runtime|mock|probe|protocol|loglevel|scripts|docs|bench|examples|testdata)/[\\w./-]+)`")

// TestPaths: the files and folders that the pages name are there.
func TestPaths(t *testing.T) {
	pages, err := filepath.Glob("design/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	for _, page := range append(pages, "architecture.md", "limitations.md", "../CONTRIBUTING.md") {
		for _, m := range ours.FindAllStringSubmatch(read(t, page), -1) {
			if strings.HasPrefix(m[1], "internal/runtime/") || m[1] == "internal/abi" { // Go's own
				continue
			}
			if _, err := os.Stat(filepath.Join("..", m[1])); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
}

var (
	// link matches links to files, and their anchors.
	link = regexp.MustCompile(`\]\(([^)#:]*)(#[^)]*)?\)`)
	code = regexp.MustCompile("(?ms)^```.*?^```$|^    .*?$|`[^`\n]*`")
)

// TestLinks: the files that the pages link to are there, and the headings in them.
func TestLinks(t *testing.T) {
	var pages []string
	for _, pattern := range []string{"*.md", "design/*.md", "../*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatal(pattern, err)
		}
		pages = append(pages, found...)
	}
	for _, page := range pages {
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(read(t, page), ""), -1) {
			to := page
			if m[1] != "" {
				to = filepath.Join(filepath.Dir(page), m[1])
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: %v", page, err)
			} else if m[2] != "" && !anchors(read(t, to))[m[2]] {
				t.Errorf("%s: %s has no heading %s", page, to, m[2])
			}
		}
	}
}

var (
	heading = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	anchor  = regexp.MustCompile(`<a id="([^"]*)"></a>`)
	dropped = regexp.MustCompile(`[^\w\- ]`)
)

// anchors returns what links can name in a page, as GitHub makes it of headings.
func anchors(page string) map[string]bool {
	found := map[string]bool{}
	for _, m := range anchor.FindAllStringSubmatch(page, -1) {
		found["#"+m[1]] = true
	}
	for _, m := range heading.FindAllStringSubmatch(page, -1) {
		text := dropped.ReplaceAllString(strings.ToLower(anchor.ReplaceAllString(m[1], "")), "")
		found["#"+strings.ReplaceAll(text, " ", "-")] = true
	}
	return found
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestCommands: the two commands that the README promises are those that the gate runs.
func TestCommands(t *testing.T) {
	_, try, _ := strings.Cut(read(t, "../README.md"), "## Try it\n")
	try, _, _ = strings.Cut(try, "\n## ")
	gate := read(t, "../.ci/run")
	commands := regexp.MustCompile(`(?m)^    (\S.*)$`).FindAllStringSubmatch(try, -1)
	if len(commands) != 2 {
		t.Fatalf("the README has %d commands to try, want 2", len(commands))
	}
	for _, c := range commands {
		if !strings.Contains(gate, "\n"+c[1]+"\n") {
			t.Errorf(".ci/run does not run %s", c[1])
		}
	}
}
