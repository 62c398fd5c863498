package props

import (
	"math"
	"time"

	"eventide/props/history"

	"pgregory.net/rapid"
)

// Profile makes the generator prefer the premise of one guarantee. The zero value is an
// even mix.
type Profile struct {
	Ops     map[history.Op]int // extra weight of a call
	Limit   bool               // a bounded queue, and enough tasks to fill it
	Spawner bool               // a spawner that breaks its contract
	Timers  bool               // all three timer policies
	Abrupt  bool               // bodies that panic or exit
	Long    bool               // bodies that take time, or wait for Context
	Again   bool               // tasks that resubmit themselves
	Loop    bool               // an event loop with registrations
	Real    bool               // for real time: nothing takes long, and the poller is epoll
	Cells   bool               // a cell with many calls in every program, and often an event loop or a pool
	Wide    bool               // for the virtual lane: also asks, many submissions in a row, large bounds, and listeners that call Goexit
}

// Programs generates whole programs: producers, bodies that submit tasks, hooks
// and timers, panics, cancels, and every shutdown call, from inside and outside,
// with any parameters. Durations come from a coarse grid with neighbours one
// nanosecond away, so that ties at a deadline and near misses are common.
func Programs(profile Profile) *rapid.Generator[Program] {
	return rapid.Custom(func(t *rapid.T) Program {
		g := &generator{T: t, profile: profile}
		return g.program()
	})
}

type generator struct {
	*rapid.T
	profile  Profile
	policy   history.TimerPolicy
	timers   int  // submitted so far
	huge     bool // timeouts of centuries: then no body and no channel may wait for one
	lastID   int
	futures  []int // submitted so far, in the order of generation
	cancels  []int // futures and timers, likewise
	resets   []int // timers, likewise
	hooks    []int
	loop     bool  // there are descriptors
	pool     bool  // the program runs on a pool
	regs     []int // registered so far
	promises []int // made so far
	scripted bool  // the program runs over the scripted poller, without descriptors
	clocked  bool  // the clock has faults
	jump     Fault // how it jumps: a program has one direction, or nothing could be said of its times
	broken   bool  // the poller or the clock will fail permanently
	spawner  bool  // starts may fail
}

// one draws an integer in [0, n).
func (g *generator) one(n int, label string) int {
	if n < len(below) {
		return below[n].Draw(g.T, label)
	}
	return rapid.IntRange(0, n-1).Draw(g.T, label)
}

// below has the generators of integers in [0, n) by n: a program draws a hundred of them.
var below = func() (all [256]*rapid.Generator[int]) {
	for n := 1; n < len(all); n++ {
		all[n] = rapid.IntRange(0, n-1)
	}
	return all
}()

// chance returns true in about one of n draws, and shrinks to false.
func (g *generator) chance(n int, label string) bool { return g.one(n, label) == n-1 }

func (g *generator) program() Program {
	var p Program
	if g.profile.Timers || g.chance(3, "timer policy") {
		p.Timers = history.TimerPolicy(g.one(3, "timers"))
	}
	g.policy = p.Timers
	if g.chance(6, "jitter") {
		p.Jitter = 2 * g.duration("jitter bound") // each run is later by a point of the grid
	}
	g.descriptors(&p)
	if !g.loop && (g.profile.Cells && g.chance(3, "pool") || g.chance(6, "pool, rarely")) {
		g.pool = true
		p.Pool = rapid.SampledFrom([]int{1, 2, 2, 3, 8}).Draw(g.T, "pool of")
	}
	if !g.loop && !g.pool && !g.profile.Real && g.chance(6, "scripted poller") {
		g.scripted, p.Scripted = true, true
	}
	g.huge = !g.loop && !g.profile.Real && p.Timers != history.RunTimersUntilTimeout && g.chance(6, "huge timeouts")
	if !g.profile.Real {
		g.clock(&p)
	}
	if g.profile.Limit || g.chance(6, "limited") {
		limits := []int{16, 16, 1, 17, 20} // less than 16 is 16
		if g.profile.Wide {
			limits = append(limits, 64, 255, largestLimit)
		}
		p.Limit = rapid.SampledFrom(limits).Draw(g.T, "limit")
		if !g.clocked { // a pause between two tries is by the clock
			p.Retries = g.one(3, "retries")
		}
	}
	if g.profile.Abrupt && g.chance(2, "panic handler") || g.chance(6, "panic handler, rarely") {
		p.Handler = rapid.SampledFrom([]Handler{HandlerPlain, HandlerPanic, HandlerExit, HandlerCalls, HandlerSlow}).Draw(g.T, "handler")
	}
	if g.profile.Spawner || g.chance(8, "spawner") {
		starts := []Start{StartRefused, StartSlow, StartCallback, StartInline, StartTwice, StartLate, StartPanic, StartBoth, StartOK}
		p.Starts = rapid.SliceOfN(rapid.SampledFrom(starts), 0, 3).Draw(g.T, "starts")
		g.spawner = len(p.Starts) > 0
	} else if g.pool && !g.profile.Real && g.chance(8, "slow workers") { // the first one starts at once
		p.Starts, g.spawner = []Start{StartOK, StartSlow, StartSlow}, true
	}
	if g.profile.Again && !g.pool && g.chance(60, "busy loop") {
		return g.busyLoop(p)
	}
	if g.chance(8, "burst") {
		p.Actors = append(p.Actors, Actor{Steps: g.burst()})
		if !g.profile.Limit && g.chance(2, "of others undisturbed") {
			return p
		}
	}
	if !g.pool && !g.profile.Real && g.chance(12, "turn") {
		p.Actors = append(p.Actors, Actor{Steps: g.turn()})
		if g.chance(2, "of others undisturbed") {
			return p
		}
	}
	if g.profile.Wide && g.wide(&p) {
		return p
	}
	if g.pool && g.chance(2, "blocked workers") {
		p.Actors = append(p.Actors, Actor{Steps: g.blocked()})
	}
	if g.loop && !g.profile.Real && !g.broken && g.chance(4, "failing poller") {
		p.Actors = append(p.Actors, Actor{Steps: g.failing()})
	}
	for range 1 + g.one(4, "actors") {
		p.Actors = append(p.Actors, Actor{Steps: g.steps(6, 0)})
	}
	if g.profile.Limit {
		p.Actors = append(p.Actors, Actor{Steps: g.flood()})
	}
	return p
}

// flood submits more tasks than a bounded queue holds, while a body blocks the loop.
func (g *generator) flood() []Step {
	steps := make([]Step, 15+g.one(8, "flood"))
	for i := range steps {
		op := history.OpExecute
		if g.chance(4, "lazy flood") {
			op = history.OpExecuteLazy
		}
		steps[i] = Step{Op: op, ID: g.newID(), Body: &Script{}, Try: op == history.OpExecute && g.chance(4, "try")}
	}
	steps[0].Op, steps[0].Body.Sleep = history.OpExecute, time.Millisecond
	steps[0].Wait = g.duration("flood at")
	return steps
}

func (g *generator) newID() int {
	g.lastID++
	return g.lastID
}

// submitted keeps the label of a step that a later one may cancel or listen to.
func (g *generator) submitted(s Step) {
	if s.Op == history.OpSubmit {
		g.futures = append(g.futures, s.ID)
	}
	if s.Op == history.OpSubmit || s.Op.Timers() {
		g.cancels = append(g.cancels, s.ID)
	}
	if s.Op.Timers() {
		g.resets = append(g.resets, s.ID)
	}
}

// steps draws the calls of an actor (depth 0) or of a body.
func (g *generator) steps(most, depth int) []Step {
	var steps []Step
	for range g.one(most+1, "steps") {
		steps = append(steps, g.step(depth))
	}
	return steps
}

var evenMix = map[history.Op]int{
	history.OpExecute: 8, history.OpExecuteLazy: 2, history.OpSubmit: 4, history.OpAfterIteration: 2,
	history.OpSchedule: 3, history.OpFixedRate: 1, history.OpFixedDelay: 1,
	history.OpAddHook: 3, history.OpRemoveHook: 1, history.OpCancel: 3, history.OpReset: 2,
	history.OpShutdownGracefully: 3, history.OpShutdown: 1, history.OpClose: 1, history.OpAwait: 1, history.OpState: 1, history.OpListen: 2,
}

// mixOrder is the order in which calls shrink: the simplest is first.
var mixOrder = []history.Op{
	history.OpExecute, history.OpSubmit, history.OpExecuteLazy, history.OpAfterIteration, history.OpState,
	history.OpAddHook, history.OpSchedule, history.OpShutdownGracefully, history.OpShutdown, history.OpCancel,
	history.OpListen, history.OpRemoveHook, history.OpFixedRate, history.OpFixedDelay, history.OpAwait, history.OpClose, history.OpReset,
}

func (g *generator) op() history.Op {
	total := 0
	for _, op := range mixOrder {
		total += evenMix[op] + g.profile.Ops[op]
	}
	n := g.one(total, "op")
	for _, op := range mixOrder {
		n -= evenMix[op] + g.profile.Ops[op]
		if n < 0 {
			return op
		}
	}
	return history.OpExecute
}

// mostTimers bounds the timers of a program whose policy may let them run. The model has
// no clock: each timer is due or not, and so doubles the number of states.
const mostTimers = 6

func (g *generator) step(depth int) Step {
	if g.loop && (g.profile.Loop && g.chance(2, "of a descriptor") || g.chance(4, "of a descriptor, rarely")) {
		return g.descriptorStep(depth)
	}
	if g.scripted && g.chance(10, "fault of the poller") {
		return g.faultStep(depth)
	}
	if g.clocked && g.chance(6, "fault of the clock") {
		return g.clockStep(depth)
	}
	if g.profile.Wide && g.chance(10, "ask") {
		return g.askStep(depth)
	}
	s := Step{Op: g.op()}
	if g.profile.Real {
		s.Op = realOp(s.Op)
	}
	if depth == 0 && g.chance(2, "waits") {
		s.Wait = g.duration("wait")
	}
	g.arguments(&s, depth)
	return s
}

// arguments draws the arguments of a call, whose Op is set. Where the program cannot make that call, it
// becomes a similar one.
func (g *generator) arguments(s *Step, depth int) {
	if g.pool {
		s.Op = forPool(s.Op)
	}
	if s.Op.Timers() {
		if g.timers++; g.timers > mostTimers && g.policy != history.CancelTimers {
			s.Op = history.OpExecute
		}
	}
	if s.Op == history.OpClose && g.policy == history.RunTimersUntilTimeout {
		s.Op = history.OpShutdown // Close would run periodic timers for 15 s
	}
	switch {
	case s.Op.Submits():
		g.submission(s, depth)
	case s.Op == history.OpRemoveHook:
		s.Target = g.pick(g.hooks, "hook")
	case s.Op == history.OpListen:
		s.Target = g.pick(g.futures, "of")
	case s.Op == history.OpCancel:
		s.Target = g.pick(g.cancels, "of")
	case s.Op == history.OpReset:
		s.Target = g.pick(g.resets, "of")
		s.Delay = g.delay(history.OpReset)
	case s.Op == history.OpShutdownGracefully:
		s.Quiet = g.duration("quiet")
		s.Timeout = s.Quiet + g.slack()
		if s.Timeout < 0 {
			s.Timeout = math.MaxInt64
		}
	case s.Op == history.OpAwait:
		s.Delay = g.duration("patience")
	}
}

// pick draws a label, or returns 0, which no step has, if there is none yet.
func (g *generator) pick(ids []int, label string) int {
	if len(ids) == 0 {
		return 0
	}
	return ids[len(ids)-1-g.one(len(ids), label)] // shrinks to the latest
}

func (g *generator) submission(s *Step, depth int) {
	s.ID = g.newID()
	g.submitted(*s)
	if s.Op == history.OpAddHook {
		g.hooks = append(g.hooks, s.ID)
	}
	if s.Op.Timers() {
		s.Delay = g.delay(s.Op)
	}
	if s.Op == history.OpFixedRate || s.Op == history.OpFixedDelay {
		s.Period = 5*time.Millisecond + g.duration("period")
		if g.chance(12, "extreme period") {
			s.Period = math.MaxInt64
		}
	}
	s.Try = s.Op == history.OpExecute && (s.Try || g.chance(5, "try"))
	if s.Op == history.OpSchedule && (s.Own || g.chance(3, "own")) {
		s.Own, s.From = true, g.pick(g.resets, "from")
		if s.From == s.ID {
			s.From = 0
		}
	}
	s.Body = g.script(s.Op, depth)
}

// delay draws the delay of a timer, or of its Reset.
func (g *generator) delay(op history.Op) time.Duration {
	d := g.duration("delay")
	if !g.chance(12, "extreme delay") {
		return d
	}
	d = rapid.SampledFrom([]time.Duration{-time.Second, math.MinInt64, math.MaxInt64, math.MaxInt64 - 1}).Draw(g.T, "extreme")
	if op == history.OpFixedRate || op == history.OpFixedDelay {
		return math.MaxInt64
	}
	return d
}

func (g *generator) script(op history.Op, depth int) *Script {
	b := &Script{}
	if g.profile.Long || g.chance(4, "long") {
		b.Sleep = g.duration("sleep")
	}
	if !g.huge && op != history.OpFixedRate && (g.profile.Long && g.chance(4, "await") || g.chance(24, "await rarely")) {
		b.Await = true
	}
	if depth < 2 && g.chance(2, "calls inside") {
		b.Steps = g.steps(3, depth+1)
	}
	if g.profile.Abrupt && g.chance(2, "abrupt") || g.chance(10, "abrupt rarely") {
		b.End = rapid.SampledFrom([]history.Outcome{history.Panicked, history.Exited}).Draw(g.T, "end")
		if op == history.OpFixedRate || op == history.OpFixedDelay {
			b.LastRun = 1 + g.one(3, "in run")
		}
	}
	if op == history.OpExecute && depth == 0 && (g.profile.Again && g.chance(3, "again") || g.chance(40, "again rarely")) {
		b.Again = 150 + g.one(150, "times")
	}
	if op == history.OpSubmit && g.chance(2, "listener") {
		b.Listen = true
		if depth < 2 && g.chance(2, "listener calls") {
			b.Listener = &Script{Steps: g.steps(2, depth+1)}
			if g.chance(4, "listener abrupt") {
				b.Listener.End = history.Panicked
				if g.profile.Wide && g.chance(2, "listener exits") {
					b.Listener.End = history.Exited
				}
			}
		}
	}
	return b
}

// onGrid draws one of the durations of programs. There are few, so that two of them often
// coincide.
var onGrid = rapid.SampledFrom([]time.Duration{0, time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 15 * time.Millisecond, 20 * time.Millisecond})

// duration draws a point of the grid, or a value one nanosecond from it.
func (g *generator) duration(label string) time.Duration {
	d := onGrid.Draw(g.T, label)
	switch g.one(8, label+" beside") {
	case 6:
		d++
	case 7:
		d = max(0, d-1)
	}
	return d
}

// slack draws timeout minus quiet.
func (g *generator) slack() time.Duration {
	if g.huge && g.chance(2, "huge") {
		return rapid.SampledFrom([]time.Duration{math.MaxInt64, math.MaxInt64 / 2, 200 * 365 * 24 * time.Hour}).Draw(g.T, "centuries")
	}
	if g.chance(3, "ample") {
		return 100 * time.Millisecond
	}
	return g.duration("slack")
}
