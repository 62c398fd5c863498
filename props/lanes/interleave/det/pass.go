package det

// pass lets the strategy pick who goes on, and hands over. g is the goroutine that
// asks: it runs, is blocked, or has ended. It returns when g is picked.
//
//go:norace
func (s *Sched) pass(g *gor) {
	next := s.pick(g)
	if next == nil {
		return // the run is over, and g has ended
	}
	if next == g {
		return
	}
	s.r.Handovers++
	s.cur = next
	raceOff()
	next.run <- struct{}{}
	if g.status != ended {
		<-g.run
	}
	raceOn()
	if g.status != ended && s.abort {
		s.checkAbort()
	}
}

// pick returns who goes on; nil if the run is over and g has ended.
//
//go:norace
func (s *Sched) pick(g *gor) *gor {
	for {
		rb, cur := s.collect(g)
		if len(rb) == 0 {
			s.finish(g, s.idleVerdict())
			return nil
		}
		s.r.Steps++
		if s.full {
			s.finish(g, OutOfSteps)
			return nil
		}
		if s.r.Steps > s.limit && !s.overrun(g) {
			return nil
		}
		id := rb[0]
		if len(rb) > 1 {
			i := s.choose(g, rb, cur)
			if i < 0 {
				s.finish(g, Pruned)
				return nil
			}
			id = rb[i]
			if cur >= 0 && i != cur {
				s.r.Preemptions++
			}
		}
		if id != s.prev {
			s.row = 0
		}
		s.prev = id
		if id < Main {
			s.clockTurns++
			if len(rb) > 1 {
				s.jumps++
			}
			s.moveClock(id)
			continue
		}
		if s.yields > 0 {
			s.unyield(id)
		}
		return s.gs[id-Main]
	}
}

// collect returns the numbers of those who can go on, ascending, and the index of
// g among them, or -1. Most steps change nothing about that: then it is as it was.
//
//go:norace
func (s *Sched) collect(g *gor) (rb []int, cur int) {
	if s.asWas && s.yields == 0 && (s.armed == 0 || s.opt.Time == Idle) {
		rb, cur = s.runbuf, -1
		for i := 0; i < len(rb); i++ {
			if rb[i] == g.id {
				cur = i
			}
		}
		if cur < 0 || len(rb) == 1 || s.opt.FairAt <= 0 {
			return rb, cur
		}
		if s.row++; s.row <= s.opt.FairAt {
			return rb, cur
		}
		s.row-- // it comes again
	}
	rb, cur = s.list(g)
	s.asWas = len(rb) > 0 && rb[0] >= Main && s.yields == 0
	s.runbuf = rb
	if cur >= 0 && len(rb) > 1 && rb[len(rb)-2] >= Main && s.opt.FairAt > 0 {
		if s.row++; s.row > s.opt.FairAt {
			s.row = 0
			s.needsFairness()
			s.asWas = false
			rb = remove(rb, cur)
			cur = -1
		}
	}
	return rb, cur
}

// list is collect, from what is known of each goroutine.
//
//go:norace
func (s *Sched) list(g *gor) (rb []int, cur int) {
	rb, cur = s.runbuf[:0], -1
	if s.armed > 0 && s.opt.Time != Idle && s.mayJump() {
		rb = s.clockMoves(rb)
	}
	clocks, yielded := len(rb), 0
	for _, x := range s.live {
		if x.status != runnable {
			continue
		}
		if x.yielded {
			yielded++
			continue
		}
		if x == g {
			cur = len(rb)
		}
		rb = append(rb, x.id)
	}
	if len(rb) == clocks && yielded > 0 {
		for _, x := range s.live {
			if x.status == runnable {
				if x == g {
					cur = len(rb)
				}
				rb = append(rb, x.id)
			}
		}
	}
	if len(rb) == 0 && s.armed > 0 {
		rb = s.clockMoves(rb)
	}
	return rb, cur
}

//go:norace
func remove(rb []int, i int) []int {
	for j := i + 1; j < len(rb); j++ {
		rb[j-1] = rb[j]
	}
	return rb[:len(rb)-1]
}

// unyield: somebody else takes a step, so those who gave way may try again.
//
//go:norace
func (s *Sched) unyield(id int) {
	for _, x := range s.live {
		if x.yielded && x.id != id {
			x.yielded = false
			s.yields--
		}
	}
	if x := s.gs[id-Main]; x.yielded {
		x.yielded = false
		s.yields--
	}
}

// choose asks the strategy, and keeps what differs from the default.
//
//go:norace
func (s *Sched) choose(g *gor, rb []int, cur int) int {
	d := &s.decision
	d.Runnable, d.Cur, d.Prev, d.Key = rb, cur, s.prev, s.key(rb, cur)
	n := s.clockTurns
	if s.prev >= Main {
		p := s.gs[s.prev-Main]
		n = p.turns
		p.turns++
	}
	var i int
	if s.fair {
		i = s.inTurn(rb)
	} else {
		i = s.st.Next(d)
	}
	if i >= 0 && i != d.Default() && len(s.switches) < cap(s.switches) {
		sw := Switch{G: s.prev, N: n, To: rb[i]}
		if s.opt.Trace && s.prev >= Main {
			sw.Site = lineOf(s.gs[s.prev-Main].site)
		}
		s.switches = append(s.switches, sw)
	}
	return i
}

// Default is the index of the choice that is no switch: to stay; or else the
// goroutine with the lowest number, and the clock only if there is none.
//
//go:norace
func (d *Decision) Default() int {
	if d.Cur >= 0 {
		return d.Cur
	}
	if d.Case {
		return 0
	}
	for i, id := range d.Runnable {
		if id >= Main {
			return i
		}
	}
	for i, id := range d.Runnable {
		if id == ClockAt {
			return i
		}
	}
	return 0
}

// Turn is how many decisions were made while Prev ran: with Prev it names this
// decision in a list of switches.
//
//go:norace
func (d *Decision) Turn() int {
	if d.Prev < Main {
		return d.s.clockTurns
	}
	return d.s.gs[d.Prev-Main].turns - 1
}

// inTurn is round robin.
//
//go:norace
func (s *Sched) inTurn(rb []int) int {
	for i, id := range rb {
		if id > s.prev && id >= Main {
			return i
		}
	}
	return s.decision.Default()
}

// key identifies the state: what has happened up to the order of independent
// events, who runs, and who has given way.
//
//go:norace
func (s *Sched) key(rb []int, cur int) uint64 {
	k := s.r.Class
	if cur >= 0 {
		k = mix(k, uint64(rb[cur]))
	} else {
		k = mix(k, 1<<32)
	}
	if s.yields > 0 {
		for _, x := range s.live {
			if x.yielded {
				k = mix(k, uint64(x.id))
			}
		}
	}
	return k
}

// overrun is past the step limit: from here on everybody has his turn, for as many
// steps again. What ends then needed fairness; what does not, and gets nowhere,
// is a livelock.
//
//go:norace
func (s *Sched) overrun(g *gor) bool {
	if !s.fair {
		s.fair = true
		s.needsFairness()
		s.r.PastLimit = true
		s.limit += s.opt.MaxSteps
		s.lastProgress = s.progress
		return true
	}
	v := OutOfSteps
	if s.progress == s.lastProgress {
		v = Livelocked
	}
	s.finish(g, v)
	return false
}

//go:norace
func (s *Sched) needsFairness() {
	if s.cur == nil || s.r.NUnfair == len(s.r.Unfair) {
		return
	}
	pc := s.cur.site
	if pc == 0 {
		pc = callerOutside()
	}
	for i := 0; i < s.r.NUnfair; i++ {
		if s.r.Unfair[i] == pc {
			return
		}
	}
	s.r.Unfair[s.r.NUnfair] = pc
	s.r.NUnfair++
}

//go:norace
func (s *Sched) idleVerdict() Verdict {
	switch {
	case len(s.live) == 0:
		return Finished
	case s.mainEnded:
		return Leaked
	}
	return Deadlocked
}
