package schema

import (
	"slices"
	"strings"
)

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
