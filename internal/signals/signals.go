// Package signals asks for signals, but leaves alone those that whoever started us wants ignored.
package signals

import (
	"os"
	"os/signal"
)

// Notify is [signal.Notify], but for signals that are ignored. These are so since the process was
// started that way, as nohup does. They stay ignored, also in programs that it starts.
func Notify(c chan<- os.Signal, wanted ...os.Signal) {
	for _, s := range wanted {
		if !signal.Ignored(s) {
			signal.Notify(c, s)
		}
	}
}
