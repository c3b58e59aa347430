package export

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/text"
)

// waitValues returns what there is to say of a wait beside its times.
func waitValues(r *recording.Recording, clock recording.Converter, e *recording.Event) (list []recording.Value) {
	w := e.Wait()
	add := func(name, text string) { list = append(list, recording.Value{Name: name, Text: text}) }
	add("wait", fmt.Sprint(e.Call))
	if object := text.AppendObject(nil, r, e.Function, w.Object, 0); len(object) > 0 {
		add("object", string(object))
	}
	if others := e.Others(); others != nil {
		var list []byte
		for i, channel := range others {
			if i > 0 {
				list = append(list, ", "...)
			}
			list = text.AppendObject(list, r, e.Function, channel, 0)
		}
		add("other channels", string(list))
	}
	if done := recording.Operation(w.Operation); done != 0 {
		add("operation", done.Name())
		if n, ok := done.Bytes(); ok {
			add("bytes", fmt.Sprint(n))
		}
	}
	if site := r.Site(w.Site); site != nil {
		add("at", fmt.Sprintf("%s (%s:%d)", site.Function, filepath.Base(site.File), site.Line))
	}
	if w.Goroutine != 0 {
		by := fmt.Sprintf("G%d", w.Goroutine)
		if w.Function != 0 {
			by += fmt.Sprintf(" %s #%d", r.Function(w.Function).FullName(), w.Call)
		}
		add("ended by", by)
	}
	if w.Ready != 0 {
		add("runnable", string(recording.AppendDuration(nil, int64(clock.Between(w.Ready, e.Ticks)))))
	}
	if e.Call == 0 {
		add("end", "not seen")
	}
	return list
}

// waitColour returns the name of the colour that Chrome has for waits of a kind.
func waitColour(kind *recording.Function) string {
	if strings.HasPrefix(kind.Name, "io/") {
		return "thread_state_iowait"
	}
	return "thread_state_sleeping"
}
