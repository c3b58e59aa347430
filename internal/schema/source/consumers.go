package source

// Consumers is a set of consumers that are enabled.
type Consumers uint32

// The consumers. The others depend on GlobalInstrumentation and ThreadInstrumentation, see
// ConsumerNames.
const (
	GlobalInstrumentation Consumers = 1 << iota
	ThreadInstrumentation
	Current
	History
	HistoryLong
	SummaryGlobal
	SummaryByThread
	SummaryByCaller
	SummaryByInstance
	Histograms
	ValuesConsumer // of calls: parameters, results, errors
	WaitCurrent
	WaitHistory
	WaitHistoryLong
	WaitSummaryGlobal
	WaitSummaryByThread
	WaitSummaryByCaller
	WaitSummaryByInstance
	LockHolders

	EveryConsumer Consumers = 1<<iota - 1
)

// A ConsumerName is the name of a consumer in setup_consumers, with the consumers on which it
// depends: it is in force only if these are enabled too.
type ConsumerName struct {
	Name      string
	Bit       Consumers
	DependsOn Consumers
}

// ConsumerNames are the rows of setup_consumers.
var ConsumerNames = []ConsumerName{
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
	for _, row := range ConsumerNames {
		if c&row.Bit != 0 && c&row.DependsOn == row.DependsOn {
			in |= row.Bit
		}
	}
	return in
}
