package interleave

import (
	"slices"
	"time"

	"eventide/props"
	"eventide/props/history"
)

// after returns the steps of a call that is made wait after the steps before it.
func after(wait time.Duration, steps []props.Step) []props.Step {
	steps = slices.Clone(steps)
	steps[0].Wait = wait
	return steps
}

func timerIn(id int, delay time.Duration) []props.Step {
	return []props.Step{{Op: history.OpSchedule, ID: id, Delay: delay, Body: &props.Script{}}}
}

func resets(id int, delay time.Duration) []props.Step {
	return []props.Step{{Op: history.OpReset, Target: id, Delay: delay}}
}

func cancels(id int) []props.Step { return []props.Step{{Op: history.OpCancel, Target: id}} }

// Sleeping returns small programs in which the loop sleeps at each call: a single
// caller lets it fall asleep before each call, so that no other call can wake it
// instead. The last call is made after the latest timer is due: a shutdown before that
// would cancel a late timer, and the history would not show that it was late.
func Sleeping() []Scenario {
	const short, long = time.Millisecond, 10 * time.Millisecond
	execute := submits(history.OpExecute)
	late := after(2*long, execute(9))
	var all []Scenario
	add := func(name string, p props.Program, steps ...[]props.Step) {
		p.Actors = []props.Actor{{Steps: slices.Concat(steps...)}}
		all = append(all, Scenario{Name: "sleeping " + name, Program: p})
	}
	add("until a timer, a later one and an earlier", props.Program{}, timerIn(1, long), after(short, timerIn(2, long)), timerIn(3, short), late)
	add("until a timer, moved to a later time and to an earlier", props.Program{}, timerIn(1, long), after(short, resets(1, 2*long)), resets(1, short), late)
	add("after a timer, another", props.Program{}, timerIn(1, short), after(long, timerIn(2, long)), late)
	add("until timers, all cancelled", props.Program{}, timerIn(1, long), timerIn(2, long), after(short, cancels(1)), cancels(2), late)
	calling := timerIn(1, short)
	calling[0].Body.Steps = slices.Concat(execute(2), timerIn(3, short))
	add("until a timer, which calls", props.Program{}, calling, late)
	add("on lazy tasks, which fill the queue", props.Program{Limit: leastBound}, execute(8), after(short, lazyTasks(leastBound)), late)
	for _, body := range []call{{"a hook", submits(history.OpAddHook)}, {"a task", execute}} {
		// The shutdown cancels the timer, in a turn that the body cuts short.
		exits := body.steps(2)
		exits[0].Body = &props.Script{End: history.Exited}
		add("until a timer, "+body.name+" exits in the shutdown", props.Program{},
			timerIn(1, 2*long), after(short, exits), shuts(history.OpShutdownGracefully, short, long)(0))
	}
	add("in a shutdown, a registration", props.Program{Loop: true}, registers(history.OpRegisterChannel, watchedFD, -1)(watchedID),
		after(short, shuts(history.OpShutdownGracefully, short, long)(0)), after(short, registers(history.OpRegister, watchedFD+1, 0)(1)))
	var each [][]props.Step
	for i, c := range calls {
		each = append(each, after(2*short, c.steps(i+1)))
	}
	add("before each call", props.Program{}, each...)
	return all
}

func lazyTasks(n int) (steps []props.Step) {
	for id := range n {
		steps = append(steps, submits(history.OpExecuteLazy)(id+10)...)
	}
	return steps
}
