package props

import (
	"context"
	"errors"
	"time"

	"eventide/core"
	"eventide/props/history"
)

// end makes the executor terminate, and records the state after Done.
func (h *harness) end() {
	patience, last := patience, time.Second
	if h.real {
		patience, last = realPatience, 100*time.Millisecond
	}
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	for h.ex.State() < core.StateShuttingDown { // again, if a panic of the clock has ended the call
		h.call(Step{Op: history.OpShutdownGracefully, Timeout: last})
	}
	_, err := h.ex.Termination().Wait(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		h.gaveUp.Store(true)
		return // the log has no Done, and the predicates judge that
	}
	h.waitForListeners()
	h.fds.stopTimers()
	h.alarmsLeft = h.clock.pending()
	h.rec.log.Add(history.Event{Kind: history.Observe, Op: history.OpDone, Outcome: history.True})
	h.observeState()
	h.call(h.extraTask())
	h.sample()
	h.completions()
	h.lookAtEnded()
	h.lookAtReportEnded()
	h.lookAtFailure()
	h.checkAsks()
	h.sealed()
	h.said = h.final()
	h.rec.checkBodies(h)
}

// sealed records the counts of channels in the report.
func (h *harness) sealed() {
	if h.fds.loop == nil {
		return
	}
	report := h.ex.Termination().Report()
	h.rec.log.Add(history.Event{Kind: history.Sealed, Stats: &history.Stats{
		Registrations: int(h.ex.Stats().Registrations),
		Drained:       int(report.ChannelsDrained), Aborted: int(report.ChannelsAborted), Discarded: int(report.BytesDiscarded),
	}})
}

// completions records which futures and timers are complete after Done, and with which
// result (G9).
func (h *harness) completions() {
	for id, f := range h.futures {
		if isClosed(f.Done()) {
			_, err := f.Wait(context.Background())
			h.rec.log.Add(history.Event{Kind: history.Complete, ID: id, Outcome: result(err)})
		}
	}
	for id, outcome := range h.reused {
		h.rec.log.Add(history.Event{Kind: history.Complete, ID: id, Outcome: outcome})
	}
	for id, t := range h.timers {
		if isClosed(t.Done()) {
			h.rec.log.Add(history.Event{Kind: history.Complete, ID: id, Outcome: result(t.Err())})
		}
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
