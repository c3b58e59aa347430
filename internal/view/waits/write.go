package waits

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/text"
	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// Write writes what there is to tell.
func (ws *Waits) Write(out io.Writer, o Options) error {
	b := bufio.NewWriter(out)
	if o.JSON {
		ws.writeJSON(b, o)
	} else {
		ws.write(b, o)
	}
	return b.Flush()
}

func (ws *Waits) lasted(ticks uint64) string {
	return string(recording.AppendDuration(nil, int64(ws.clock.Between(0, ticks))))
}

// since returns when something was, from the start of the recording on.
func (ws *Waits) since(ticks uint64) string {
	return string(recording.AppendDuration(nil, int64(ws.clock.Since(ticks))))
}

func (ws *Waits) callName(c call) string {
	return fmt.Sprintf("%s #%d", ws.r.Function(c.function).FullName(), c.number)
}

// objectName returns what was waited for, as replay has it, and after that its name if it is known.
// The name is left out if it is that of the site, which the line says.
func (ws *Waits) objectName(kind uint32, object uint64, site uint32) string {
	f := ws.r.Function(kind)
	name := text.AppendObject(append([]byte(f.FullName()), '('), ws.r, kind, object, 0)
	if called := ws.calledAt(kind, object, site); called != "" {
		name = append(append(name, ' '), called...)
	}
	return string(append(name, ')'))
}

// called returns the name of an object that is no file, or "" if it is not known.
func (ws *Waits) called(kind uint32, object uint64) string {
	if text.OfFile(ws.r.Function(kind)) {
		return ""
	}
	return ws.named.Name(object, ws.variables.Variable)
}

// calledAt returns the name of an object that is no file, or "" if it is that of a site.
func (ws *Waits) calledAt(kind uint32, object uint64, site uint32) string {
	called := ws.called(kind, object)
	if at := ws.r.Site(site); at != nil && called == recording.PlaceName(at.Function, at.File, at.Line) {
		return ""
	}
	return called
}

func (ws *Waits) siteName(number uint32) string {
	site := ws.r.Site(number)
	if site == nil {
		return "an unknown place"
	}
	return fmt.Sprintf("%s (%s:%d)", site.Function, path.Base(site.File), site.Line)
}

// kindName returns a kind's name without what all have in common.
func (ws *Waits) kindName(kind uint32) string {
	return strings.TrimPrefix(ws.r.Function(kind).Name, "synch/")
}

// write writes text.
func (ws *Waits) write(out io.Writer, o Options) {
	objects := ws.objects(o.Rows == 0)
	if !ws.any {
		fmt.Fprintln(out, "No waits were recorded: FTRACE='main.*;wait/*' records those of all kinds (docs/waits.md)")
		return
	}
	var all tally
	for _, object := range objects {
		all.n += object.n
		all.total += object.total
	}
	text.WriteCycles(out, ws.cycles(), func(id uint64) string { return ws.awaits(ws.goroutines[id]) })
	fmt.Fprintf(out, "%s of %s, %s in all, within %s\n", words.Count(int(all.n), "wait"), words.Count(len(ws.goroutines), "goroutine"), ws.lasted(all.total), ws.lasted(ws.last-ws.first))
	ws.writeStill(out, o.Rows)
	ws.writeObjects(out, objects, o.Rows)
	ws.writeChain(out, o.Rows)
	ws.writeTimes(out, "wall", "goroutine", ws.byGoroutine(), o.Rows)
	ws.writeTimes(out, "self", "function", ws.byFunction(), o.Rows)
}

// left says how many rows are left out.
func left(out io.Writer, all, rows int) {
	if rows > 0 && all > rows {
		fmt.Fprintf(out, "... and %d more (-n 0 shows all)\n", all-rows)
	}
}

// writeStill writes what goroutines waited for at the end, and who was on the other side of that.
// Then it writes which were silent: one whose wait was not recorded, or that ran.
func (ws *Waits) writeStill(out io.Writer, rows int) {
	waiting, silent := ws.still()
	ws.writeGroups(out, "\nWaiting at the end:", waiting, rows, func(g *goroutine) (ticks uint64, line string, more []string) {
		w := g.open()
		more = ws.heldBy(g)
		for _, before := range ws.before(w) {
			more = append(more, "before, "+ws.who(before.goroutine, before.in)+" waited for it ("+ws.kindName(before.kind)+")"+ws.endedBy(before))
		}
		return w.end - w.begin, ws.stack(g) + ": " + ws.awaits(g), more
	})
	ws.writeGroups(out, "\nNot ended, and silent until the end: they run, or wait for what was not recorded.", silent, rows, func(g *goroutine) (ticks uint64, line string, more []string) {
		in := g.under[len(g.under)-1]
		if woke := ws.lastBy[in.function]; woke != nil {
			more = append(more, "before, it woke "+ws.who(woke.goroutine, woke.in)+", which waited for "+ws.placeName(woke))
		}
		if there := ws.lastIn[in.function]; there != nil {
			more = append(more, "before, "+ws.who(there.goroutine, there.in)+" waited there for "+ws.placeName(there)+ws.endedBy(there))
		}
		return ws.last - g.last, ws.stack(g), more
	})
}

// awaits returns what a goroutine waits for at the end, and where.
func (ws *Waits) awaits(g *goroutine) string {
	w := g.open()
	name := strings.TrimSuffix(ws.objectName(w.kind, w.object, w.site), ")")
	for _, channel := range g.others {
		name += fmt.Sprintf(", %#x", channel)
		if called := ws.calledAt(w.kind, channel, w.site); called != "" {
			name += " " + called
		}
	}
	return name + ") at " + ws.siteName(w.site)
}

// heldBy returns a line for each goroutine that holds the lock for which one waits at the end, with
// what that one waits for.
func (ws *Waits) heldBy(g *goroutine) (lines []string) {
	holders := g.holders()
	for i := range holders {
		if i == heldShown {
			return append(lines, fmt.Sprintf("held by %d more", len(holders)-i))
		}
		lines = append(lines, ws.holder(&holders[i], map[uint64]bool{g.id: true}))
	}
	return lines
}

const heldShown = 4 // holders of a lock that are listed

// holder tells of a goroutine that holds a lock, and of those that it waits for. Those in told are
// known already.
func (ws *Waits) holder(h *blocked, told map[uint64]bool) string {
	said := fmt.Sprintf("held by G%d", h.Goroutine)
	if told[h.Goroutine] {
		return said
	}
	told[h.Goroutine] = true
	if h.Function != 0 {
		said += " in " + ws.callName(call{h.Function, h.Call})
	}
	said += " for " + ws.lasted(ws.last-min(h.Since, ws.last))
	if h.Mode == format.HoldRead {
		said += " for reading"
	}
	g := ws.goroutines[h.Goroutine]
	switch {
	case g == nil:
		return said
	case g.ended:
		return said + ", which has ended"
	case g.waitsSince(h.at) == nil:
		return said
	}
	said += ", which waits for " + ws.awaits(g)
	if by := g.holders(); len(by) > 0 {
		said += ", " + ws.holder(&by[0], told)
	}
	return said
}

// writeGroups writes a row for goroutines that are in the same functions, and what say has of the
// first.
func (ws *Waits) writeGroups(out io.Writer, title string, list []*goroutine, rows int, say func(*goroutine) (ticks uint64, line string, more []string)) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintln(out, title)
	var firsts []*goroutine
	others := map[string][]string{}
	for _, g := range list {
		path := ws.path(g)
		if others[path] = append(others[path], fmt.Sprintf("G%d", g.id)); len(others[path]) == 1 {
			firsts = append(firsts, g)
		}
	}
	var table [][]string
	for _, g := range text.Rows(firsts, rows) {
		ticks, line, more := say(g)
		if same := others[ws.path(g)][1:]; len(same) > 0 {
			line += "; likewise " + strings.Join(text.Rows(same, likewise), ", ")
			if len(same) > likewise {
				line += fmt.Sprintf(" and %d more", len(same)-likewise)
			}
		}
		table = append(table, []string{ws.lasted(ticks), line})
		for _, line := range more {
			table = append(table, []string{"", "  " + line})
		}
	}
	text.Table(out, table)
	left(out, len(firsts), rows)
}

const likewise = 8 // goroutines that are named beside the one that a row is about

// path returns what tells apart goroutines in other functions, or that wait for other things.
func (ws *Waits) path(g *goroutine) string {
	var b strings.Builder
	for _, c := range g.under {
		fmt.Fprint(&b, c.function, " ")
	}
	if w := g.open(); w != nil {
		fmt.Fprint(&b, w.kind, w.site, w.object)
	}
	return b.String()
}

// stack returns the calls that a goroutine is in.
func (ws *Waits) stack(g *goroutine) string {
	name := fmt.Sprintf("G%d", g.id)
	for i, c := range g.under {
		name += []string{" in ", " > "}[min(i, 1)] + ws.callName(c)
	}
	return name
}

// who names a goroutine in a call, and what became of them.
func (ws *Waits) who(id uint64, in call) string {
	name, became := fmt.Sprintf("G%d", id), ""
	g := ws.goroutines[id]
	switch {
	case g != nil && g.ended:
		became = " (has ended)"
	case in.function == 0:
	case g != nil && slices.Contains(g.under, in):
		became = " (still in it)"
	default:
		became = " (has returned)"
	}
	if in.function != 0 {
		name += " in " + ws.callName(in)
	}
	return name + became
}

// nameOf is called, with the names of files.
func (ws *Waits) nameOf(kind uint32, object uint64) string {
	return cmp.Or(ws.called(kind, object), ws.r.File(object))
}

// endedBy returns who ended a wait; "" if none did.
func (ws *Waits) endedBy(w *wait) string {
	if w.by == 0 {
		return ""
	}
	return ", ended by " + ws.who(w.by, w.byCall)
}

// placeName returns what a wait was for, and where it was.
func (ws *Waits) placeName(w *wait) string {
	return ws.objectName(w.kind, w.object, w.site) + " at " + ws.siteName(w.site)
}

const subRows = 3 // sites of an object, and who ended its waits

// writeObjects writes what was waited for most, where, and who ended that.
func (ws *Waits) writeObjects(out io.Writer, objects []*objectWaits, rows int) {
	fmt.Fprintln(out, "\nWaited for most. At once: how many goroutines did on average.")
	table := [][]string{{"total", "waits", "longest", "at once", ""}}
	for _, o := range text.Rows(objects, rows) {
		row := func(t *tally, name string) {
			table = append(table, []string{ws.lasted(t.total), fmt.Sprint(t.n), ws.lasted(t.longest), "", name})
		}
		sites, only := most(o.sites), uint32(0)
		if len(sites) == 1 {
			for only = range o.sites {
			}
		}
		name := ws.objectName(o.kind, o.id, only)
		if o.same > 1 {
			name = fmt.Sprintf("%s(%d objects", ws.r.Function(o.kind).FullName(), o.same)
			if called := ws.calledAt(o.kind, o.id, only); called != "" {
				name += " " + called
			}
			name += ")"
		}
		row(&o.tally, name)
		main := table[len(table)-1]
		main[3] = fmt.Sprintf("%.2f", float64(o.total)/float64(max(ws.last-ws.first, 1)))
		if len(sites) == 1 {
			main[4] += " at " + sites[0].name
		} else {
			for _, t := range text.Rows(sites, subRows) {
				row(t, "  at "+t.name)
			}
		}
		for _, t := range text.Rows(most(o.by), subRows) {
			row(t, "  ended by "+t.name)
		}
	}
	text.Table(out, table)
	left(out, len(objects), rows)
}

// stretchName returns what a stretch is, without the goroutine and the numbers of calls.
func (ws *Waits) stretchName(s *stretch) string {
	switch {
	case s.does == waiting:
		return ws.r.Function(s.wait.kind).FullName() + " at " + ws.siteName(s.wait.site)
	case s.does == runnable:
		return "runnable, for want of a processor"
	case s.in.function != 0:
		return "running in " + ws.r.Function(s.in.function).FullName()
	}
	return "running in no call"
}

// stretchLine returns what a stretch is, in full.
func (ws *Waits) stretchLine(s *stretch) string {
	var line string
	switch s.does {
	case waiting:
		line = ws.placeName(s.wait)
	case runnable:
		line = "runnable after " + ws.placeName(s.wait)
		if s.wait.waited() == 0 {
			line = "runnable at " + ws.siteName(s.wait.site)
		}
	default:
		line = running
		if s.in.function != 0 {
			line += " in " + ws.callName(s.in)
		}
	}
	if s.starts {
		line += fmt.Sprintf(", starts G%d", s.wakes)
	} else if s.wakes != 0 {
		line += fmt.Sprintf(", wakes G%d", s.wakes)
	}
	return line
}

// sums returns what the stretches of a chain are in sum, the longest first.
func (ws *Waits) sums(chain []stretch) (list []*tally) {
	sums := map[string]*tally{}
	for i := range chain {
		name := ws.stretchName(&chain[i])
		t := counted(sums, name)
		t.name = name
		t.n++
		t.total += chain[i].end - chain[i].begin
	}
	return slices.SortedFunc(maps.Values(sums), func(a, b *tally) int {
		return cmp.Or(cmp.Compare(b.total, a.total), cmp.Compare(a.name, b.name))
	})
}

// writeChain writes what the end of the target had to await: in sum, and the longest stretches in
// the order of time.
func (ws *Waits) writeChain(out io.Writer, rows int) {
	t := &ws.target
	chain := ws.chain()
	if len(chain) == 0 {
		return
	}
	open := ""
	if t.open {
		open = ", under way at the end"
	}
	fmt.Fprintf(out, "\nWhy %s on G%d took %s%s: the chain of wake-ups to its end.\n", ws.callName(t.call), t.goroutine, ws.lasted(t.end-t.begin), open)
	table := [][]string{{"total", "share", "times", ""}}
	sums := ws.sums(chain)
	for _, s := range text.Rows(sums, rows) {
		table = append(table, []string{ws.lasted(s.total), fmt.Sprintf("%.0f%%", 100*float64(s.total)/float64(max(t.end-t.begin, 1))), fmt.Sprint(s.n), s.name})
	}
	text.Table(out, table)
	left(out, len(sums), rows)
	fmt.Fprintln(out)
	shown := longest(chain, rows)
	table = [][]string{{"since start", "lasted", ""}}
	hidden, n := uint64(0), 0
	flush := func() {
		if n > 0 {
			table = append(table, []string{"", ws.lasted(hidden), fmt.Sprintf("  (%d shorter)", n)})
		}
		hidden, n = 0, 0
	}
	for i := range chain {
		s := &chain[i]
		if !shown[i] {
			hidden += s.end - s.begin
			n++
			continue
		}
		flush()
		table = append(table, []string{ws.since(s.begin), ws.lasted(s.end - s.begin), fmt.Sprintf("G%d %s", s.goroutine, ws.stretchLine(s))})
	}
	flush()
	text.Table(out, table)
}

// longest reports which stretches are the longest.
func longest(chain []stretch, rows int) []bool {
	order := make([]int, len(chain))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(chain[b].end-chain[b].begin, chain[a].end-chain[a].begin) })
	shown := make([]bool, len(chain))
	for _, i := range text.Rows(order, rows) {
		shown[i] = true
	}
	return shown
}

func (ws *Waits) byGoroutine() (list []*times) {
	for _, g := range ws.goroutines {
		list = append(list, &g.times)
	}
	return divided(list)
}

func (ws *Waits) byFunction() []*times { return divided(slices.Collect(maps.Values(ws.functions))) }

// writeTimes writes how times divide: a column for each kind that is there.
func (ws *Waits) writeTimes(out io.Writer, all, of string, list []*times, rows int) {
	if len(list) == 0 {
		return
	}
	shown := text.Rows(list, rows)
	sums := map[uint32]*tally{}
	for _, t := range shown {
		for kind, ticks := range t.waiting {
			counted(sums, kind).total += ticks
		}
	}
	kinds := slices.SortedFunc(maps.Keys(sums), func(a, b uint32) int { return cmp.Or(cmp.Compare(sums[b].total, sums[a].total), cmp.Compare(a, b)) })
	head := []string{all, running, runnable}
	for _, kind := range kinds {
		head = append(head, ws.kindName(kind))
	}
	table := [][]string{append(head, of)}
	for _, t := range shown {
		row := []string{ws.lasted(t.all), ws.lasted(t.running()), ws.lasted(t.runnable)}
		for _, kind := range kinds {
			cell := "-"
			if ticks := t.waiting[kind]; ticks > 0 {
				cell = ws.lasted(ticks)
			}
			row = append(row, cell)
		}
		table = append(table, append(row, t.name))
	}
	fmt.Fprintln(out)
	text.Table(out, table)
	left(out, len(list), rows)
}

// writeJSON writes an object for each cycle, each goroutine that waits or is silent at the end,
// each object that was waited for, each stretch of the chain, each goroutine and function. Times
// are in ns.
func (ws *Waits) writeJSON(out io.Writer, o Options) {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	ns := func(ticks uint64) int64 { return int64(ws.clock.Between(0, ticks)) }
	write := func(of string, more map[string]any) {
		more["of"] = of
		enc.Encode(more)
	}
	place := func(w *wait) map[string]any {
		to := map[string]any{"goroutine": w.goroutine, "wait": ws.r.Function(w.kind).FullName(), "object": w.object, "at": ws.siteName(w.site)}
		if called := ws.nameOf(w.kind, w.object); called != "" {
			to["name"] = called
		}
		if w.by != 0 {
			to["by"] = w.by
		}
		if w.in.function != 0 {
			to["in"] = ws.callName(w.in)
		}
		return to
	}
	waits := func(list []*wait) []map[string]any {
		to := []map[string]any{}
		for _, w := range list {
			to = append(to, place(w))
		}
		return to
	}
	still := func(g *goroutine) map[string]any {
		calls := []string{}
		for _, c := range g.under {
			calls = append(calls, ws.callName(c))
		}
		return map[string]any{"goroutine": g.id, "calls": calls}
	}
	for _, cycle := range ws.cycles() {
		var waits []string
		for _, id := range cycle {
			waits = append(waits, ws.awaits(ws.goroutines[id]))
		}
		write("cycle", map[string]any{"cycle": cycle, "waits": waits})
	}
	waiting, silent := ws.still()
	for _, g := range text.Rows(waiting, o.Rows) {
		line, w := still(g), g.open()
		maps.Copy(line, place(w))
		if by := ws.heldBy(g); by != nil {
			line["held_by"] = by
		}
		if g.others != nil {
			line["channels"] = append([]uint64{w.object}, g.others...)
		}
		line["lasted"], line["before"] = ns(w.end-w.begin), waits(ws.before(w))
		write("waiting", line)
	}
	for _, g := range text.Rows(silent, o.Rows) {
		line := still(g)
		line["silent"] = ns(ws.last - g.last)
		write("silent", line)
	}
	tallies := func(list []*tally) []map[string]any {
		to := []map[string]any{}
		for _, t := range list {
			to = append(to, map[string]any{"name": t.name, "waits": t.n, "total": ns(t.total), "longest": ns(t.longest)})
		}
		return to
	}
	for _, object := range text.Rows(ws.objects(o.Rows == 0), o.Rows) {
		line := map[string]any{"wait": ws.r.Function(object.kind).FullName(), "waits": object.n, "total": ns(object.total),
			"longest": ns(object.longest), "at": tallies(most(object.sites)), "ended_by": tallies(most(object.by))}
		if object.same > 1 {
			line["objects"] = object.same
		} else {
			line["object"] = object.id
		}
		if called := ws.nameOf(object.kind, object.id); called != "" {
			line["name"] = called
		}
		write("object", line)
	}
	chain := ws.chain()
	shown := longest(chain, o.Rows)
	for i := range chain {
		s := &chain[i]
		if !shown[i] {
			continue
		}
		line := map[string]any{"goroutine": s.goroutine, "since": int64(ws.clock.Since(s.begin)), "lasted": ns(s.end - s.begin), "does": s.does}
		if s.in.function != 0 {
			line["in"] = ws.callName(s.in)
		}
		if s.wait != nil {
			maps.Copy(line, place(s.wait))
		}
		if s.wakes != 0 {
			line[map[bool]string{false: "wakes", true: "starts"}[s.starts]] = s.wakes
		}
		write("chain", line)
	}
	for _, times := range []struct {
		of   string
		list []*times
	}{{"goroutine", ws.byGoroutine()}, {"function", ws.byFunction()}} {
		for _, t := range text.Rows(times.list, o.Rows) {
			waiting := map[string]int64{}
			for kind, ticks := range t.waiting {
				waiting[ws.r.Function(kind).FullName()] = ns(ticks)
			}
			write(times.of, map[string]any{"name": t.name, "all": ns(t.all), running: ns(t.running()), runnable: ns(t.runnable), "waiting": waiting})
		}
	}
}
