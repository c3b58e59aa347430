package schema

import (
	"slices"
	"strings"
)

// consumerNames are the rows of setup_consumers, each with the consumers on which it depends: it is
// in force only if these are enabled too.
var consumerNames = []struct {
	name      string
	bit       Consumers
	dependsOn Consumers
}{
	{"events_calls_current", Current, GlobalInstrumentation | ThreadInstrumentation},
	{"events_calls_history", History, GlobalInstrumentation | ThreadInstrumentation | Current},
	{"events_calls_history_long", HistoryLong, GlobalInstrumentation | ThreadInstrumentation | Current},
	{"events_calls_summary_global_by_event_name", SummaryGlobal, GlobalInstrumentation},
	{"events_calls_summary_by_thread_by_event_name", SummaryByThread, GlobalInstrumentation | ThreadInstrumentation},
	{"events_calls_summary_by_caller_by_event_name", SummaryByCaller, GlobalInstrumentation | ThreadInstrumentation},
	{"events_calls_summary_by_instance", SummaryByInstance, GlobalInstrumentation},
	{"events_calls_histogram_by_event_name", Histograms, GlobalInstrumentation | SummaryGlobal},
	{"events_calls_values", ValuesConsumer, GlobalInstrumentation | ThreadInstrumentation},
	{"events_waits_current", WaitCurrent, GlobalInstrumentation | ThreadInstrumentation},
	{"events_waits_history", WaitHistory, GlobalInstrumentation | ThreadInstrumentation | WaitCurrent},
	{"events_waits_history_long", WaitHistoryLong, GlobalInstrumentation | ThreadInstrumentation | WaitCurrent},
	{"events_waits_summary_global_by_event_name", WaitSummaryGlobal, GlobalInstrumentation},
	{"events_waits_summary_by_thread_by_event_name", WaitSummaryByThread, GlobalInstrumentation | ThreadInstrumentation},
	{"events_waits_summary_by_caller_by_event_name", WaitSummaryByCaller, GlobalInstrumentation | ThreadInstrumentation},
	{"events_waits_summary_by_instance", WaitSummaryByInstance, GlobalInstrumentation},
	{"locks", LockHolders, GlobalInstrumentation},
	{"global_instrumentation", GlobalInstrumentation, 0},
	{"thread_instrumentation", ThreadInstrumentation, GlobalInstrumentation},
}

// InForce returns the consumers for which all that they depend on is enabled too.
func (c Consumers) InForce() Consumers {
	var in Consumers
	for _, row := range consumerNames {
		if c&row.bit != 0 && c&row.dependsOn == row.dependsOn {
			in |= row.bit
		}
	}
	return in
}

// setsConsumers reports whether a statement has setup_consumers in it.
func (st *stmt) setsConsumers() bool {
	return slices.ContainsFunc(st.tokens, func(t token) bool { return t.identifier() && strings.EqualFold(t.text, "setup_consumers") })
}

// oldConsumers lets setup_consumers have events_waits_current under the name that WL#2360 first
// gave it.
func (st *stmt) oldConsumers() {
	if !st.setsConsumers() {
		return
	}
	st.tokens = slices.Clone(st.tokens)
	for i := range st.tokens {
		if t := &st.tokens[i]; t.kind == str && strings.EqualFold(t.text, "events_waits") {
			t.text = "events_waits_current"
		}
	}
}

// spared writes NAME <> 'c' in an UPDATE of setup_consumers: it spares what the consumer c needs
// too, without which c would be off as well.
func (r *restorer) spared(a, b *expr) bool {
	if a.form != columnForm || !strings.EqualFold(a.path[len(a.path)-1], "NAME") || b.form != stringForm {
		return false
	}
	for _, c := range consumerNames {
		if !strings.EqualFold(c.name, b.text) {
			continue
		}
		r.path(a.path)
		r.write(" NOT IN (", quoteString(c.name))
		for _, other := range consumerNames {
			if c.dependsOn&other.bit != 0 {
				r.write(", ", quoteString(other.name))
			}
		}
		r.write(")")
		return true
	}
	return false
}
