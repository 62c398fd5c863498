package props

import (
	"fmt"

	"eventide/core"
	"eventide/props/history"
)

// look is lookAround for an actor or a body, in which Running has something to say. Running reads stacks,
// which is slow, so look calls it in only one body of a program.
func (h *harness) look() {
	if h.ex.InEventLoop() && !h.traced.Swap(true) && h.ex.Running() == "" {
		h.blame("Running is empty, and a body asks")
	}
	h.lookAround()
}

// lookAround calls the methods that report the executor's state and change nothing, and compares
// their answers. It keeps the first contradiction for the verdict.
func (h *harness) lookAround() {
	inside := h.ex.InEventLoop()
	current, ok := core.Current()
	home, elsewhere := h.ex.Termination(), h.onOther()
	if elsewhere {
		home = h.other.Load().Termination()
	}
	switch {
	case ok != (inside || elsewhere), inside && elsewhere, ok && current.Termination() != home:
		h.blame("Current says %v, InEventLoop %v, and that of another executor %v", ok, inside, elsewhere)
	case h.single() != nil && h.single().Parent() != nil:
		h.blame("the executor is a child of a group")
	case h.ex.Name() == "" || h.ex.String() == "":
		h.blame("the executor has the name %q and is printed as %q", h.ex.Name(), h.ex.String())
	}
	// Admission ends before Context does, and Context before the executor.
	ended := isClosed(h.ex.Context().Done())
	if state := h.ex.State(); ended && state < core.StateShutdown {
		h.blame("Context has ended, and the state is %v", state)
	}
	begun := isClosed(h.ex.ShutdownContext().Done())
	if state := h.ex.State(); begun && state < core.StateShuttingDown {
		h.blame("ShutdownContext has ended, and the state is %v", state)
	}
	if ended && !begun && !isClosed(h.ex.ShutdownContext().Done()) {
		h.blame("Context has ended, and ShutdownContext has not")
	}
	if isClosed(h.ex.Termination().Done()) && !isClosed(h.ex.Context().Done()) {
		h.blame("the executor has terminated, and Context has not ended")
	}
	h.lookAtState()
	h.lookAtReport()
	if r := h.ex.Termination().Report(); r.Elapsed < 0 || r.Ran+r.Cancelled > r.Accepted {
		h.blame("the report has run %d and cancelled %d of %d tasks in %v", r.Ran, r.Cancelled, r.Accepted, r.Elapsed)
	}
}

func (h *harness) blame(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	h.wrong.CompareAndSwap(nil, &text)
}

// contradiction is the violation of answers that contradict each other.
func contradiction(text string) history.Violation {
	return history.Violation{Guarantee: "G2", Predicate: "Looks", Sentence: "what an executor says of itself at one moment agrees", Text: text}
}
