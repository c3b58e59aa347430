package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/urfave/cli/v3"

	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
)

// program is a root with a verb that has flags.
func program(out, complaints *bytes.Buffer, run func(a Args) (int, error)) *cli.Command {
	return New("prog", "do things", "\nprog does things.\n", "\nSettings:\n\n\tPROG_DIR  where\n", out, complaints, Verb(&cli.Command{
		Name: "walk", ArgsUsage: "[FLAGS] [DIR]", Usage: "walk about", Description: "\nWalk walks.\n\n\t.literal \\ text\n\nMore.\n",
		UsageText: "\n\t$ prog walk -far", Flags: flags(),
	}, Foreign([]string{"tags"}), run))
}

func flags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "far", Usage: "do not stop near"},
		&cli.IntFlag{Name: "steps", Value: 3, Usage: "make `N` steps"},
	}
}

// TestRun: what is printed, and the exit status, of good and bad arguments.
func TestRun(t *testing.T) {
	for _, c := range []struct {
		args           string
		err            error
		ends           int // what the verb returns
		status         int
		out, complaint string // the first lines
	}{
		{"", nil, 0, 2, "", "prog does things."},
		{"walk a", nil, 0, 0, "[a] [] []", ""},
		{"walk a", nil, 3, 3, "[a] [] []", ""},
		{"walk", errors.New("it rains"), 0, 1, "[] [] []", "prog: walk: it rains"},
		{"walk", errors.New("it rains"), 4, 4, "[] [] []", "prog: walk: it rains"},
		{"walk", fmt.Errorf("writing: %w", syscall.EPIPE), 0, 0, "[] [] []", ""},
		{"walk", UsageError{errors.New("no legs")}, 0, 2, "[] [] []", "prog: walk: no legs: prog help walk"},
		{"walk -steps=x", nil, 0, 2, "", `prog: walk: -steps is a whole number, not "x": prog help walk`},
		{"walk -steps", nil, 0, 2, "", "prog: walk: -steps needs a value: prog help walk"},
		{"wlak", nil, 0, 2, "", `prog: unknown command "wlak": did you mean walk?`},
		{"nonsense", nil, 0, 2, "", `prog: unknown command "nonsense": prog help lists them`},
		{"help", nil, 0, 0, "prog does things.", ""},
		{"-h", nil, 0, 0, "prog does things.", ""},
		{"-help walk", nil, 0, 0, "usage: prog walk [FLAGS] [DIR]", ""},
		{"help walk", nil, 0, 0, "usage: prog walk [FLAGS] [DIR]", ""},
		{"walk --help", nil, 0, 0, "usage: prog walk [FLAGS] [DIR]", ""},
		{"walk there --help", nil, 0, 0, "usage: prog walk [FLAGS] [DIR]", ""},
		{"completion --help", nil, 0, 0, "usage: prog completion SHELL", ""},
		{"completion bash --help", nil, 0, 0, "usage: prog completion bash", ""},
		{"help wlak", nil, 0, 2, "", "prog: help: wlak: there is no such command: did you mean walk?"},
		{"completion bash", nil, 0, 0, "# Completes prog's commands and flags in bash; other words are names of files.", ""},
		{"--generate-shell-completion", nil, 0, 0, "walk:walk about", ""},
		{"walk -f --generate-shell-completion", nil, 0, 0, "-far:do not stop near", ""},
		{"walk a --st --generate-shell-completion", nil, 0, 0, "--steps:make N steps (3 if not set)", ""},
		{"walk --generate-shell-completion", nil, 0, 0, "", ""},
		{"help --generate-shell-completion", nil, 0, 0, "walk:walk about", ""},
		{"man", nil, 0, 2, "", "prog: man: 0 directories: name one to write to: prog help man"},
		{"man /nonexistent", nil, 0, 1, "", "prog: man: open /nonexistent/prog.1: no such file or directory"},
	} {
		var out, complaints bytes.Buffer
		root := program(&out, &complaints, func(a Args) (int, error) {
			fmt.Fprintln(&out, a.Rest, a.Foreign, a.After)
			return c.ends, c.err
		})
		status := Run(root, strings.Fields(c.args))
		gotOut, _, _ := strings.Cut(out.String(), "\n")
		gotComplaint, _, _ := strings.Cut(complaints.String(), "\n")
		if status != c.status || gotOut != c.out || gotComplaint != c.complaint {
			t.Errorf("%q: status %d, out %q, complaint %q; want %d, %q, %q", c.args, status, gotOut, gotComplaint, c.status, c.out, c.complaint)
		}
	}
}

// TestParse: flags are found among other arguments, with one dash or two.
func TestParse(t *testing.T) {
	for args, want := range map[string]string{
		"":                                "false 3 [] [] []",
		"a -far b":                        "true 3 [a b] [] []",
		"--far=false -steps 4 -- -far":    "false 4 [] [] [-far]",
		"-race -tags x -mod=mod a":        "false 3 [a] [-race -tags x -mod=mod] []",
		"-steps -1 --tags=far -x=steps -": "false -1 [-] [--tags=far -x=steps] []",
		"-tags":                           "error: -tags needs a value",
		"-steps":                          "error: -steps needs a value",
		"-far=x":                          "error: -far is true or false, not \"x\"",
	} {
		flags := flags()
		a, err := Foreign([]string{"tags"}).Parse(flags, strings.Fields(args))
		got := fmt.Sprint(flags[0].Get(), " ", flags[1].Get(), a.Rest, a.Foreign, a.After)
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", args, got, want)
		}
	}
}

// TestStyles: each style tells flags from other arguments in its way.
func TestStyles(t *testing.T) {
	for _, c := range []struct {
		style      Style
		args, want string
	}{
		{Mixed, "a -far b -gait trot c", "true trot [a b c] [a b c]"},
		{Mixed, "a -- -far b", "false walk [a] [a -far b]"},
		{Mixed, "-gait=amble", "error: -gait is walk, trot or gallop, not \"amble\""},
		{Mixed, "-qz", "error: -qz is no flag of this command"},
		{Front, "-far a -gait trot -x", "true walk [a -gait trot -x] [a -gait trot -x]"},
		{Front, "-far -- -x", "true walk [] [-x]"},
		{Letters, "-qz a", "false walk [a] [a]"},
		{Letters, "-qx a", "error: -qx is no flag of this command"},
		{Raw, "-h -far", "false walk [-h -far] [-h -far]"},
	} {
		gait, far := "walk", false
		flags := []cli.Flag{Choice(&gait, "gait", "go so", "walk", "trot", "gallop"), &cli.BoolFlag{Name: "far", Destination: &far},
			&cli.BoolFlag{Name: "q"}, &cli.BoolFlag{Name: "z"}}
		a, err := c.style.Parse(flags, strings.Fields(c.args))
		got := fmt.Sprint(far, " ", gait, " ", a.Rest, " ", a.All())
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != c.want {
			t.Errorf("%q: got %q, want %q", c.args, got, c.want)
		}
	}
}

// TestUnknown: of a flag that a verb does not have is said what may be meant; of a program too,
// where one can be run without a verb.
func TestUnknown(t *testing.T) {
	for args, want := range map[string]string{
		"run -fra":           `prog: run: -fra is no flag of this command: did you mean -far? prog help run`,
		"run -steps 3":       `prog: run: -steps is no flag of this command, but of walk: prog help run`,
		"run -unlike-any":    `prog: run: -unlike-any is no flag of this command: prog help run`,
		"rum":                `prog: unknown command "rum": did you mean run? (prog run rum runs a program of that name)`,
		"./nu -far":          `runs [./nu -far]`,
		"-far ./nu":          `runs [./nu]`,
		"run ./nu -h":        `runs [./nu -h]`,
		"completion tcsh":    `prog: completion: tcsh: there is no script for this shell: those are for bash, zsh or fish: prog help completion`,
		"-fa " + completing:  `-far:not near`,
		"./nu " + completing: ``,
	} {
		var out bytes.Buffer
		root := program(&out, &out, nil)
		root.DefaultCommand = "run"
		root.Commands = append(root.Commands, Verb(&cli.Command{Name: "run", Flags: []cli.Flag{&cli.BoolFlag{Name: "far", Usage: "not near"}}}, Front,
			func(a Args) (int, error) {
				fmt.Fprintln(&out, "runs", a.Rest)
				return 0, nil
			}))
		Run(root, strings.Fields(args))
		if got := strings.TrimSpace(out.String()); got != want {
			t.Errorf("%q: got %q, want %q", args, got, want)
		}
	}
}

const wantHelp = `usage: prog walk [FLAGS] [DIR]

Walk walks.

	.literal \ text

More.

Flags:

	-far      do not stop near
	-steps N  make N steps (3 if not set)

Examples:

	$ prog walk -far
`

const wantPage = `.TH "PROG-WALK" 1
.SH NAME
prog\-walk \- walk about
.SH SYNOPSIS
.B prog walk [FLAGS] [DIR]
.SH DESCRIPTION
Walk walks.
.PP
.RS 4
.nf
\&.literal \e text

.fi
.RE
.PP
More.
.SH OPTIONS
.TP
\fB\-far\fR 
do not stop near
.TP
\fB\-steps\fR N
make N steps (3 if not set)
.SH EXAMPLES
.RS 4
.nf
$ prog walk \-far
.fi
.RE
.SH SEE ALSO
\fBprog\fR(1)
`

// TestPages: help and manual are made from a verb's declaration, and man understands each page.
func TestPages(t *testing.T) {
	var out bytes.Buffer
	dir := t.TempDir()
	if status := Run(program(&out, &out, nil), []string{"help", "walk"}); status != 0 || out.String() != wantHelp {
		t.Errorf("status %d, help:\n%s\nwant:\n%s", status, &out, wantHelp)
	}
	out.Reset()
	if status := Run(program(&out, &out, nil), []string{"man", dir}); status != 0 || out.Len() > 0 {
		t.Fatalf("status %d, %s", status, &out)
	}
	page, err := os.ReadFile(filepath.Join(dir, "prog-walk.1"))
	if err != nil || string(page) != wantPage {
		t.Errorf("%v, page:\n%s\nwant:\n%s", err, page, wantPage)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil || len(pages) < 4 {
		t.Errorf("%v, %v", pages, err)
	}
	t.Run("groff", func(t *testing.T) {
		testenv.Need(t, "groff")
		for _, name := range pages {
			if out, err := exec.Command("groff", "-man", "-Tutf8", "-ww", "-z", name).CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%s: %v\n%s", name, err, out)
			}
		}
	})
}
