package schema

import (
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
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

// spared writes NAME <> 'c' in an UPDATE of setup_consumers: it spares what the consumer c needs
// too, without which c would be off as well.
func (r *restorer) spared(a, b *expr) bool {
	if a.form != columnForm || !strings.EqualFold(a.path[len(a.path)-1], "NAME") || b.form != stringForm {
		return false
	}
	for _, c := range source.ConsumerNames {
		if !strings.EqualFold(c.Name, b.text) {
			continue
		}
		r.path(a.path)
		r.write(" NOT IN (", quoteString(c.Name))
		for _, other := range source.ConsumerNames {
			if c.DependsOn&other.Bit != 0 {
				r.write(", ", quoteString(other.Name))
			}
		}
		r.write(")")
		return true
	}
	return false
}
