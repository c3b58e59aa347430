// Command logrus logs in every format to standard output, with callers, hooks and panics, and exits 3.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/sirupsen/logrus"
)

type countHook map[logrus.Level]int

func (h countHook) Levels() []logrus.Level     { return logrus.AllLevels }
func (h countHook) Fire(e *logrus.Entry) error { h[e.Level]++; return nil }

func prettify(f *runtime.Frame) (function, file string) {
	return f.Function, fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
}

func main() {
	hook := countHook{}
	for _, f := range []logrus.Formatter{
		&logrus.TextFormatter{DisableTimestamp: true, DisableColors: true, CallerPrettyfier: prettify},
		&logrus.TextFormatter{DisableTimestamp: true, ForceColors: true, PadLevelText: true, CallerPrettyfier: prettify},
		&logrus.JSONFormatter{DisableTimestamp: true, CallerPrettyfier: prettify},
	} {
		log := logrus.New()
		log.Out, log.Formatter, log.Level = os.Stdout, f, logrus.TraceLevel
		log.ExitFunc = func(code int) { fmt.Println("exit", code) }
		log.ReportCaller = true
		log.AddHook(hook)
		entry := log.WithFields(logrus.Fields{"animal": "walrus", "n": 3, "q": "a b=\"c\""})
		for _, level := range logrus.AllLevels[2:] {
			entry.Logf(level, "at %v", level)
		}
		entry.WithError(errors.New("broken")).Warnln("one", 2, nil)
		func() {
			defer func() { fmt.Printf("recovered %T\n", recover()) }()
			entry.Panic("panicking")
		}()
		entry.Fatal("fatal")
	}
	fmt.Println(hook)
	os.Exit(3)
}
