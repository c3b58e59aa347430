package recording

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/escape"
	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
)

// Version is the latest format that this package reads, and what programs write. Compact recordings
// have version 2. Wide ones, which a Writer writes, have version 1.
const Version = format.Version

// How much is recorded of values, unless the metadata says otherwise.
const (
	stringLimit = 64
	elemLimit   = 8
	fieldLimit  = 256
	nestLimit   = 2
)

// A Recording is the recording of one process. Its methods may be used by one goroutine at a time,
// except those that say otherwise.
type Recording struct {
	Dir     string
	Env     Env
	Process Process // zero if the tables do not have it
	Timer   int     // the timer whose ticks it has: 0 cycle, 1 nanosecond, 2 microsecond, 3 millisecond, 4 tick

	packages   map[string]*shownPackage // of the functions, by what precedes these in stack traces
	funcs      []*Function              // by key
	types      []*Type                  // by number
	layouts    []*Layout                // by number
	sites      []*Site                  // likewise
	files      []*string                // likewise
	implied    [2][]*Layout             // those that records leave out, by key: of parameters, and of results
	defined    int                      // how many layouts the tables have, of both kinds
	clocks     []Clock                  // moments, in ticks of that timer
	running    Clock                    // the last moment at which the program said that it runs on, zero: none
	lost       map[int]uint64           // number of lost records by processor, as the program knew it at its end
	tables     tableReader
	damages    sync.Mutex // guards the next five
	damage     []Damage
	seen       map[string]bool     // known damage, by place
	lostRead   map[int]uint64      // number of lost records by processor, as the files say
	offs       map[offKey]offSpan  // when calls of functions were left out
	offsBefore map[uint32]LeftOut  // by function, what SumLeftOut has summed up
	codes      map[uint64]string   // names of functions by the addresses of their code
	channels   map[uint64][]uint64 // addresses of words that led to channels
	held       *Converter          // what Converter returns, nil: what the clocks say
	begins     uint64              // ticks before which packets were given back, see Trim
}

// Env is what the metadata says of the recording.
type Env struct {
	Version     int
	UUID        [16]byte
	Executable  string
	Release     string // of Go
	PID         int
	Frequency   uint64 // ticks a second, as far as the program knew
	stringLimit int
	elemLimit   int
	fieldLimit  int
	nestLimit   int
}

// A Process is the program that was recorded.
type Process struct {
	PID                               int
	Start                             time.Time
	Release, GOOS, GOARCH, Executable string
	Args                              []string
}

// Damage is a part of a recording that could not be read.
type Damage struct {
	File   string // in the recording's directory
	Offset int64
	Bytes  int64 // how much was left out, if that is known
	What   string
}

func (d Damage) String() string {
	return fmt.Sprintf("%s: at byte %d: %s; %d bytes left out", d.File, d.Offset, d.What, d.Bytes)
}

// Is reports whether a directory is a recording, be it whole or not.
func Is(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "metadata"))
	return err == nil
}

// Begun reports whether a directory holds a recording that can be opened. A program makes the file
// of the metadata first, and then writes all that Open needs of it at once.
func Begun(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, "metadata"))
	return err == nil && info.Size() > 0
}

// Open opens the recording in a directory. It fails if there is none, or if it has another version
// or byte order. It does not fail because of damage.
func Open(dir string) (*Recording, error) {
	r := &Recording{Dir: dir, seen: map[string]bool{}, lost: map[int]uint64{}, codes: map[uint64]string{}, channels: map[uint64][]uint64{}}
	text, err := os.ReadFile(filepath.Join(dir, "metadata"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Stat(dir); err != nil {
			return nil, fmt.Errorf("%s: there is no such directory", dir)
		}
		return nil, fmt.Errorf("%s is not a recording: it has no file named metadata", dir)
	case err != nil:
		return nil, err
	}
	if r.Env, err = parseMetadata(text); err != nil {
		return nil, fmt.Errorf("%s: %v", filepath.Join(dir, "metadata"), err)
	}
	r.tables.r = r
	if err := r.Refresh(); err != nil {
		return nil, err
	}
	return r, nil
}

// Refresh reads what was added to the tables since they were read.
func (r *Recording) Refresh() error {
	f, err := os.Open(filepath.Join(r.Dir, "tables"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it may not be there yet; if it never is, checkTables says so
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return r.tables.read(f)
}

// Children returns the directories of the recordings within this one, of processes that were
// started later, ordered by their names.
func (r *Recording) Children() ([]string, error) {
	entries, err := os.ReadDir(r.Dir)
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, e := range entries {
		dir := filepath.Join(r.Dir, e.Name())
		if e.IsDir() && Begun(dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs, nil
}

// Distinct returns an error if two of the directories are one, by whatever names.
func Distinct(dirs []string) error {
	infos := stats(dirs)
	for i, info := range infos {
		for j, other := range infos[:i] {
			if os.SameFile(info, other) {
				return fmt.Errorf("%s and %s are the same recording: leave one out", dirs[j], dirs[i])
			}
		}
	}
	return nil
}

// Without returns the directories that are none of some others, by whatever names.
func Without(dirs, others []string) (rest []string) {
	infos := stats(others)
	for i, info := range stats(dirs) {
		if !slices.ContainsFunc(infos, func(other os.FileInfo) bool { return os.SameFile(info, other) }) {
			rest = append(rest, dirs[i])
		}
	}
	return rest
}

// stats returns what the system says of each directory, nil where it says nothing.
func stats(dirs []string) []os.FileInfo {
	infos := make([]os.FileInfo, len(dirs))
	for i, dir := range dirs {
		infos[i], _ = os.Stat(dir)
	}
	return infos
}

// callFiles returns the names of the files of records, ordered by their processors.
func (r *Recording) callFiles() ([]string, error) {
	entries, err := os.ReadDir(r.Dir)
	if err != nil {
		return nil, err
	}
	var names []string
	files := callFiles
	if r.Env.Version == format.CompactVersion {
		files = packedFiles
	}
	number := func(name string) int {
		prefix, digits, _ := strings.Cut(name, "_")
		if n, err := strconv.Atoi(digits); err == nil && prefix == files {
			return n
		}
		return -1
	}
	for _, e := range entries {
		if number(e.Name()) >= 0 && e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	sort.Slice(names, func(i, j int) bool { return number(names[i]) < number(names[j]) })
	return names, nil
}

// Damage returns what could not be read so far, ordered by file and place.
func (r *Recording) Damage() []Damage {
	r.damages.Lock()
	defer r.damages.Unlock()
	return slices.SortedFunc(slices.Values(r.damage), func(a, b Damage) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Offset, b.Offset))
	})
}

// Lost returns how many records were lost, as far as the tables and what was read of the files say.
func (r *Recording) Lost() (n uint64) {
	r.damages.Lock()
	defer r.damages.Unlock()
	all := maps.Clone(r.lost)
	if all == nil {
		all = map[int]uint64{}
	}
	for processor, n := range r.lostRead {
		all[processor] = max(all[processor], n)
	}
	for _, of := range all {
		n += of
	}
	return n
}

// noteLost takes in how many records were lost by what the files say.
func (r *Recording) noteLost(cursors []*cursor) {
	r.damages.Lock()
	defer r.damages.Unlock()
	if r.lostRead == nil {
		r.lostRead = map[int]uint64{}
	}
	for _, c := range cursors {
		r.lostRead[c.processor] = max(r.lostRead[c.processor], c.lost)
	}
}

const damageMax = 1000

// damaged notes damage, once.
func (r *Recording) damaged(d Damage) {
	place := fmt.Sprintf("%s:%d", d.File, d.Offset)
	r.damages.Lock()
	defer r.damages.Unlock()
	if r.seen[place] || len(r.damage) >= damageMax {
		return
	}
	r.seen[place] = true
	r.damage = append(r.damage, d)
}

// parseMetadata reads the byte order, the clock and env from the metadata.
func parseMetadata(text []byte) (Env, error) {
	env := Env{stringLimit: stringLimit, elemLimit: elemLimit, fieldLimit: fieldLimit, nestLimit: nestLimit}
	order, uuid := "", ""
	for line := range bytes.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimSpace(string(line)), "=")
		if !ok {
			continue
		}
		name = strings.TrimSpace(name)
		value = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), ";"))
		number, _ := strconv.ParseUint(value, 10, 64)
		limit := int(min(number, 1<<16))
		switch name {
		case "ftrace_format":
			env.Version = limit
		case "string_limit":
			env.stringLimit = limit
		case "element_limit":
			env.elemLimit = limit
		case "field_limit":
			env.fieldLimit = limit
		case "nest_limit":
			env.nestLimit = min(limit, 16)
		case "pid":
			env.PID = int(min(number, 1<<31))
		case "freq":
			env.Frequency = number
		case "byte_order":
			order = value
		case "uuid":
			uuid = strings.Trim(value, `"`)
		case "executable":
			env.Executable = escape.String(unquote(value))
		case "release":
			env.Release = escape.String(unquote(value))
		}
		if strings.HasPrefix(name, "event {") {
			break
		}
	}
	switch {
	case env.Version == 0:
		return env, errors.New("this is not the metadata of an ftrace recording, or they were cut off: env has no ftrace_format")
	case env.Version > Version:
		return env, fmt.Errorf("the recording has format %d, and this ftrace reads formats up to %d: use the ftrace that came with the program's ftrace-wrap", env.Version, Version)
	case order != "" && order != "le":
		return env, fmt.Errorf("the recording has byte order %q, and this ftrace reads little-endian ones (le)", order)
	}
	if !parseUUID(uuid, &env.UUID) {
		return env, fmt.Errorf("the recording's uuid %q is not valid", uuid)
	}
	return env, nil
}

func unquote(s string) string {
	if u, err := strconv.Unquote(s); err == nil {
		return u
	}
	return strings.Trim(s, `"`)
}

func parseUUID(s string, uuid *[16]byte) bool {
	s = strings.ReplaceAll(s, "-", "")
	if len(s) != 32 {
		return false
	}
	for i := range uuid {
		b, err := strconv.ParseUint(s[2*i:2*i+2], 16, 8)
		if err != nil {
			return false
		}
		uuid[i] = byte(b)
	}
	return true
}
