package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/screen"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/progress"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// defaultDir is where record puts a recording, and where the other verbs look for one.
const defaultDir = "ftrace.data"

// options are what the verbs that read recordings have in common.
type options struct {
	verb       string
	flags      *flag.FlagSet
	rules      string
	goroutines string
	from, to   time.Duration
	colour     string
	pager      bool
	json       bool
	children   bool
}

// newOptions returns the options of a verb, to which it adds its own.
func newOptions(verb string) *options {
	o := &options{verb: verb, flags: flag.NewFlagSet(verb, flag.ContinueOnError)}
	o.flags.SetOutput(io.Discard)
	o.flags.StringVar(&o.rules, "f", "", "")
	o.flags.StringVar(&o.goroutines, "g", "", "")
	o.flags.DurationVar(&o.from, "from", 0, "")
	o.flags.DurationVar(&o.to, "to", 0, "")
	o.flags.StringVar(&o.colour, "color", "auto", "")
	o.flags.BoolVar(&o.pager, "pager", true, "")
	o.flags.BoolVar(&o.json, "json", false, "")
	o.flags.BoolVar(&o.children, "children", false, "")
	return o
}

// parse reads the arguments of a verb, flags and others in any order, and returns the others.
func (o *options) parse(args []string) ([]string, error) {
	var rest []string
	for {
		if err := o.flags.Parse(args); err != nil {
			return nil, usageError{err}
		}
		args = o.flags.Args()
		if len(args) == 0 {
			break
		}
		rest = append(rest, args[0])
		args = args[1:]
	}
	switch {
	case o.from < 0 || o.to < 0 || o.to != 0 && o.to < o.from:
		return nil, usagef("-from %v -to %v: that is no time", o.from, o.to)
	case o.children && !withChildren[o.verb]:
		return nil, usagef("-children is for replay, report and info: name the recording of a process: DIR/PID")
	case o.colour != "auto" && o.colour != "always" && o.colour != "never":
		return nil, usagef("-color is auto, always or never, not %q", o.colour)
	}
	return rest, nil
}

// open opens the recording that the arguments name, at most one.
func (o *options) open(args []string) (*recording.Recording, error) {
	if len(args) > 1 {
		return nil, usagef("there is more than one recording: %s", strings.Join(args, " "))
	}
	dir := defaultDir
	if len(args) == 1 {
		dir = args[0]
	}
	r, err := recording.Open(dir)
	if err != nil {
		return nil, err
	}
	if children, _ := r.Children(); len(children) > 0 && !o.children && o.verb != "info" && o.verb != "compact" {
		how := "ftrace info names them"
		if withChildren[o.verb] {
			how = "-children takes them in"
		}
		fmt.Fprintf(stderr, "ftrace: %s: other processes recorded within it, %d: %s\n", dir, len(children), how)
	}
	return r, nil
}

// withChildren are the verbs that show what a recording has within it too.
var withChildren = map[string]bool{"replay": true, "report": true, "info": true}

// family returns a recording and, if the options ask for children, those within it.
func (o *options) family(r *recording.Recording) ([]*recording.Recording, error) {
	list := []*recording.Recording{r}
	for i := 0; o.children && i < len(list); i++ {
		dirs, err := list[i].Children()
		if err != nil {
			return nil, err
		}
		for _, dir := range dirs {
			child, err := recording.Open(dir)
			if err != nil {
				fmt.Fprintf(stderr, "ftrace: left out: %v\n", err)
				continue
			}
			list = append(list, child)
		}
	}
	return list, nil
}

// source returns what of a recording the options ask for.
func (o *options) source(r *recording.Recording) (walk.Source, error) {
	from := walk.Source{Recording: r, Window: o.window(r), Progress: bar(o.verb)}
	if o.rules != "" {
		rules, err := walk.NewRules(o.rules, r, "the recording")
		if err != nil {
			return from, usageError{err}
		}
		if rules.Redacts() {
			return from, usageError{errors.New("-f: redact= is for programs that run: what was hidden when they were recorded is not in the recording, and all else is")}
		}
		for _, c := range rules.Idle() {
			fmt.Fprintln(stderr, "ftrace: -f:", c)
		}
		from.Rules = rules
	}
	if o.goroutines != "" {
		from.Only = map[uint64]bool{}
		for s := range strings.SplitSeq(o.goroutines, ",") {
			n, err := strconv.ParseUint(strings.TrimPrefix(strings.TrimSpace(s), "G"), 10, 64)
			if err != nil {
				return from, usagef("-g: %q is no goroutine (such as 1, or G7)", s)
			}
			from.Only[n] = true
		}
	}
	return from, nil
}

// openSource opens the recording that the arguments name.
func (o *options) openSource(args ...string) (walk.Source, error) {
	r, err := o.open(args)
	if err != nil {
		return walk.Source{}, err
	}
	return o.source(r)
}

// openFamily opens the recording that the arguments name and, if the options ask for children,
// those within it.
func (o *options) openFamily(args []string) ([]walk.Source, error) {
	r, err := o.open(args)
	if err != nil {
		return nil, err
	}
	family, err := o.family(r)
	if err != nil {
		return nil, err
	}
	var list []walk.Source
	for _, r := range family {
		from, err := o.source(r)
		if err != nil {
			return nil, err
		}
		list = append(list, from)
	}
	return list, nil
}

// window returns the part of a recording that is wanted. It says so on stderr if there are no
// events in it.
func (o *options) window(r *recording.Recording) recording.Window {
	var window recording.Window
	c := r.Converter()
	if o.from > 0 {
		window.From = c.Ticks(o.from)
	}
	if o.to > 0 {
		window.To = c.Ticks(o.to)
	}
	if window != (recording.Window{}) {
		s := r.Events(window)
		if !s.Next(&recording.Event{}) && s.Err() == nil {
			fmt.Fprintln(stderr, "ftrace: in the time that -from and -to say the recording has no events; ftrace info tells how long it is")
		}
		s.Close()
	}
	return window
}

// coloured reports whether output that goes to f is to have colours.
func (o *options) coloured(terminal bool) bool {
	return o.colour == "always" || o.colour == "auto" && terminal && os.Getenv("NO_COLOR") == ""
}

// output is where a verb's output goes: stdout, by a pager if that is a terminal. What can't be
// shown does not get there.
type output struct {
	*screen.Writer
	terminal bool
	pager    *exec.Cmd
	pipe     io.Closer
}

// output begins the output.
func (o *options) output() *output {
	form := screen.Text
	if o.json {
		form = screen.JSON
	}
	out := &output{Writer: stdout.As(form), terminal: atTerminal()}
	if !out.terminal || !o.pager {
		return out
	}
	words := strings.Fields(os.Getenv("PAGER"))
	if len(words) == 0 {
		words = []string{"less"}
	}
	cmd := exec.Command(words[0], words[1:]...)
	inherits(cmd)
	cmd.Stdin = nil
	cmd.Env = os.Environ()
	if os.Getenv("LESS") == "" {
		cmd.Env = append(cmd.Env, "LESS=FRSX")
	}
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return out
	}
	if cmd.Start() != nil {
		pipe.Close()
		return out // there is no pager
	}
	out.Writer, out.pager, out.pipe = screen.New(pipe, form), cmd, pipe
	return out
}

// isTerminal reports whether a file is a terminal on which lines can be changed.
func isTerminal(info os.FileInfo) bool {
	return info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb" && info.Mode()&os.ModeDevice != 0 && !isNull(info)
}

// isNull reports whether a file is /dev/null, which is a character device too.
func isNull(info os.FileInfo) bool {
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(null, info)
}

// close ends the output: it waits for the pager.
func (out *output) close() {
	if out.pager != nil {
		out.pipe.Close()
		out.pager.Wait()
	}
}

// complain says on stderr what of recordings could not be read.
func complain(family ...walk.Source) {
	for _, from := range family {
		walk.Complain(stderr, from.Recording)
	}
}

// bar returns what shows on stderr how far a verb is, nil if that is no terminal.
func bar(verb string) func(all int64, done func() int64) (end func()) {
	_, file := files()
	if info, err := file.Stat(); err != nil || !isTerminal(info) {
		return nil
	}
	return progress.On(file, "ftrace "+verb)
}
