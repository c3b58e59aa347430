package schema

import (
	"slices"
	"strings"
)

// setsConsumers reports whether the statement has setup_consumers in it.
func (r *rewriter) setsConsumers() bool {
	return slices.ContainsFunc(r.tokens, func(t token) bool { return t.identifier() && strings.EqualFold(t.text, "setup_consumers") })
}

// oldConsumers lets setup_consumers have events_waits_current under the name that WL#2360 first
// gave it.
func (r *rewriter) oldConsumers() {
	if !r.setsConsumers() {
		return
	}
	r.tokens = slices.Clone(r.tokens)
	for i := range r.tokens {
		if t := &r.tokens[i]; t.kind == str && strings.EqualFold(t.text, "events_waits") {
			t.text = "events_waits_current"
		}
	}
}

// needed rewrites NAME <> 'c' in an UPDATE of setup_consumers: it spares what the consumer c needs
// too, without which c would be off as well.
func (r *rewriter) needed() {
	if !r.at(0).is("UPDATE") || !r.setsConsumers() {
		return
	}
	for i := range r.tokens {
		if !r.at(i).is("NAME") || !r.at(i+1).is("<>") && !r.at(i+1).is("!=") || r.at(i+2).kind != str {
			continue
		}
		for _, c := range consumerNames {
			if !strings.EqualFold(c.name, r.at(i+2).text) {
				continue
			}
			list := []string{quoteString(c.name)}
			for _, other := range consumerNames {
				if c.dependsOn&other.bit != 0 {
					list = append(list, quoteString(other.name))
				}
			}
			r.out[i+1], r.out[i+2] = "NOT IN", "("+strings.Join(list, ", ")+")"
		}
	}
}
