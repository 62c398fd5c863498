package det

// Select is the select statement: it returns the index of the case that happened,
// or -1 for the default.
//
//go:norace
func Select(hasDefault bool, cases ...Case) int {
	s := current
	if s == nil {
		panic("det: a select outside of a run")
	}
	var waits [maxWaits]*Obj
	n := 0
	for _, c := range cases {
		if cs := c.state(); cs != nil {
			if n == maxWaits {
				panic("det: a select of too many cases")
			}
			waits[n] = &cs.obj
			n++
		}
	}
	var first *Obj
	if n > 0 {
		first = waits[0]
	}
	Enter(first, OpSelect)
	var w *waiter
	for {
		if i := s.readyCase(cases); i >= 0 {
			forgetAll(w, cases)
			cases[i].do()
			return i
		}
		if hasDefault {
			for _, o := range waits[:n] {
				Did(o, OpSelect, false, -1)
			}
			return -1
		}
		if w == nil {
			w = &waiter{}
			for i, c := range cases {
				if c.state() != nil {
					c.wait(w, i)
				}
			}
		}
		Block(OpSelect, waits[:n]...)
		if w.fired {
			cases[w.which].fired(w)
			return w.which
		}
	}
}

//go:norace
func forgetAll(w *waiter, cases []Case) {
	if w == nil {
		return
	}
	for _, c := range cases {
		if cs := c.state(); cs != nil {
			cs.forget(w)
		}
	}
}

// readyCase returns a case that can happen, or -1; the strategy chooses among
// several, as the runtime would by chance.
//
//go:norace
func (s *Sched) readyCase(cases []Case) int {
	ready, n := &s.cases, 0
	for i, c := range cases {
		if c.state() != nil && n < len(ready) && c.ready() {
			ready[n] = i
			n++
		}
	}
	switch n {
	case 0:
		return -1
	case 1:
		return ready[0]
	}
	return ready[s.chooseCase(ready[:n])]
}

//go:norace
func (s *Sched) chooseCase(ready []int) int {
	d := &s.decision
	g := s.cur
	d.Runnable, d.Cur, d.Prev, d.Case, d.Key = ready, -1, g.id, true, mix(s.r.Class, 's')
	n := g.turns
	g.turns++
	i := 0
	if !s.fair {
		i = max(0, s.st.Next(d))
	}
	d.Case = false
	if i != 0 && len(s.switches) < cap(s.switches) {
		sw := Switch{G: g.id, N: n, To: ready[i]}
		if s.opt.Trace {
			sw.Site = lineOf(g.site)
		}
		s.switches = append(s.switches, sw)
	}
	return i
}
