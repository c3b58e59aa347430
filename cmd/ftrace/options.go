package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/listen"
	"github.com/ftrace-wrap/ftrace-wrap/internal/progress"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/screen"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// defaultDir is where record puts a recording, and where the other verbs look for one.
const defaultDir = "ftrace.data"

// options are what the verbs that read recordings have in common.
type options struct {
	verb       string
	within     string // what the user can do about recordings within the one that is read; "": it is shown
	rules      string
	goroutines string
	from, to   moment
	colour     string
	pager      bool
	json       bool
	children   bool
	trace      string
}

const (
	takesIn = "-children takes them in"
	named   = "ftrace info names them"
)

// sourceFlags declares the flags that say what of a recording is read.
func (o *options) sourceFlags() []cli.Flag {
	return slices.Concat([]cli.Flag{
		&cli.StringFlag{Name: "f", Destination: &o.rules, Usage: "show what FTRACE=`RULES` would have shown (docs/rules.md)"},
	}, o.timeFlags(), []cli.Flag{
		&cli.StringFlag{Name: "g", Destination: &o.goroutines, Usage: "show only the goroutines with the numbers `N,N...`"},
	})
}

// timeFlags declares the flags that say which part of a recording is read.
func (o *options) timeFlags() []cli.Flag {
	return []cli.Flag{
		&momentFlag{cli.StringFlag{Name: "from", Usage: "leave out what was before this `TIME`, since the recording began (1.5s, 20ms) or of the clock (16:04:05)"}, &o.from},
		&momentFlag{cli.StringFlag{Name: "to", Usage: "leave out what was after this `TIME`"}, &o.to},
	}
}

// outputFlags declares the flags that say how something is shown.
func (o *options) outputFlags() []cli.Flag {
	o.colour = "auto"
	return []cli.Flag{
		o.jsonFlag(),
		command.Choice(&o.colour, "color", "`WHEN` to have colours", "auto", "always", "never"),
		&cli.BoolFlag{Name: "pager", Value: true, Destination: &o.pager, Usage: "show by $PAGER what goes to a terminal; -pager=false: do not"},
	}
}

func (o *options) jsonFlag() cli.Flag {
	return &cli.BoolFlag{Name: "json", Destination: &o.json, Usage: "write JSON lines in place of text, times in ns"}
}

func (o *options) childrenFlag() cli.Flag {
	return &cli.BoolFlag{Name: "children", Destination: &o.children, Usage: "show also what child processes recorded within the recording"}
}

func (o *options) traceFlag() cli.Flag {
	return &cli.StringFlag{Name: "trace", Destination: &o.trace, Usage: "show only what was done for the trace whose `ID` begins so (docs/distributed.md)"}
}

// rulesFlag declares -f of a program that runs.
func rulesFlag(rules *string, usage string) cli.Flag {
	return &cli.StringFlag{Name: "f", Destination: rules, Validator: walk.CheckRules, Usage: usage}
}

// wronglyUsed returns an error of listening so that it ends with the verb's help, if the options
// are to blame.
func wronglyUsed(err error) error {
	if errors.As(err, new(listen.UsageError)) {
		return command.UsageError{Err: err}
	}
	return err
}

// open opens the recording that the arguments name, at most one.
func (o *options) open(args []string) (*recording.Recording, error) {
	if len(args) > 1 {
		return nil, command.Usagef("there is more than one recording: %s: name one", strings.Join(args, " "))
	}
	dir := defaultDir
	if len(args) == 1 {
		dir = args[0]
	}
	all, err := o.openAll([]string{dir})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// openAll opens the recordings in some directories. It says so if there are others within them, and
// what the user can do about those.
func (o *options) openAll(dirs []string) ([]*recording.Recording, error) {
	if err := recording.Distinct(dirs); err != nil {
		return nil, err
	}
	var all []*recording.Recording
	for _, dir := range dirs {
		r, err := recording.Open(dir)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
		if o.children || o.within == "" {
			continue
		}
		children, _ := r.Children()
		if n := len(recording.Without(children, dirs)); n > 0 {
			fmt.Fprintf(stderr, "ftrace: %s: other processes recorded within it, %d: %s\n", dir, n, o.within)
		}
	}
	return all, nil
}

// source returns what of a recording the options ask for.
func (o *options) source(r *recording.Recording) (walk.Source, error) {
	window, err := o.window(r)
	if err != nil {
		return walk.Source{}, err
	}
	from := walk.Source{Recording: r, Window: window, Progress: bar(o.verb)}
	if o.rules != "" {
		rules, err := walk.NewRules(o.rules, r, "the recording")
		if err != nil {
			return from, command.UsageError{Err: err}
		}
		if rules.Redacts() {
			return from, command.Usagef("-f: redact= is for programs that run: what was hidden when they were recorded is not in the recording, and all else is: leave it out")
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
				return from, command.Usagef("-g: %q is no goroutine (such as 1, or G7)", s)
			}
			from.Only[n] = true
		}
	}
	return from, nil
}

// times returns the part of a recording that is wanted, as times since it began. 0: no limit. An
// error says that -from and -to leave nothing.
func (o *options) times(r *recording.Recording) (from, to time.Duration, err error) {
	c := r.Converter()
	began := c.Wall(c.Ticks(0))
	from = o.from.after(began)
	if o.to != (moment{}) {
		to = max(o.to.after(began), 1)
		if to < from {
			err = command.Usagef("-from %s is after -to %s: leave one out, or change it", o.from.text, o.to.text)
		}
	}
	return from, to, err
}

// openSource opens the recording that the arguments name.
func (o *options) openSource(args ...string) (walk.Source, error) {
	r, err := o.open(args)
	if err != nil {
		return walk.Source{}, err
	}
	return o.source(r)
}

// openFamily opens the recordings that the arguments name and, if the options ask for children,
// those within them. If it reads which requests these have, it returns that too.
func (o *options) openFamily(args []string) (list []walk.Source, traces *walk.Traces, err error) {
	if len(args) == 0 {
		args = []string{defaultDir}
	}
	family, err := o.openAll(args)
	if err != nil {
		return nil, nil, err
	}
	for i := 0; o.children && i < len(family); i++ {
		dirs, err := family[i].Children()
		if err != nil {
			return nil, nil, err
		}
		for _, dir := range recording.Without(dirs, args) {
			if r, err := recording.Open(dir); err == nil {
				family = append(family, r)
			} else {
				fmt.Fprintf(stderr, "ftrace: a recording within it is left out: %v\n", err)
			}
		}
	}
	stretches := make([]map[uint64][]walk.Stretch, len(family))
	if len(family) > 1 || o.trace != "" {
		if traces, err = walk.NewTraces(context.Background(), family); err != nil {
			return nil, nil, err
		}
		traces.Align(stderr)
		if o.trace != "" {
			if stretches, err = traces.Find(o.trace); err != nil {
				return nil, nil, err
			}
		}
	}
	for i, r := range family {
		from, err := o.source(r)
		if err != nil {
			return nil, nil, err
		}
		from.Stretches = stretches[i]
		list = append(list, from)
	}
	return list, traces, nil
}

// window returns the part of a recording that is wanted. It says so on stderr if there are no
// events in it.
func (o *options) window(r *recording.Recording) (window recording.Window, err error) {
	from, to, err := o.times(r)
	if err != nil {
		return window, err
	}
	c := r.Converter()
	if from > 0 {
		window.From = c.Ticks(from)
	}
	if to > 0 {
		window.To = c.Ticks(to)
	}
	if window != (recording.Window{}) {
		s := r.Events(window)
		if !s.Next(&recording.Event{}) && s.Err() == nil {
			fmt.Fprintln(stderr, "ftrace: in the time that -from and -to say the recording has no events; ftrace info tells how long it is")
		}
		s.Close()
	}
	return window, nil
}

// coloured reports whether output that goes to f is to have colours.
func (o *options) coloured(terminal bool) bool {
	return o.colour == "always" || o.colour == "auto" && terminal && os.Getenv("NO_COLOR") == ""
}

// form returns how lines are printed.
func (o *options) form() screen.Form {
	if o.json {
		return screen.JSON
	}
	return screen.Text
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
	out := &output{Writer: stdout.As(o.form()), terminal: atTerminal()}
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
	out.Writer, out.pager, out.pipe = screen.New(pipe, o.form()), cmd, pipe
	return out
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
	if !screen.Terminal(file) {
		return nil
	}
	return progress.New(file, true).Bar("ftrace " + verb)
}
