package stress

import (
	"errors"
	"sync/atomic"

	"eventide/core"
)

var errSpawner = errors.New("no goroutine today")

// launching is an executor whose spawner refuses once, with two tasks and a
// shutdown on their way.
type launching struct {
	ex   *core.Executor
	errs [2]error
	ran  atomic.Int32
}

func newLaunching() *launching {
	var asked atomic.Int32
	return &launching{ex: must(core.NewExecutor(core.WithSpawner(func(loop func()) error {
		if asked.Add(1) == 1 {
			return errSpawner
		}
		go loop()
		return nil
	})))}
}

func (l *launching) execute(i int) { l.errs[i] = l.ex.Execute(func() { l.ran.Add(1) }) }
func (l *launching) first()        { l.execute(0) }
func (l *launching) second()       { l.execute(1) }
func (l *launching) shutdown()     { l.ex.Shutdown() }
func (l *launching) drain()        { must(l.ex.ShutdownGracefully(0, longTime)) }

func (l *launching) outcome() string {
	if !ended(l.ex) {
		return stuck
	}
	accepted := int32(0)
	for _, err := range l.errs {
		var rejected *core.RejectedError
		switch {
		case err == nil:
			accepted++
		case !errors.As(err, &rejected):
			return "refused with another error"
		}
	}
	if ran := l.ran.Load(); ran != accepted {
		return "accepted is not ran"
	}
	end := "orderly end"
	if err := l.ex.Termination().Err(); errors.Is(err, errSpawner) {
		end = "the spawner's error"
	} else if err != nil {
		end = err.Error()
	}
	return [...]string{"none", "one", "both"}[accepted] + " accepted, " + end
}

func startRaces() []contest {
	rows := []Row{
		{"none accepted, the spawner's error", Acceptable, "The shutdown shared or made the start that was refused: that is the end."},
		{"none accepted, orderly end", Acceptable, "A task's start was refused and nothing was kept; the shutdown started the loop."},
		{"one accepted, orderly end", Acceptable, "One task's start was refused, the other's was not."},
		{"both accepted, orderly end", Forbidden, "G17: the spawner refused somebody."},
		{"one accepted, the spawner's error", Forbidden, "G17: a start that fails keeps nothing."},
		{"accepted is not ran", Forbidden, "G3: accepted tasks run, others do not."},
		{"refused with another error", Forbidden, "G5: a refusal is a RejectedError."},
	}
	race := func(name string, end func(*launching)) contest {
		return contest{name: name, run: Race[*launching]{
			Setup:   newLaunching,
			Actors:  []func(*launching){(*launching).first, (*launching).second, end},
			Outcome: (*launching).outcome,
		}.Run, rows: rows}
	}
	return []contest{
		race("a start that fails, two Executes and Shutdown", (*launching).shutdown),
		race("a start that fails, two Executes and a graceful shutdown", (*launching).drain),
	}
}
