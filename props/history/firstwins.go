package history

import "slices"

// judgeFirstWins is S13 (G16): a call is refused as a bad argument if and only if its
// arguments are bad. The parameters of the first shutdown call decide the time of the
// close; those of later calls do not.
func judgeFirstWins(j *judge) {
	for _, c := range j.calls {
		if c.inv.Op != OpShutdownGracefully || c.ret == nil {
			continue
		}
		j.arguments(c)
		if j.laterGraceful(c) {
			j.exercised()
		}
	}
	if c := j.overridden(); c != nil {
		j.blame(at(j.first.inv.N, c.inv.N), "admission ended where the later call at #%d puts it (quiet %v, timeout %v), not the first at #%d (quiet %v, timeout %v)",
			c.inv.N, c.inv.Quiet, c.inv.Timeout, j.first.inv.N, j.first.inv.Quiet, j.first.inv.Timeout)
	}
}

// laterGraceful reports whether c is a legal graceful call that was made after the first
// shutdown call returned, and so must change nothing.
func (h *History) laterGraceful(c *call) bool {
	return c.inv.Op == OpShutdownGracefully && c.accepted() && c != h.first && h.first.returnedBefore(c.inv.N)
}

// overridden returns a later graceful call whose parameters explain the time of the close,
// if the parameters of the first call do not explain it.
func (h *History) overridden() *call {
	if !h.Rules.Virtual || !slices.ContainsFunc(h.calls, h.laterGraceful) {
		return nil
	}
	w, ok := h.closeWindow()
	if !ok || w.legal() {
		return nil
	}
	for _, c := range h.calls {
		if !h.laterGraceful(c) {
			continue
		}
		w.quiet, w.timeout = c.inv.Quiet, c.inv.Timeout
		fromFirst := w
		w.start = c.inv.At
		if fromFirst.legal() || w.legal() {
			return c
		}
	}
	return nil
}

func (j *judge) arguments(c *call) {
	bad := c.inv.Quiet < 0 || c.inv.Timeout < c.inv.Quiet
	refused := c.answered(RefusedBadArgument) || c.answered(Refused)
	if bad {
		j.exercised()
	}
	if bad != refused && (bad || c.answered(RefusedBadArgument)) {
		j.blame(at(c.ret.N), "a graceful shutdown with quiet %v and timeout %v was answered %v at #%d",
			c.inv.Quiet, c.inv.Timeout, c.ret.Outcome, c.ret.N)
	}
}
