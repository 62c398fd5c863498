package core_test

import (
	"sync"
	"testing"
	"testing/synctest"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/pollertest"
)

// worn is a poller of which one call fails once it is armed, and which counts the calls behind this one.
type worn struct {
	*pollertest.Model
	call pollertest.Call // the one that fails
	fail func() error

	mu     sync.Mutex
	armed  bool
	broken bool
	late   []pollertest.Call
}

// begin fails the armed call.
func (p *worn) begin(call pollertest.Call) error {
	p.mu.Lock()
	if p.broken {
		p.late = append(p.late, call)
	}
	fails := p.armed && !p.broken && call == p.call
	p.broken = p.broken || fails
	p.mu.Unlock()
	if fails {
		return p.fail()
	}
	return nil
}

func (p *worn) arm() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.armed = true
}

func (p *worn) Wait(until core.Deadline) error {
	err := p.Model.Wait(until) // before it fails: it has events that Ready would return
	if failed := p.begin(pollertest.Wait); failed != nil {
		return failed
	}
	return err
}

func (p *worn) Poll() error {
	if err := p.begin(pollertest.Poll); err != nil {
		return err
	}
	return p.Model.Poll()
}

func (p *worn) Ready() []core.PollEvent {
	_ = p.begin(ready)
	return p.Model.Ready()
}

func (p *worn) Reopen() error {
	if err := p.begin(pollertest.Reopen); err != nil {
		return err
	}
	return p.Model.Reopen()
}

func (p *worn) Add(fd int, i core.Interest, token uint64) error {
	_ = p.begin(pollertest.Add)
	return p.Model.Add(fd, i, token)
}

func (p *worn) Modify(fd int, i core.Interest, token uint64) error {
	_ = p.begin(pollertest.Modify)
	return p.Model.Modify(fd, i, token)
}

func (p *worn) Remove(fd int) error {
	_ = p.begin(pollertest.Remove)
	return p.Model.Remove(fd)
}

// ready is Ready, which cannot fail in a Model.
const ready pollertest.Call = "Ready"

// TestG15ABrokenPollerIsNotUsed: after the failure that ends a loop, nothing calls its poller except Wake and Close, whatever the
// loop and the owners of its channels still do.
func TestG15ABrokenPollerIsNotUsed(t *testing.T) {
	returns := func() error { return errPoller }
	cases := map[string]struct {
		call pollertest.Call
		fail func() error
	}{
		"Reopen fails":    {pollertest.Reopen, returns},
		"Reopen panics":   {pollertest.Reopen, func() error { panic(errPoller) }},
		"Wait panics":     {pollertest.Wait, func() error { panic(errPoller) }},
		"Ready panics":    {ready, func() error { panic(errPoller) }},
		"Wait has Goexit": {pollertest.Wait, func() error { leaves["Goexit"].leave(); return nil }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				p := &worn{Model: pollertest.NewModel(nil), call: c.call, fail: c.fail}
				l := loopOn(t, p)
				d := p.Open()
				first := mustRegisterChannel(t, l, d.FD(), lingeringChannel{})
				second := mustRegisterChannel(t, l, p.Open().FD(), lingeringChannel{})
				synctest.Wait()
				if c.call == pollertest.Reopen {
					p.Fail(pollertest.Wait, errPoller)
				}
				p.arm()
				if err := d.Input(); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if err := first.Modify(core.Writable); err == nil {
					t.Error("G15: Modify to another interest succeeds after the failure, want an error")
				}
				coretest.WantErr(t, "Modify to no interest", first.Modify(0), nil)
				first.End(core.ChannelEnd{Kind: core.EndAborted})
				synctest.Wait()
				_ = l.Execute(func() {})
				second.Post(func() { _ = second.Modify(core.Writable) })
				synctest.Wait()
				second.End(core.ChannelEnd{Kind: core.EndAborted})
				coretest.AwaitDone(t, l)
				if !p.broken {
					t.Fatal("not exercised: the poller has not failed")
				}
				if late := p.late; len(late) > 0 {
					t.Errorf("G15: after its failure the poller got the calls %v, want none", late)
				}
			})
		})
	}
}
