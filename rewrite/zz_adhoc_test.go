package rewrite

import (
	"debug/elf"
	"debug/gosym"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

func TestAdhocNames(t *testing.T) {
	bin := os.Getenv("NAMES_BIN")
	if bin == "" {
		t.Skip()
	}
	f, err := elf.Open(bin)
	if err != nil {
		t.Fatal(err)
	}
	data, _ := f.Section(".gopclntab").Data()
	tab, err := gosym.NewTable(nil, gosym.NewLineTable(data, f.Section(".text").Addr))
	if err != nil {
		t.Fatal(err)
	}
	byPkg := map[string]map[string][]string{}
	for i := range tab.Funcs {
		fn := &tab.Funcs[i]
		slash := strings.LastIndex(fn.Name, "/")
		if j := strings.IndexByte(fn.Name, '['); j >= 0 && j < slash {
			slash = strings.LastIndex(fn.Name[:j], "/")
		}
		dot := strings.IndexByte(fn.Name[slash+1:], '.')
		if dot < 0 {
			continue
		}
		path, name := fn.Name[:slash+1+dot], fn.Name[slash+dot+2:]
		file, line, _ := tab.PCToLine(fn.Entry)
		if byPkg[path] == nil {
			byPkg[path] = map[string][]string{}
		}
		if i, j := strings.IndexByte(name, '['), strings.LastIndexByte(name, ']'); i >= 0 {
			name = name[:i] + "[...]" + name[j+1:]
		}
		k := fmt.Sprintf("%s:%d", filepath.Base(file), line)
		byPkg[path][k] = append(byPkg[path][k], name)
	}
	right, wrong := 0, 0
	var paths []string
	for p := range byPkg {
		paths = append(paths, p)
	}
	sort.Strings(paths)
	for _, path := range paths {
		if path == "main" || strings.ContainsAny(path, "%:(") || strings.HasPrefix(path, "runtime") || strings.HasPrefix(path, "vendor") || path == "type:" || path == "go" || strings.Contains(path, "_") {
			continue
		}
		names := byPkg[path]
		_, files := parsePackage(t, path)
		r, err := Package(Options{ImportPath: path, Symbol: path}, files)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, fn := range r.Funcs {
			got := names[fmt.Sprintf("%s:%d", filepath.Base(fn.File), fn.Line)]
			if len(got) == 0 {
				continue
			}
			ok := false
			for _, n := range got {
				ok = ok || n == fn.Name
			}
			if ok {
				right++
			} else {
				wrong++
				t.Logf("%s %s:%d ours %s compiler %v", path, filepath.Base(fn.File), fn.Line, fn.Name, got)
			}
		}
	}
	t.Logf("right %d wrong %d", right, wrong)
}
