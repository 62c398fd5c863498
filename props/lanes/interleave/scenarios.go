package interleave

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"eventide/props"
	"eventide/props/history"
	"eventide/props/interleave/inprocess"
	"eventide/props/lanes/interleave/bare"
)

// about says which guarantees a scenario was made for, by the beginning of its name.
// With -lean for one of them the lane visits the scenario more often.
var about = []struct {
	prefix     string
	guarantees []string
}{
	{"sleeping ", []string{"G12"}},
	{"start ", []string{"G1", "G17", "G24"}},
	{"body ", []string{"G9", "G14"}},
	{"timers ", []string{"G7", "G8", "G12"}},
	{"bounded ", []string{"G19"}},
	{"poller ", []string{"G12", "G15", "G24"}},
	{"loop ", []string{"G12", "G13", "G15", "G22", "G23"}},
	{"pool ", []string{"G3", "G6", "G9", "G12", "G14"}},
	{"group ", []string{"G21"}},
}

// leaning returns the scenarios that were made for a guarantee.
func leaning(all []Scenario, id string) []Scenario {
	var some []Scenario
	for _, sc := range all {
		for _, a := range about {
			if strings.HasPrefix(sc.Name, a.prefix) && slices.Contains(a.guarantees, id) {
				some = append(some, sc)
			}
		}
	}
	return some
}

// call is one of the calls whose pairs are explored exhaustively.
type call struct {
	name  string
	steps func(id int) []props.Step
}

func submits(op history.Op) func(id int) []props.Step {
	return func(id int) []props.Step { return []props.Step{{Op: op, ID: id, Body: &props.Script{}}} }
}

func shuts(op history.Op, quiet, timeout time.Duration) func(int) []props.Step {
	return func(int) []props.Step { return []props.Step{{Op: op, Quiet: quiet, Timeout: timeout}} }
}

// calls are the calls that submit work to an executor or shut it down.
var calls = []call{
	{"execute", submits(history.OpExecute)},
	{"lazy", submits(history.OpExecuteLazy)},
	{"tail", submits(history.OpAfterIteration)},
	{"submit", func(id int) []props.Step {
		return []props.Step{{Op: history.OpSubmit, ID: id, Body: &props.Script{Listen: true}}}
	}},
	{"schedule", func(id int) []props.Step {
		return []props.Step{{Op: history.OpSchedule, ID: id, Delay: time.Millisecond, Body: &props.Script{}}}
	}},
	{"schedule-cancel", func(id int) []props.Step {
		return []props.Step{{Op: history.OpSchedule, ID: id, Body: &props.Script{}}, {Op: history.OpCancel, Target: id}}
	}},
	{"hook", submits(history.OpAddHook)},
	{"graceful(0,0)", shuts(history.OpShutdownGracefully, 0, 0)},
	{"graceful(1ms,2ms)", shuts(history.OpShutdownGracefully, time.Millisecond, 2*time.Millisecond)},
	{"shutdown", shuts(history.OpShutdown, 0, 0)},
}

// Pairs returns a scenario for every pair of calls, from two goroutines against one
// loop; with warm, the loop has been started and sleeps when they begin.
func Pairs(warm bool) []Scenario {
	var all []Scenario
	for i, a := range calls {
		for _, b := range calls[i:] {
			p := props.Program{Actors: []props.Actor{{Steps: a.steps(1)}, {Steps: b.steps(2)}}}
			name := a.name + "|" + b.name
			if warm {
				name += "|warm"
				for k := range p.Actors {
					p.Actors[k].Steps[0].Wait = time.Millisecond
				}
				p.Actors = append(p.Actors, props.Actor{Steps: submits(history.OpExecute)(3)})
			}
			all = append(all, Scenario{Name: name, Program: p})
		}
	}
	return all
}

// Focused returns small programs around the places where a mistake is likely: a
// start that fails while others call, a bounded queue, hooks, bodies that exit,
// timers that tie with a deadline.
func Focused() []Scenario {
	execute := submits(history.OpExecute)
	var all []Scenario
	add := func(name string, time inprocess.TimeMode, p props.Program) {
		all = append(all, Scenario{Name: name, Program: p, Time: time})
	}
	for _, start := range []props.Start{props.StartRefused, props.StartPanic, props.StartLate, props.StartTwice, props.StartInline, props.StartCallback} {
		for _, other := range []call{calls[0], calls[7], calls[9]} {
			add(fmt.Sprintf("start %s|%s", start, other.name), inprocess.Idle, props.Program{
				Starts: []props.Start{start},
				Actors: []props.Actor{{Steps: execute(1)}, {Steps: other.steps(2)}, {Steps: execute(3)}},
			})
			add(fmt.Sprintf("start %s twice|%s", start, other.name), inprocess.Idle, props.Program{
				Starts: []props.Start{start, start},
				Actors: []props.Actor{{Steps: execute(1)}, {Steps: other.steps(2)}},
			})
		}
	}
	for _, kind := range []struct {
		name    string
		workers int
	}{{"", 0}, {"|pool", 1}} {
		add("starts that fail in two ways|shutdown"+kind.name, inprocess.Idle, props.Program{
			Pool:   kind.workers,
			Starts: []props.Start{props.StartRefused, props.StartPanic},
			Actors: []props.Actor{{Steps: execute(1)}, {Steps: calls[9].steps(2)}},
		})
		for _, timeout := range []time.Duration{time.Millisecond, 0} {
			add(fmt.Sprintf("timeout %v|body that waits for Context%s", timeout, kind.name), inprocess.Idle, props.Program{
				Pool: kind.workers,
				Actors: []props.Actor{{Steps: []props.Step{
					{Op: history.OpExecute, ID: 1, Body: &props.Script{Await: true}},
					{Op: history.OpShutdownGracefully, Timeout: timeout},
				}}},
			})
		}
	}
	for _, end := range []history.Outcome{history.Exited, history.Panicked} {
		for _, other := range []call{calls[0], calls[6], calls[7], calls[9]} {
			add(fmt.Sprintf("body %v|%s", end, other.name), inprocess.Idle, props.Program{
				Actors: []props.Actor{
					{Steps: []props.Step{{Op: history.OpExecute, ID: 1, Body: &props.Script{End: end}}}},
					{Steps: other.steps(2)},
				},
			})
		}
	}
	for _, policy := range []history.TimerPolicy{history.CancelTimers, history.RunDueTimers, history.RunTimersUntilTimeout} {
		for _, mode := range []inprocess.TimeMode{inprocess.Idle, inprocess.Adversarial, inprocess.Boundary} {
			add(fmt.Sprintf("timers %v %v", policy, mode), mode, props.Program{
				Timers: policy,
				Actors: []props.Actor{
					{Steps: []props.Step{
						{Op: history.OpSchedule, ID: 1, Delay: time.Millisecond, Body: &props.Script{}},
						{Op: history.OpSchedule, ID: 2, Delay: 2 * time.Millisecond, Body: &props.Script{}},
						{Op: history.OpCancel, Target: 1},
					}},
					{Steps: []props.Step{{Wait: time.Millisecond, Op: history.OpShutdownGracefully, Quiet: time.Millisecond, Timeout: time.Millisecond}}},
					{Steps: []props.Step{{Wait: 2 * time.Millisecond, Op: history.OpExecute, ID: 3, Body: &props.Script{}}}},
				},
			})
		}
	}
	// The first hook is not the last body before the loop finds out that admission is closed.
	hook := func(id int) props.Step {
		return props.Step{Op: history.OpAddHook, ID: id, Body: &props.Script{End: history.Exited}}
	}
	add("hooks that exit|shutdown", inprocess.Idle, props.Program{Actors: []props.Actor{
		{Steps: []props.Step{hook(1), hook(2), {Op: history.OpShutdownGracefully, Timeout: time.Second}}},
		{Steps: calls[9].steps(0)},
	}})
	return append(all, bounded()...)
}

// leastBound is the smallest bound of a queue that core takes.
const leastBound = 16

// interrupting is the number of tasks of a batch that interrupt it.
const interrupting = 8

// bounded returns programs on a full queue. One body fills the queue, so that its tasks
// are one batch. Each of the first tasks of the batch submits a task, so that the queue
// is full again, and interrupts the batch when it ends. At that moment another
// goroutine submits tasks.
func bounded() []Scenario {
	var all []Scenario
	execute := submits(history.OpExecute)
	for _, first := range []struct {
		name string
		op   history.Op
		body props.Script
	}{
		{"listener", history.OpSubmit, props.Script{Listen: true}},
		{"panic", history.OpExecute, props.Script{End: history.Panicked}},
		{"exit", history.OpExecute, props.Script{End: history.Exited}},
		// With the listener, the next event is not the Begin of a task. Otherwise the
		// next task begins, and core may have accepted a task too many after it decided
		// on this Begin, which overfull does not judge.
		{"exit with a listener", history.OpSubmit, props.Script{Listen: true, End: history.Exited}},
	} {
		var batch []props.Step
		for id := 2; len(batch) < leastBound; id++ {
			step := execute(id)[0]
			if len(batch) < interrupting {
				body := first.body
				body.Steps = execute(200 + id)
				step = props.Step{Op: first.op, ID: id, Body: &body}
			}
			batch = append(batch, step)
		}
		all = append(all, Scenario{Name: "bounded " + first.name, Program: props.Program{
			Limit: leastBound,
			Actors: []props.Actor{
				{Steps: []props.Step{{Op: history.OpExecute, ID: 1, Body: &props.Script{Steps: batch}}}},
				{Steps: slices.Concat(execute(100), execute(101))},
			},
		}})
	}
	return all
}

// Bare returns programs that run without a Tracer.
func Bare() []Scenario {
	var all []Scenario
	for _, c := range []bare.Config{
		{Producers: 2, Tasks: 1}, {Producers: 2, Tasks: 2, Hook: true}, {Producers: 1, Tasks: 2, Nested: true},
		{Producers: 1, Tasks: 2, Await: true}, {Producers: 2, Tasks: 1, Await: true, Warm: true},
		{Producers: 2, Tasks: 1, Warm: true}, {Producers: 2, Tasks: 2, Warm: true, Graceful: true},
		{Producers: 1, Tasks: 1, Warm: true, Nested: true, Graceful: true, Hook: true}, {Producers: 3, Tasks: 1, Graceful: true},
	} {
		all = append(all, Scenario{Name: fmt.Sprintf("bare %v", c), Bare: &c})
	}
	return all
}

// Generated returns the program that the generator of the property tests makes of a
// seed. The program leans towards the guarantee id, or towards none if id is "".
func Generated(id string, seed int) Scenario {
	sc := Scenario{Name: fmt.Sprintf("generated %s/%d", id, seed)}
	if id == "G21" {
		group := props.GroupPrograms().Example(seed)
		if group.Cell.Context != "" { // judged by instants of virtual time
			group = props.GroupProgram{Children: group.Children, Callers: 1, Calls: 2, Body: time.Millisecond}
		}
		sc.Group = &group
		return sc // G21 is about exact times: the clock moves only when no goroutine can run
	}
	g, _ := props.Lookup(id)
	sc.Program = props.Programs(g.Profile).Example(seed)
	if seed%4 == 3 {
		sc.Time = inprocess.TimeMode(1 + seed/4%2)
	}
	return sc
}
