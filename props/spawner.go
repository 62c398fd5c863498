package props

import (
	"errors"
	"strings"
	"time"

	"eventide/core"
)

// slowStart is how long a slow spawner takes.
const slowStart = 5 * time.Millisecond

var errRefusedStart = errors.New("props: the spawner refuses")

// spawnerPanic is the value of a panic of the spawner.
const spawnerPanic = "props: the spawner panics"

// startFailure has the error of a start, by the result of the spawner, as kindOfStart returns it.
var startFailure = map[Start]Start{
	StartRefused: StartRefused, StartLate: StartRefused, StartBoth: StartRefused, StartPanic: StartPanic, StartInline: StartInline,
}

// kindOfStart returns which failure of a start an error is, or "".
func kindOfStart(err error) Start {
	err, _ = reason(err)
	var panicked *core.PanicError
	switch {
	case errors.Is(err, errRefusedStart):
		return StartRefused
	case errors.As(err, &panicked) && panicked.Value == spawnerPanic:
		return StartPanic
	case strings.Contains(err.Error(), "the spawner called the function of the loop on its own goroutine"):
		return StartInline
	}
	return ""
}

// lookAtStart compares the error of a call, or of the executor, with the starts that have failed. If
// refused is set, the error must be one of them.
func (h *harness) lookAtStart(err error, refused bool) {
	kind := kindOfStart(err)
	h.mu.Lock()
	defer h.mu.Unlock()
	if (kind != "" || refused) && !h.failedStarts[kind] {
		h.blame("a start has failed with %v, and the spawner has failed in other ways only: %v", err, h.failedStarts)
	}
}

// spawn is the executor's spawner: it returns the results of the program.
func (h *harness) spawn(loop func()) error {
	run := func() {
		growStack(false)
		loop()
	}
	h.mu.Lock()
	start := StartOK
	if len(h.starts) > 0 {
		start, h.starts = h.starts[0], h.starts[1:]
	}
	h.failedStarts[startFailure[start]] = true
	h.mu.Unlock()
	switch start {
	case StartRefused:
		return errRefusedStart
	case StartPanic:
		panic(spawnerPanic)
	case StartInline:
		loop()
		return nil
	case StartSlow:
		time.Sleep(slowStart)
	case StartCallback:
		h.aside(inSpawner, h.callBack)
	case StartTwice:
		go run()
	case StartBoth:
		loop()
		return errRefusedStart
	case StartLate:
		go run()
		return errRefusedStart
	}
	go run()
	return nil
}

// callBack makes calls in the spawner: those of the program at the first time, if it has any, and otherwise
// Execute.
func (h *harness) callBack() {
	h.mu.Lock()
	steps := h.callbacks
	h.callbacks = nil
	h.mu.Unlock()
	if len(steps) == 0 {
		h.call(h.extraTask())
		return
	}
	h.steps(steps, false)
}
