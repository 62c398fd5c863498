package interleave

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"eventide/props"
	"eventide/props/interleave/inprocess"
	"eventide/props/lane"
)

// Schedules of one visit to a scenario. A generated program gets one of each strategy,
// because the generator has any number of other programs.
const (
	perVisit     = 36
	perGenerated = 9
	perTurn      = 6 // scenarios of a turn that were made for the guarantee of -lean
)

// betweenLines is the default of the least time between two lines of the output. A line counts thousands of
// conflicting pairs: four lines a second took 3 % of the processor time.
const betweenLines = time.Second

// exploration is one run over the scenarios.
type exploration struct {
	settings
	scenarios []Scenario
	x         *Explorer
	done      Part // the visits that have been made
	line      lane.Result
	before    Coverage // of the line before
	began     time.Time
	printed   time.Time
}

// explore exhausts the small scenarios, then visits all scenarios in turn, named and
// generated, until the budget is spent, the rounds are made, or a violation is found.
func (s settings) explore() int {
	e := &exploration{settings: s, scenarios: named(), x: NewExplorer(), began: time.Now()}
	code, err := e.run()
	if err != nil {
		fmt.Fprintln(s.err, "lane:", err)
		return max(code, exitUsage)
	}
	return code
}

func (e *exploration) run() (code int, err error) {
	if e.scenario != "" {
		sc, err := find(e.scenario)
		if err != nil {
			return exitUsage, err
		}
		e.scenarios = []Scenario{sc}
	}
	if e.done, err = e.open(); err != nil {
		return exitUsage, err
	}
	e.x.Coverage = e.done.Coverage
	e.line = lane.Result{Lane: "interleave", Seed: e.seed, Failed: map[string]string{}, Speed: speeds(e.seed)}
	if err := e.besideFree(e.line.Speed); err != nil {
		return exitUsage, err
	}
	if e.shard.Of > 1 {
		e.line.Shard = fmt.Sprintf("%d/%d", e.shard.Index+1, e.shard.Of)
	}
	if code, err := e.first(); code != exitClean || err != nil {
		return code, err
	}
	for u := e.done.Next; !e.over(u); u++ {
		found, err := e.turn(u/len(e.scenarios), u%len(e.scenarios))
		if err != nil {
			return exitFound, err
		}
		if found {
			code = exitFound
			if !e.keep {
				return code, e.emit()
			}
		}
		if e.late() {
			break // in the middle of the turn
		}
		e.done.Next = u + 1
		if time.Since(e.printed) > e.lines {
			if err := e.emit(); err != nil {
				return exitUsage, err
			}
		}
	}
	e.done.Complete = true
	if len(e.done.Failed) == 0 {
		e.writeTimeline(e.sample(), "")
	}
	if err := e.emit(); err != nil {
		return code, err
	}
	e.text(e.err)
	return code, nil
}

// over reports whether there is no u-th turn.
func (e *exploration) over(u int) bool {
	if e.rounds > 0 {
		return u >= e.rounds*len(e.scenarios)
	}
	return e.late()
}

func (e *exploration) late() bool { return e.rounds == 0 && time.Since(e.began) >= e.budget }

// first is the exhaustive part. It is left out if an option selects a guarantee, a
// scenario or a strategy.
func (e *exploration) first() (code int, err error) {
	if e.done.First || e.only != "" || e.lean != "" || e.scenario != "" || e.strategy != "" {
		return exitClean, nil
	}
	over := func() bool { return e.rounds == 0 && time.Since(e.began) >= e.budget/4 }
	var failed error
	x, bad, err := e.exhaustFirst(over, func(x lane.Exhausted) {
		if time.Since(e.printed) > e.lines {
			e.done.Exhausted = x
			failed = errors.Join(failed, e.emit())
		}
	})
	e.done.Exhausted = x
	err = errors.Join(err, failed)
	if bad != nil && bad.found != nil {
		e.record(bad.explorer, bad.found)
		return exitFound, e.emit()
	}
	e.done.First = err == nil
	return exitClean, err
}

// turn makes the visits of one turn that fall to this shard, and reports whether
// something was found.
func (e *exploration) turn(round, i int) (bool, error) {
	hit := false
	for k, sc := range e.visit(e.scenarios, round, i) {
		if !e.shard.Has(e.seed, sc.Name, (round*len(e.scenarios)+i)*16+k) {
			continue
		}
		st, err := e.newMix(round, i)
		if err != nil {
			return false, err
		}
		n := cmp.Or(e.n, perVisit)
		if e.n == 0 && isGenerated(sc) {
			n = perGenerated
		}
		e.x.Forget()
		e.x.Sample = 0
		// A trace takes as long as several schedules, and most pairs are in generated programs.
		if (isGenerated(sc) || e.scenario != "") && (round+i+k)%2 == 0 {
			e.x.Sample = 1 + (round+i)%min(n, perGenerated) // of another strategy each time
		}
		e.done.Scenarios++
		found, err := e.x.Explore(sc, st, func(k int) bool { return k >= n || e.late() })
		if err != nil {
			return false, err
		}
		if found == nil || e.only != "" && !found.against(e.only) {
			continue
		}
		e.record(e.x, found)
		hit = true
		if !e.keep {
			return true, nil
		}
	}
	return hit, nil
}

func (e *exploration) record(x *Explorer, f *Found) {
	e.done.Failed[f.Violation.Guarantee] = f.Violation.String()
	e.line.FoundBy, e.line.Schedule = f.Strategy, x.Schedules
	e.line.Switches = e.report(x, f)
}

// emit prints a line, and keeps the state of a shard.
func (e *exploration) emit() error {
	e.done.Coverage = e.x.Coverage
	e.line.Failed, e.line.Scenarios, e.line.Exhausted = e.done.Failed, e.done.Scenarios, &e.done.Exhausted
	e.line.Seconds = time.Since(e.began).Seconds()
	e.fill()
	e.printed = time.Now()
	if err := e.line.Print(e.out); err != nil || e.part == "" {
		return err
	}
	return e.done.save(e.part)
}

// perSeldom is in how many turns one scenario of seldom is visited. With one in each, the other
// scenarios would wait too long for their next visit.
const perSeldom = 2

// seldom returns the scenarios that a round need not visit. Every turn needs the list, so seldom
// builds it once.
var seldom = sync.OnceValue(func() []Scenario { return slices.Concat(PoolPairs(), FailingPollers()) })

// visit returns the scenarios of a turn: a named one, one without a Tracer, and a
// generated one. Some turns add one of seldom. The first round adds those of
// Sleeping, and -lean adds scenarios for its guarantee.
func (s settings) visit(scenarios []Scenario, round, i int) []Scenario {
	if s.scenario != "" {
		return scenarios
	}
	// A stride that is coprime to the number of scenarios mixes them.
	sc := scenarios[(uint64(i*37+round)+s.seed%uint64(len(scenarios))*11)%uint64(len(scenarios))]
	untraced := Bare()
	id := cmp.Or(s.only, s.lean)
	if id == "" {
		id = props.Guarantees[(i+round)%len(props.Guarantees)].ID
	}
	seed := int(s.seed)*1_000_000 + round*len(scenarios) + i
	visits := []Scenario{untraced[(i+round)%len(untraced)], sc, Generated(id, seed)}
	if early := Sleeping(); s.lean == "" && round == 0 && i < len(early) {
		visits = append(visits, early[i]) // they show a lost wake-up in the first schedule
	}
	rest := seldom()
	if u := round*len(scenarios) + i; u%perSeldom == 0 {
		visits = append(visits, rest[u/perSeldom%len(rest)])
	}
	if s.lean == "" {
		return visits
	}
	if own := leaning(slices.Concat(scenarios, rest), s.lean); len(own) > 0 {
		for k := range min(perTurn, len(own)) {
			visits = append(visits, own[((round*len(scenarios)+i)*perTurn+k)%len(own)])
		}
	}
	for k := range 5 { // more generated programs
		visits = append(visits, Generated(id, seed+(k+1)<<24))
	}
	return visits
}

func (s settings) newMix(round, i int) (*inprocess.Strategy, error) {
	seed := s.seed + uint64(round)<<40 + uint64(i)<<20
	if s.strategy != "" {
		return newStrategy(s.strategy, seed)
	}
	return inprocess.NewMix(seed, inprocess.Names()...)
}
