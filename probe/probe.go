package probe

// A Probe has any number of arguments, of any types. Its arguments become interface values before
// Fire looks whether it is on, which may allocate. Use Probe1 to Probe6, or Enabled, in places that
// run often.
//
// The methods of a probe may be called from several goroutines at once. A probe must not be copied.
// The zero value is always off.
type Probe struct{ hook }

// New declares the probe provider:::name, and names its arguments. It panics if a name is wrong;
// see the package comment.
func New(provider, name string, args ...string) *Probe {
	return declared(provider, name, make([]typeOf, len(args)), args, new(Probe))
}

// Fire reports that the event happened, with a value for each argument. Arguments without a value
// are absent; further values have no name. If the probe is off, Fire does nothing.
func (p *Probe) Fire(args ...any) {
	if p.on != nil {
		fire(&p.on, args...)
	}
}

// A Probe0 is a probe with no arguments. It is used as [Probe] is.
type Probe0 struct{ hook }

// New0 declares the probe provider:::name with no arguments.
// It panics if a name is wrong.
func New0(provider, name string) *Probe0 {
	return declared(provider, name, nil, nil, new(Probe0))
}

// Fire reports that the event happened. If the probe is off, it does nothing.
func (p *Probe0) Fire() {
	if p.on != nil {
		fire(&p.on)
	}
}

// A Probe1 is a probe with one argument. It is used as [Probe] is.
type Probe1[A any] struct{ hook }

// New1 declares the probe provider:::name with one argument, of this type and name.
// It panics if a name is wrong.
func New1[A any](provider, name, a string) *Probe1[A] {
	return declared(provider, name, []typeOf{of[A]()}, []string{a}, new(Probe1[A]))
}

// Fire reports that the event happened. If the probe is off, it does nothing.
func (p *Probe1[A]) Fire(a A) {
	if p.on != nil {
		p.fire(a)
	}
}

//go:noinline
func (p *Probe1[A]) fire(a A) { fire(&p.on, a) }

// A Probe2 is a probe with two arguments. It is used as [Probe] is.
type Probe2[A, B any] struct{ hook }

// New2 declares the probe provider:::name with two arguments, of these types and names.
// It panics if a name is wrong.
func New2[A, B any](provider, name, a, b string) *Probe2[A, B] {
	return declared(provider, name, []typeOf{of[A](), of[B]()}, []string{a, b}, new(Probe2[A, B]))
}

// Fire reports that the event happened. If the probe is off, it does nothing.
func (p *Probe2[A, B]) Fire(a A, b B) {
	if p.on != nil {
		p.fire(a, b)
	}
}

//go:noinline
func (p *Probe2[A, B]) fire(a A, b B) { fire(&p.on, a, b) }

// A Probe3 is a probe with three arguments. It is used as [Probe] is.
type Probe3[A, B, C any] struct{ hook }

// New3 declares the probe provider:::name with three arguments, of these types and names.
// It panics if a name is wrong.
func New3[A, B, C any](provider, name, a, b, c string) *Probe3[A, B, C] {
	return declared(provider, name, []typeOf{of[A](), of[B](), of[C]()}, []string{a, b, c}, new(Probe3[A, B, C]))
}

// Fire reports that the event happened. If the probe is off, it does nothing.
func (p *Probe3[A, B, C]) Fire(a A, b B, c C) {
	if p.on != nil {
		p.fire(a, b, c)
	}
}

//go:noinline
func (p *Probe3[A, B, C]) fire(a A, b B, c C) { fire(&p.on, a, b, c) }

// A Probe4 is a probe with four arguments. It is used as [Probe] is.
type Probe4[A, B, C, D any] struct{ hook }

// New4 declares the probe provider:::name with four arguments, of these types and names.
// It panics if a name is wrong.
func New4[A, B, C, D any](provider, name, a, b, c, d string) *Probe4[A, B, C, D] {
	return declared(provider, name, []typeOf{of[A](), of[B](), of[C](), of[D]()}, []string{a, b, c, d}, new(Probe4[A, B, C, D]))
}

// Fire reports that the event happened. If the probe is off, it does nothing.
func (p *Probe4[A, B, C, D]) Fire(a A, b B, c C, d D) {
	if p.on != nil {
		p.fire(a, b, c, d)
	}
}

//go:noinline
func (p *Probe4[A, B, C, D]) fire(a A, b B, c C, d D) { fire(&p.on, a, b, c, d) }

// A Probe5 is a probe with five arguments. It is used as [Probe] is.
type Probe5[A, B, C, D, E any] struct{ hook }

// New5 declares the probe provider:::name with five arguments, of these types and names.
// It panics if a name is wrong.
func New5[A, B, C, D, E any](provider, name, a, b, c, d, e string) *Probe5[A, B, C, D, E] {
	return declared(provider, name, []typeOf{of[A](), of[B](), of[C](), of[D](), of[E]()}, []string{a, b, c, d, e}, new(Probe5[A, B, C, D, E]))
}

// Fire reports that the event happened. If the probe is off, it does nothing.
func (p *Probe5[A, B, C, D, E]) Fire(a A, b B, c C, d D, e E) {
	if p.on != nil {
		p.fire(a, b, c, d, e)
	}
}

//go:noinline
func (p *Probe5[A, B, C, D, E]) fire(a A, b B, c C, d D, e E) { fire(&p.on, a, b, c, d, e) }

// A Probe6 is a probe with six arguments; for more, give a struct. It is used as [Probe] is.
type Probe6[A, B, C, D, E, F any] struct{ hook }

// New6 declares the probe provider:::name with six arguments, of these types and names.
// It panics if a name is wrong.
func New6[A, B, C, D, E, F any](provider, name, a, b, c, d, e, f string) *Probe6[A, B, C, D, E, F] {
	return declared(provider, name, []typeOf{of[A](), of[B](), of[C](), of[D](), of[E](), of[F]()}, []string{a, b, c, d, e, f}, new(Probe6[A, B, C, D, E, F]))
}

// Fire reports that the event happened. If the probe is off, it does nothing.
func (p *Probe6[A, B, C, D, E, F]) Fire(a A, b B, c C, d D, e E, f F) {
	if p.on != nil {
		p.fire(a, b, c, d, e, f)
	}
}

//go:noinline
func (p *Probe6[A, B, C, D, E, F]) fire(a A, b B, c C, d D, e E, f F) { fire(&p.on, a, b, c, d, e, f) }
