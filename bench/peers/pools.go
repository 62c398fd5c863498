package peers

import (
	"github.com/alitto/pond/v2"
	"github.com/panjf2000/ants/v2"
)

// Pools of one worker run their tasks one at a time, as a loop does.

type antsPool struct{ *ants.Pool }

func (p antsPool) Execute(task func()) error { return p.Submit(task) }

// Close is Release: ants has no call that waits for what was accepted, but a pool of
// one that makes its submitters wait has no more than one task at a time.
func (p antsPool) Close() error {
	p.Release()
	return nil
}

func antsImpl() impl {
	return impl{
		version: moduleVersion("github.com/panjf2000/ants/v2"),
		open: func() (executor, error) {
			p, err := ants.NewPool(1)
			return antsPool{p}, err
		},
		lacks: map[string]string{
			"timers": "a pool has no timers", "quiet": "a pool has no quiet period", "echo": "a pool has no I/O",
			"inloop":  "a task that submits to its own pool of one worker waits for itself",
			"backlog": "the pool makes submitters wait: it has no backlog",
		},
	}
}

type pondPool struct{ pond.Pool }

func (p pondPool) Execute(task func()) error { return p.Go(task) }

func (p pondPool) Close() error {
	p.StopAndWait()
	return nil
}

func pondImpl() impl {
	return impl{
		version: moduleVersion("github.com/alitto/pond/v2"),
		open:    func() (executor, error) { return pondPool{pond.NewPool(1)}, nil },
		lacks: map[string]string{
			"timers": "a pool has no timers", "quiet": "a pool has no quiet period", "echo": "a pool has no I/O",
		},
	}
}
