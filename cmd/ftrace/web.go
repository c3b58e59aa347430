package main

import (
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/urfave/cli/v3"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/ownfile"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/web"
)

// webVerb shows a recording as a page in a browser.
func webVerb() *cli.Command {
	o := options{verb: "web", within: "name their directories too, to have all of them on one timeline"}
	var w web.Options
	var browser bool
	var file string
	var follows followed
	return command.Verb(&cli.Command{
		Name: "web", ArgsUsage: "[FLAGS] [DIR ...], or ftrace web [FLAGS] PID|NAME", Usage: "show a recording, or a running program, as a page in a browser: a timeline, the trace, tables",
		Description: `
Web serves a page that shows a recording: a timeline of each goroutine's calls, with
requests and statements above them, the text of the trace with a search, the source of a
call with its values, and tables and flame graphs, also of a part of the time and in
pprof's pages. It says who waits for whom, and has consoles for SQL and D, which only
read.

Recordings of several processes are on one timeline, with arrows from the requests that
one of them makes to the other that serves them, if these carried their traces
(FTRACE_PROPAGATE=on). Then times are moved where the clocks of two machines differ. Two
recordings can be compared: their functions, a flame graph of both, and where they part,
as ftrace diff says it.

Of a large recording it keeps what it has found out in the recording's directory, in
.web-index, for the next start.

Of a running program it shows what is called from then on, and goes on showing it. The
program records to a temporary directory, as for ftrace attach, within a budget. What
is older than the last -keep megabytes goes. The first Ctrl-C ends that the program
records, and the page stays. With -control the page can change which functions are
recorded.

It writes the page's URL, and opens it. Nobody gets the page who does not have all of
the URL, and no other machine does. It ends by Ctrl-C or SIGTERM. With -o it writes the
page as a file of HTML instead, which needs no server, of all of a recording or of a
part of the time.`,
		UsageText: `
	$ ftrace web
	$ ftrace web -src ~/src/app app.data
	$ ftrace web -open=false -addr 127.0.0.1:8080 old.data
	$ ftrace web shop.data stock.data
	$ ftrace web good.data bad.data
	$ ftrace web -f 'main.*;wait/*' server
	$ ftrace web -o slow.html -from 1.2s -to 1.3s`,
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "addr", Value: "127.0.0.1:0", Destination: &w.Address, Usage: "listen at `ADDR` of this machine: HOST:PORT or :PORT; port 0 is a free one"},
			&cli.StringFlag{Name: "src", Value: ".", Destination: &w.Source, Usage: "look in `DIR`, that of the program's module, for source that is not where it was when the program was built"},
			&cli.BoolFlag{Name: "open", Value: true, Destination: &browser, Usage: "open the page in a browser; -open=false: write its URL alone"},
			&cli.StringFlag{Name: "o", Destination: &file, Usage: "write the page to `FILE`, which any browser opens, and serve nothing"},
		}, follows.flags(), recordingFlags(&w.Kept), o.timeFlags()),
	}, command.Mixed, func(a command.Args) (status int, err error) {
		if os.Getenv("GOGC") == "" {
			debug.SetGCPercent(50) // most of the memory is an index, which makes little garbage
		}
		dirs := a.All()
		if len(dirs) == 1 && isProcess(dirs[0]) {
			if file != "" || o.from != (moment{}) || o.to != (moment{}) {
				return 0, command.Usagef("-o, -from and -to are for a recording: ftrace attach -o makes one of a running program")
			}
			if browser {
				w.Open = openPage
			}
			return 0, follows.run(dirs[0], w)
		}
		if err := follows.none(); err != nil {
			return 0, err
		}
		if len(dirs) == 0 {
			dirs = []string{defaultDir}
		}
		w.Progress = bar(o.verb)
		if file != "" {
			return 0, savePage(&o, file, dirs, w)
		}
		if o.from != (moment{}) || o.to != (moment{}) {
			return 0, command.Usagef("-from and -to are for a file: -o names it; the page shows all of the recording")
		}
		if _, err := o.openAll(dirs); err != nil {
			return 0, err
		}
		if browser {
			w.Open = openPage
		}
		server, err := web.Listen(dirs, w)
		if err != nil {
			return 0, wronglyUsed(err)
		}
		return 0, server.Run(stdout, stderr)
	})
}

// savePage writes the page of a recording to a file.
func savePage(o *options, file string, dirs []string, w web.Options) error {
	r, err := o.open(dirs)
	if err != nil {
		return err
	}
	from, to, err := o.times(r)
	if err != nil {
		return err
	}
	f, err := ownfile.Replace(file) // what programs were given may be secret
	if err != nil {
		return err
	}
	defer f.Close()
	r, err = web.Save(f, r.Dir, w, int64(from), int64(to))
	if err != nil {
		return err
	}
	complain(walk.Source{Recording: r})
	return f.Commit()
}

// openPage opens a page in the user's browser.
func openPage(url string) error {
	var cmd *exec.Cmd
	switch runtime.GOOS {
	case "darwin":
		cmd = exec.Command("open", url)
	case "windows":
		cmd = exec.Command("rundll32", "url.dll,FileProtocolHandler", url)
	default:
		cmd = exec.Command("xdg-open", url)
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	go cmd.Wait()
	return nil
}
