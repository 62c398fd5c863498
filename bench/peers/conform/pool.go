package conform

import (
	"time"

	"eventide/core"
	"eventide/props/exectest"
	"eventide/props/history"
)

// poolSubject is a pool of core.
type poolSubject struct{ *core.Pool }

func (s poolSubject) Shutdown(quiet, timeout time.Duration) error {
	_, err := s.ShutdownGracefully(quiet, timeout)
	return err
}

func (s poolSubject) ShutdownNow()          { s.Pool.Shutdown() }
func (s poolSubject) Done() <-chan struct{} { return s.Termination().Done() }
func (s poolSubject) State() history.State  { return stateOf(s.Pool) }
func (s poolSubject) Stats() history.Stats  { return statsOf(s.Pool) }

func (s poolSubject) Schedule(delay time.Duration, task func()) (func() bool, error) {
	return schedule(s.Pool, delay, task)
}

func (s poolSubject) Submit(task func() error) exectest.Future { return submit(s.Pool, task) }

// poolSize is more than one, so that bodies overlap.
const poolSize = 3

func corePoolSpec() Spec {
	s := Spec{
		Name:    "core-pool",
		Open:    inProcess(func() exectest.Subject { return poolSubject{must(core.NewPool(poolSize))} }),
		Options: []exectest.Option{exectest.Classify(refusal)},
	}
	for _, p := range ofCore() {
		switch p.Guarantee {
		case "G2": // the workers of a pool run bodies at the same time
			s.Options = append(s.Options, exectest.Without("G2", "bodies overlap"))
		case "G4":
			s.Options = append(s.Options, exectest.Without("G4", "tasks that two workers take begin at the same time"))
		default:
			s.Promises = append(s.Promises, p)
		}
	}
	return s
}
