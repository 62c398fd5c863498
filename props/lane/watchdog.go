package lane

import (
	"os"
	"sync"
	"time"
)

// watchdog kills a program that does not come to an end.
type watchdog struct {
	process *os.Process
	stall   time.Duration

	mu     sync.Mutex
	killed bool
	hung   bool

	over, silent *time.Timer
}

// watch gives the program half its time more, and some seconds, to end. Its time is
// twice the budget: those that lack their minimum go on for as long again.
func (r Run) watch(p *os.Process) *watchdog {
	w := &watchdog{process: p, stall: r.Stall}
	limit := 3*r.Budget + 15*time.Second
	if w.stall == 0 {
		w.stall = limit
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = time.AfterFunc(limit, func() { w.kill(true) })
	w.silent = time.AfterFunc(w.stall, func() { w.kill(true) })
	return w
}

// heard puts off the end of patience: the program has said something.
func (w *watchdog) heard() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.killed {
		w.silent.Reset(w.stall)
	}
}

// enough ends a program that has no more to say.
func (w *watchdog) enough() { w.kill(false) }

func (w *watchdog) kill(hung bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.killed {
		w.killed, w.hung = true, hung
		_ = w.process.Kill() // it may have ended meanwhile
	}
}

// fired reports whether the program was killed.
func (w *watchdog) fired() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.killed
}

func (w *watchdog) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over.Stop()
	w.silent.Stop()
}

// ending is called when the process is over. The program's own exit codes are 0
// and, with violations, 1.
func (w *watchdog) ending(state *os.ProcessState) Ending {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.hung:
		return Hung
	case w.killed, state.ExitCode() == 0, state.ExitCode() == 1:
		return Ended
	}
	return Crashed
}
