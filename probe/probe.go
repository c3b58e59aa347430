package probe

// A Probe has any number of arguments, of any types. To box them may cost something where the probe
// is off, too: in places that are hot use Probe1 to Probe6, or Enabled.
//
// The methods of probes may be called concurrently. A probe is made by New and not copied; the zero
// value is off for ever.
type Probe struct{ hook }

// New declares a probe of these names, with the names of its arguments.
func New(provider, name string, args ...string) *Probe {
	return declared(provider, name, make([]typeOf, len(args)), args, new(Probe))
}

// Fire says that it happened, with a value for each argument. A missing one is absent, one too many
// has no name.
func (p *Probe) Fire(args ...any) {
	if p.on != nil {
		fire(&p.on, args...)
	}
}

// Probe0 is a probe without arguments.
type Probe0 struct{ hook }

// New0 declares a probe without arguments.
func New0(provider, name string) *Probe0 {
	return declared(provider, name, nil, nil, new(Probe0))
}

// Fire says that it happened.
func (p *Probe0) Fire() {
	if p.on != nil {
		fire(&p.on)
	}
}

// Probe1 is a probe with one argument.
type Probe1[A any] struct{ hook }

// New1 declares a probe with one argument, of these types and names.
func New1[A any](provider, name, a string) *Probe1[A] {
	return declared(provider, name, []typeOf{of[A]()}, []string{a}, new(Probe1[A]))
}

// Fire says that it happened.
func (p *Probe1[A]) Fire(a A) {
	if p.on != nil {
		p.fire(a)
	}
}

//go:noinline
func (p *Probe1[A]) fire(a A) { fire(&p.on, a) }

// Probe2 is a probe with two arguments.
type Probe2[A, B any] struct{ hook }

// New2 declares a probe with two arguments, of these types and names.
func New2[A, B any](provider, name, a, b string) *Probe2[A, B] {
	return declared(provider, name, []typeOf{of[A](), of[B]()}, []string{a, b}, new(Probe2[A, B]))
}

// Fire says that it happened.
func (p *Probe2[A, B]) Fire(a A, b B) {
	if p.on != nil {
		p.fire(a, b)
	}
}

//go:noinline
func (p *Probe2[A, B]) fire(a A, b B) { fire(&p.on, a, b) }

// Probe3 is a probe with three arguments.
type Probe3[A, B, C any] struct{ hook }

// New3 declares a probe with three arguments, of these types and names.
func New3[A, B, C any](provider, name, a, b, c string) *Probe3[A, B, C] {
	return declared(provider, name, []typeOf{of[A](), of[B](), of[C]()}, []string{a, b, c}, new(Probe3[A, B, C]))
}

// Fire says that it happened.
func (p *Probe3[A, B, C]) Fire(a A, b B, c C) {
	if p.on != nil {
		p.fire(a, b, c)
	}
}

//go:noinline
func (p *Probe3[A, B, C]) fire(a A, b B, c C) { fire(&p.on, a, b, c) }

// Probe4 is a probe with four arguments.
type Probe4[A, B, C, D any] struct{ hook }

// New4 declares a probe with four arguments, of these types and names.
func New4[A, B, C, D any](provider, name, a, b, c, d string) *Probe4[A, B, C, D] {
	return declared(provider, name, []typeOf{of[A](), of[B](), of[C](), of[D]()}, []string{a, b, c, d}, new(Probe4[A, B, C, D]))
}

// Fire says that it happened.
func (p *Probe4[A, B, C, D]) Fire(a A, b B, c C, d D) {
	if p.on != nil {
		p.fire(a, b, c, d)
	}
}

//go:noinline
func (p *Probe4[A, B, C, D]) fire(a A, b B, c C, d D) { fire(&p.on, a, b, c, d) }

// Probe5 is a probe with five arguments.
type Probe5[A, B, C, D, E any] struct{ hook }

// New5 declares a probe with five arguments, of these types and names.
func New5[A, B, C, D, E any](provider, name, a, b, c, d, e string) *Probe5[A, B, C, D, E] {
	return declared(provider, name, []typeOf{of[A](), of[B](), of[C](), of[D](), of[E]()}, []string{a, b, c, d, e}, new(Probe5[A, B, C, D, E]))
}

// Fire says that it happened.
func (p *Probe5[A, B, C, D, E]) Fire(a A, b B, c C, d D, e E) {
	if p.on != nil {
		p.fire(a, b, c, d, e)
	}
}

//go:noinline
func (p *Probe5[A, B, C, D, E]) fire(a A, b B, c C, d D, e E) { fire(&p.on, a, b, c, d, e) }

// Probe6 is a probe with six arguments. For more give a struct.
type Probe6[A, B, C, D, E, F any] struct{ hook }

// New6 declares a probe with six arguments, of these types and names.
func New6[A, B, C, D, E, F any](provider, name, a, b, c, d, e, f string) *Probe6[A, B, C, D, E, F] {
	return declared(provider, name, []typeOf{of[A](), of[B](), of[C](), of[D](), of[E](), of[F]()}, []string{a, b, c, d, e, f}, new(Probe6[A, B, C, D, E, F]))
}

// Fire says that it happened.
func (p *Probe6[A, B, C, D, E, F]) Fire(a A, b B, c C, d D, e E, f F) {
	if p.on != nil {
		p.fire(a, b, c, d, e, f)
	}
}

//go:noinline
func (p *Probe6[A, B, C, D, E, F]) fire(a A, b B, c C, d D, e E, f F) { fire(&p.on, a, b, c, d, e, f) }
