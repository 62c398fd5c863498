package peers

import (
	"time"

	"eventide/bench"
)

// channelImpl is what Go programs use in place of an executor: the rival of
// package bench, a channel of 1024 funcs and one receiver.
func channelImpl() impl {
	return impl{
		version: goVersion(),
		open:    func() (executor, error) { return bench.NewChannel() },
		lacks: map[string]string{
			"timers": "a channel has no timers", "quiet": "a channel has no quiet period",
			"echo":    "a channel has no I/O",
			"backlog": "holds no more than 1024 tasks",
		},
	}
}

// afterFuncImpl is the runtime's timers.
func afterFuncImpl() impl {
	none := "timers only"
	return impl{
		version: goVersion(),
		timers:  func() (timers, error) { return goTimers{}, nil },
		lacks:   map[string]string{"tasks": none, "quiet": none, "echo": none},
	}
}

type goTimers struct{}

func (goTimers) schedule(delay time.Duration, f func()) (canceller, error) {
	return goTimer{time.AfterFunc(delay, f)}, nil
}

type goTimer struct{ *time.Timer }

func (t goTimer) Cancel() bool { return t.Stop() }

func (goTimers) fence() error { return nil }
func (goTimers) close() error { return nil }
