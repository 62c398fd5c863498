package exectest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"eventide/internal/contract"
)

// count has the results of the calls of a strike.
type count struct {
	made, accepted, refused       int
	stuck                         int // calls that have not returned
	lost, late, twice, refusedRan int
	futures, open                 int
}

func (k *strike) count() count {
	var c count
	for i := range k.slots {
		s := &k.slots[i]
		stage, ran := s.stage.Load(), s.ran.Load()
		c.made += one(stage != notMade)
		switch stage {
		case calling:
			c.stuck++
		case refused:
			c.refused++
			c.refusedRan += one(ran > 0)
		case accepted:
			c.accepted++
			c.lost += one(ran == 0)
			c.twice += one(ran > 1)
			c.late += one(ran > 0 && s.late.Load())
		}
		if f := s.future.Load(); f != nil {
			c.futures++
			c.open += one(!closed((*f).Done()))
		}
	}
	return c
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// suspicious reports whether something is missing that may still happen.
func (k *strike) suspicious() bool {
	c := k.count()
	return c.lost+c.stuck > 0
}

// The judges of strikes. Each returns what is wrong, or "", and how often the premise of
// its guarantee occurred.

func exactlyOnce(k *strike) (string, int) {
	c := k.count()
	var wrong []string
	add := func(n int, what string) {
		if n > 0 {
			wrong = append(wrong, fmt.Sprintf("%d %s", n, what))
		}
	}
	add(c.lost, "accepted and never ran")
	add(c.late, "accepted and ran after Done")
	add(c.twice, "accepted and ran more than once")
	add(c.refusedRan, "refused and ran")
	add(c.stuck, "never returned, though Done was closed")
	if len(wrong) == 0 {
		return "", c.made
	}
	return fmt.Sprintf("of %d calls %d were accepted and %d refused: %s", c.made, c.accepted, c.refused, strings.Join(wrong, ", ")), c.made
}

func everyFutureEnds(k *strike) (string, int) {
	c := k.count()
	if c.open == 0 {
		return "", c.futures
	}
	return fmt.Sprintf("of %d futures that were not refused %d never ended", c.futures, c.open), c.futures
}

func oneAtATime(k *strike) (string, int) {
	if k.overlapped.Load() {
		return "two bodies ran at once", 1
	}
	return "", k.count().accepted
}

func inOrder(k *strike) (string, int) {
	if k.disordered.Load() {
		return "a producer's later task began before its earlier one", 1
	}
	return "", k.count().accepted
}

// hammering says how a clause uses hammers.
type hammering struct {
	call  call
	dwell int
	runs  int // unless Rounds is given
	judge judgeOfStrikes
}

type judgeOfStrikes func(*strike) (text string, exercised int)

// judges returns the judges of every strike with this call, each with its guarantee.
func (c call) judges() []struct {
	guarantee string
	judge     judgeOfStrikes
} {
	once, order := "G3", "G4"
	if c == callAddHook {
		once, order = "G6", "G6"
	}
	return []struct {
		guarantee string
		judge     judgeOfStrikes
	}{{"G2", oneAtATime}, {once, exactlyOnce}, {order, inOrder}, {"G9", everyFutureEnds}}
}

// judgeStrike judges a strike by the clause's own judge, and then by all others.
func (cl *clause) judgeStrike(c *config, k *strike) verdict {
	text, exercised := cl.hammering.judge(k)
	v := verdict{guarantee: cl.name, text: text, exercised: exercised, judged: true}
	for _, other := range k.call.judges() {
		if v.text == "" && c.judges(other.guarantee) {
			v.guarantee = other.guarantee
			v.text, _ = other.judge(k)
		}
	}
	return v
}

// DefaultHammerTime is how long a guarantee may use runs without the log, unless
// HammerTime or Rounds is given. An executor in this process needs a fraction of this
// time. The limit matters for an executor behind a pipe, where a call takes 0.1 ms, and
// under the race detector.
const DefaultHammerTime = time.Second

// hammer makes the clause's runs without the log until something breaks, and then fills
// the row.
func (cl *clause) hammer(row *Row, factory func() Subject, c *config) {
	strikes, wakers, tasks := c.inProportion(cl, cl.hammering.runs), c.inProportion(cl, cl.wakers), c.inProportion(cl, cl.tasks)
	row.Planned = strikes + wakers + one(tasks > 0)
	cl.strikes(row, factory, c, strikes)
	for i := range wakers {
		if row.Status == Fail {
			return
		}
		w := waking(rand.New(rand.NewPCG(c.seed, wakerStream+uint64(i))))
		cl.record(row, c, w, func() verdict { return cl.wake(factory, c, w) })
	}
	if tasks > 0 && row.Status != Fail {
		e := enduring(rand.New(rand.NewPCG(c.seed, enduranceStream)), tasks)
		cl.record(row, c, e, func() verdict { return cl.strike(factory, c, e) })
	}
}

// strikes makes the clause's strikes until one of them breaks the clause's guarantee or
// the time is over.
func (cl *clause) strikes(row *Row, factory func() Subject, c *config, runs int) {
	limit := c.hammerLimit(cl)
	began := time.Now()
	inside := true
	for i := range runs {
		if row.Status == Fail || time.Since(began) > limit {
			return
		}
		h := hammered(rand.New(rand.NewPCG(c.seed, hammerStream+uint64(i))), cl.hammering.call)
		h.dwell = cl.hammering.dwell
		h.inside = h.inside && inside
		v := cl.record(row, c, h, func() verdict { return cl.strike(factory, c, h) })
		switch {
		case v.judged:
		case h.inside:
			inside = false     // a task that calls Shutdown waits for itself, which G18 judges
			began = time.Now() // the other strikes get the full time
		case c.realTime:
			return // each strike would wait as long
		}
	}
}

// record makes a run without the log and fills the row if it broke the clause's guarantee.
// A breach of another guarantee becomes a sighting.
func (cl *clause) record(row *Row, c *config, b blow, again func() verdict) verdict {
	v := again()
	row.Hammers += one(v.judged)
	row.Exercised += v.exercised
	switch {
	case v.text != "" && v.guarantee == cl.name:
		cl.explainBlow(row, c, b, v.text, again)
	case v.text != "":
		own := c.outside(cl, v.guarantee)
		c.others.add(sighting{v.guarantee, contract.Sentence(v.guarantee), v.text, func(row *Row) { cl.explainBlow(row, own, b, v.text, again) }})
	}
	return v
}

// Streams separate the random numbers of runs without the log from those of programs.
const (
	hammerStream    = 1 << 32
	wakerStream     = 2 << 32
	enduranceStream = 3 << 32
)

// inProportion returns n; if Rounds is given, it scales n like the number of programs.
func (c *config) inProportion(cl *clause, n int) int {
	if c.rounds == 0 || n == 0 {
		return n
	}
	return max(1, n*c.rounds/cl.rounds)
}

// hammerLimit returns how long the clause may make strikes.
func (c *config) hammerLimit(cl *clause) time.Duration {
	switch {
	case c.hammerTime > 0:
		return c.hammerTime
	case c.rounds == 0:
		return DefaultHammerTime
	default:
		return max(DefaultHammerTime, DefaultHammerTime*time.Duration(c.rounds)/time.Duration(cl.rounds))
	}
}

// strike runs a hammer on a fresh subject and judges it.
func (cl *clause) strike(factory func() Subject, c *config, h hammer) verdict {
	own := *c
	if h.inside {
		own.patience = min(own.patience, patienceInside)
	}
	v, hung := cl.unlogged(factory, &own, func(s Subject) verdict {
		defer abandon(s)
		k := newStrike(h, s)
		switch {
		case h.ahead == 0:
		case c.realTime:
			k.limit = c.hammerLimit(cl)
		default:
			k.limit = longestWait // which takes no time in a bubble
		}
		if !k.run(c.settle(), c.realTime) {
			return verdict{}
		}
		return cl.judgeStrike(c, k) // judged inside the bubble, because its channels belong to it
	})
	if hung && h.inside {
		return verdict{}
	}
	return v
}

// wake runs a waker on a fresh subject and judges it.
func (cl *clause) wake(factory func() Subject, c *config, w waker) verdict {
	v, _ := cl.unlogged(factory, c, func(s Subject) verdict {
		text, exercised := w.run(s, func() (Subject, error) { return c.fresh(factory) })
		return verdict{guarantee: cl.name, text: text, exercised: exercised, judged: true}
	})
	return v
}

// unlogged makes a run without the log on a fresh subject.
func (cl *clause) unlogged(factory func() Subject, c *config, f func(Subject) verdict) (v verdict, hung bool) {
	r := carryOut(c, func(func(bool) func() int) (r run) {
		s, err := c.fresh(factory)
		if err != nil {
			return run{err: err}
		}
		return run{verdict: f(s)}
	})
	switch {
	case r.hung:
		return verdict{guarantee: cl.name, text: restless, judged: true}, true
	case r.err != nil:
		return verdict{guarantee: cl.name, text: r.err.Error(), judged: true}, false
	default:
		return r.verdict, false
	}
}

// patienceInside limits a run in which a task calls Shutdown. If the queue is full, and
// Execute waits for room while it holds a lock that Shutdown needs, the loop waits for
// itself.
const patienceInside = 2 * time.Second

// verdict is the judgement of a strike.
type verdict struct {
	guarantee string // the broken guarantee, if any
	text      string // what is wrong, or ""
	exercised int
	judged    bool
}
