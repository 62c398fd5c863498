package core

import "testing"

// The last child has closed its Done and has not yet ended the group: the group is not
// Terminated.
func TestG15AGroupWhoseLastChildHasJustEnded(t *testing.T) {
	g, err := NewExecutorGroup(1)
	if err != nil {
		t.Fatal(err)
	}
	child := g.children[0]
	child.mu.Lock()
	child.gate |= gateClosed
	child.moveTo(StateTerminated)
	child.mu.Unlock()
	child.endContext(ErrShutdown)
	child.seal(0, nil)
	if child.State() != StateTerminated || g.State() == StateTerminated || g.Stats().State == StateTerminated {
		t.Errorf("G15: the child is %v, the group %v, its stats %v; want Terminated for the child alone", child.State(), g.State(), g.Stats().State)
	}
	child.term.callListeners(nil)
	<-g.Termination().Done()
	if g.State() != StateTerminated || g.Stats().State != StateTerminated {
		t.Errorf("G15: after Done the group is %v, its stats %v; want Terminated", g.State(), g.Stats().State)
	}
	_ = child.poller.Close()
}
