package stress

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"eventide/core"
)

// extras are the hooks and timers of a round. What the bodies write is plain, as
// they never overlap; it is read after Done.
type extras struct {
	hooks  []string // in the order run
	timers []*watched
	task   producer // submits from inside a hook
	remove func() bool
	cancel *watched
	faults faults
}

// watched is a timer and what became of it.
type watched struct {
	*core.Timer
	periodic bool
	runs     int64
}

// addExtras adds hooks: one that is taken back at once, one that somebody will try
// to take back, one that adds another, one that submits a task. And timers: due,
// never due, periodic, and one that somebody will try to cancel.
func (r *round) addExtras() error {
	x := &r.extras
	removed, err := r.hook("removed", nothing)
	if err != nil {
		return err
	}
	if !removed() {
		x.faults.add("G6: a hook could not be removed before any shutdown call")
	}
	if x.remove, err = r.hook("contended", nothing); err != nil {
		return err
	}
	if _, err = r.hook("adds", func() { r.hookFromHook() }); err != nil {
		return err
	}
	if _, err = r.hook("submits", func() { x.task.offer(r) }); err != nil {
		return err
	}
	if x.cancel, err = r.timer(shortTime, false); err != nil {
		return err
	}
	if _, err = r.timer(0, false); err != nil {
		return err
	}
	if _, err = r.timer(longTime, false); err != nil {
		return err
	}
	_, err = r.timer(shortTime/16, true)
	return err
}

func (r *round) hook(name string, and func()) (remove func() bool, err error) {
	return r.ex.AddShutdownHook(func() {
		r.enter(&r.extras.faults)
		defer r.leave()
		if r.ex.State() < core.StateShuttingDown {
			r.extras.faults.add("G6: a hook ran before ShuttingDown")
		}
		r.extras.hooks = append(r.extras.hooks, name)
		and()
	})
}

func (r *round) hookFromHook() {
	if _, err := r.hook("added", nothing); err != nil {
		r.extras.faults.add("G6: a hook accepted before the close could not add one: " + err.Error())
	}
}

func (r *round) timer(delay time.Duration, periodic bool) (w *watched, err error) {
	w = &watched{periodic: periodic}
	due := time.Now().Add(delay)
	body := func() {
		r.enter(&r.extras.faults)
		defer r.leave()
		if time.Now().Before(due) {
			r.extras.faults.add("G7: a timer ran early")
		}
		w.runs++
	}
	if periodic {
		w.Timer, err = r.ex.ScheduleAtFixedRate(delay, delay, body)
	} else {
		w.Timer, err = r.ex.Schedule(delay, body)
	}
	r.extras.timers = append(r.extras.timers, w)
	return w, err
}

// judge judges the extras at rest.
func (x *extras) judge(removed, cancelled bool, report core.Report) (problems []string) {
	want := []string{"contended", "adds", "submits", "added"}
	if removed {
		want = want[1:]
	}
	if !slices.Equal(x.hooks, want) {
		problems = append(problems, fmt.Sprintf("G6: hooks ran: got %q, want %q", x.hooks, want))
	}
	if got, want := report.HooksRun, int64(len(x.hooks)); got != want {
		problems = append(problems, fmt.Sprintf("Report.HooksRun: got %d, want %d", got, want))
	}
	if cancelled && !errors.Is(x.cancel.Err(), core.ErrCancelled) {
		problems = append(problems, fmt.Sprintf("G8: Cancel returned true and Err is %v, want ErrCancelled", x.cancel.Err()))
	}
	return append(problems, x.judgeTimers(report)...)
}

func (x *extras) judgeTimers(report core.Report) (problems []string) {
	var ran, dropped int64
	for i, w := range x.timers {
		ran += w.runs
		err := w.Err()
		if errors.Is(err, core.ErrCancelled) {
			dropped++
		} else if err != nil {
			problems = append(problems, fmt.Sprintf("timer %d: Err is %v, want nil or ErrCancelled", i, err))
		}
		if !isClosed(w.Done()) {
			problems = append(problems, fmt.Sprintf("G3: timer %d was not complete when Done was closed", i))
		}
		if once := w.runs == 1 && err == nil || w.runs == 0 && err != nil; !w.periodic && !once {
			problems = append(problems, fmt.Sprintf("G8: one-shot timer %d ran %d times and Err is %v, want exactly one of ran and cancelled", i, w.runs, err))
		}
	}
	if report.TimersRun != ran || report.TimersCancelled != dropped {
		problems = append(problems, fmt.Sprintf("Report: %d timers run, %d cancelled; want %d and %d", report.TimersRun, report.TimersCancelled, ran, dropped))
	}
	return problems
}
