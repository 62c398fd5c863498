package props

import (
	"errors"
	"strings"

	"eventide/core"

	"github.com/petermattis/goid"
)

// pollerAnswers has the result of the last call of Add or Modify of each goroutine, since its last call
// of changing. Guarded by mu of the poller.
type pollerAnswers map[int64]error

// answers keeps err as the result for the calling goroutine, and returns it. Requires mu.
func (p *poller) answers(err error) error {
	p.answered[goid.Get()] = err
	return err
}

// takeAnswer returns and forgets what answers has kept for the calling goroutine; nil if Add and Modify
// succeeded, or were not called.
func (p *poller) takeAnswer() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	g := goid.Get()
	err := p.answered[g]
	delete(p.answered, g)
	return err
}

// changing calls f, which calls Register, RegisterChannel or Modify, and returns its error. The error of a
// scripted poller must reach the caller. Only such an error may say that a descriptor cannot be watched,
// or that of Modify for a registration that is about to end.
func (h *harness) changing(call string, f func() error) error {
	p := h.polled
	if p == nil {
		return f()
	}
	p.takeAnswer()
	err := f()
	switch refused := p.takeAnswer(); {
	case refused != nil && !errors.Is(err, refused):
		h.blame("%s returns %v, and the poller has refused with %v", call, err, refused)
	case refused == nil && endsLoop(err):
		h.saidFailed.Store(true)
	case refused == nil && cannotWatch(err) && !endsRegistration(err):
		h.blame("%s returns %v, and the poller has refused nothing", call, err)
	}
	return err
}

// endsLoop reports whether err is that of Modify after a failure that ends the loop: Modify does not call
// the poller.
func endsLoop(err error) bool {
	return err != nil && strings.Contains(err.Error(), "the loop has failed, and ends")
}

// lookAtFailure compares what Modify has said with the end: a loop that has failed ends with the error. It
// is called after Done. The state is no measure while Modify runs: it changes after the poller is given up.
func (h *harness) lookAtFailure() {
	if h.saidFailed.Load() && h.ex.Termination().Err() == nil {
		h.blame("Modify has said that the loop has failed, and the loop has ended without an error")
	}
}

// endsRegistration reports whether err says that a registration has lost its descriptor and is about to
// end, so that Modify does not call the poller.
func endsRegistration(err error) bool {
	return errors.Is(err, core.ErrDescriptorReused) || strings.Contains(err.Error(), "could not be moved into the new poller")
}
