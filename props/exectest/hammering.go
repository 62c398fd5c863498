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

// timeForHammers is how long a clause may hammer, unless Rounds is given. An executor in
// this process needs a fraction of it. It limits an executor behind a pipe, where a call
// takes 0.1 ms, and runs under the race detector.
const timeForHammers = time.Second

// hammer strikes until something breaks, and then fills the row.
func (cl *clause) hammer(row *Row, factory func() Subject, c *config) {
	runs, limit := cl.hammers(c)
	began := time.Now()
	inside := true
	for i := range runs {
		if time.Since(began) > limit {
			return
		}
		h := hammered(rand.New(rand.NewPCG(c.seed, hammerStream+uint64(i))), cl.hammering.call)
		h.dwell = cl.hammering.dwell
		h.inside = h.inside && inside
		v := cl.strike(factory, c, h)
		row.Hammers += one(v.judged)
		row.Exercised += v.exercised
		switch {
		case v.text != "" && v.guarantee == cl.name:
			cl.explainHammer(row, factory, c, h, v.text)
			return
		case v.text != "":
			own := c.outside(cl, v.guarantee)
			c.others.add(sighting{v.guarantee, contract.Sentence(v.guarantee), v.text, func(row *Row) { cl.explainHammer(row, factory, own, h, v.text) }})
		case v.judged:
		case h.inside:
			inside = false     // a task that calls Shutdown waits for itself, which G18 judges
			began = time.Now() // the other strikes get the full time
		case c.realTime:
			return // each strike would wait as long
		}
	}
}

// hammerStream separates the random numbers of hammers from those of programs.
const hammerStream = 1 << 32

// hammers returns the number of strikes and the time for them, in proportion to Rounds.
func (cl *clause) hammers(c *config) (runs int, limit time.Duration) {
	if c.rounds == 0 {
		return cl.hammering.runs, timeForHammers
	}
	limit = max(timeForHammers, timeForHammers*time.Duration(c.rounds)/time.Duration(cl.rounds))
	return max(1, cl.hammering.runs*c.rounds/cl.rounds), limit
}

// strike runs a hammer on a fresh subject and judges it.
func (cl *clause) strike(factory func() Subject, c *config, h hammer) verdict {
	own := *c
	if h.inside {
		own.patience = min(own.patience, patienceInside)
	}
	r := carryOut(&own, func(func(bool) func() int) (r run) {
		s, err := fresh(factory)
		if err != nil {
			return run{err: err}
		}
		defer abandon(s)
		if k := newStrike(h, s); k.run(c.settle(), c.realTime) {
			r.verdict = cl.judgeStrike(c, k) // here, because the channels belong to the bubble
		}
		return r
	})
	switch {
	case r.hung && h.inside:
		return verdict{}
	case r.hung:
		return verdict{guarantee: cl.name, text: restless, judged: true}
	case r.err != nil:
		return verdict{guarantee: cl.name, text: r.err.Error(), judged: true}
	default:
		return r.verdict
	}
}

// patienceInside is how long a run may take in which a task calls Shutdown. If Execute
// waits for room with a lock that Shutdown needs, and the queue is full, the loop waits
// for itself.
const patienceInside = 2 * time.Second

// verdict is the judgement of a strike.
type verdict struct {
	guarantee string // the broken guarantee, if any
	text      string // what is wrong, or ""
	exercised int
	judged    bool
}
