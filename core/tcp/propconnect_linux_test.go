package tcp_test

import (
	"context"
	"errors"
	"flag"
	"net"
	"slices"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
	"eventide/core/tcp"

	"pgregory.net/rapid"
)

// foretelling is a poller that reports a readiness of the test for every descriptor.
type foretelling struct {
	*clingy
	reports chan core.Readiness // 0: no event
}

func (p *foretelling) Wait(core.Deadline) error {
	select {
	case <-p.token:
		return p.Poll()
	case r := <-p.reports:
		p.find(r)
		return nil
	}
}

func (p *foretelling) Poll() error { p.find(0); return nil }

func (p *foretelling) find(r core.Readiness) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ready = nil
	if r == 0 {
		return
	}
	for _, token := range p.watched {
		p.ready = append(p.ready, core.PollEvent{Token: token, Readiness: r})
	}
}

// report reports r, and returns when the loop has handled that: it sleeps again.
func (p *foretelling) report(r core.Readiness) {
	p.reports <- r
	p.reports <- 0
}

func (p *foretelling) watches() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.watched) > 0
}

func drawReadiness(t *rapid.T) core.Readiness {
	bit := func(name string) bool { return rapid.Bool().Draw(t, name) }
	writable := rapid.IntRange(0, 3).Draw(t, "writable") == 0
	failed := rapid.IntRange(0, 5).Draw(t, "failed") == 0 // which is also writable
	r := core.NewReadiness(bit("readable"), writable, bit("hung up"), failed)
	if bit("urgent") {
		r = r.WithUrgent()
	}
	return r
}

// TestPropConnectedOnceWritable: a channel whose connect has not failed is active once its poller has reported it writable, and
// not before, whatever else the poller has reported. Dial then returns it. If the context ends first, Dial returns the cause, and
// the handler is not called.
func TestPropConnectedOnceWritable(t *testing.T) {
	coretest.CheckLeaks(t)
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		t.Fatal(err)
	}
	l, err := listenForPeers()
	coretest.Must(t, err)
	defer l.Close()
	rapid.Check(t, func(r *rapid.T) {
		checkConnect(t, r, l, rapid.SliceOfN(rapid.Custom(drawReadiness), 0, 4).Draw(r, "reports"))
	})
}

func checkConnect(t *testing.T, r *rapid.T, l net.Listener, reports []core.Readiness) {
	p, h := &foretelling{clingy: newClingy(), reports: make(chan core.Readiness)}, &recorder{}
	loop, err := core.NewEventLoop(core.WithPoller(p))
	coretest.Must(t, err)
	defer func() { <-loop.Shutdown().Done() }()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	type outcome struct {
		ch  *tcp.Channel
		err error
	}
	dialled := make(chan outcome, 1)
	go func() {
		ch, err := tcp.DialOn(ctx, loop, l.Addr().String(), h)
		dialled <- outcome{ch, err}
	}()
	peer, err := l.Accept()
	coretest.Must(t, err)
	defer peer.Close()
	coretest.Until(t, "the registration", p.watches)
	active := false
	for _, report := range reports {
		p.report(report)
		active = active || report.Writable()
		if got := slices.Contains(h.All(), "Active"); got != active {
			r.Fatalf("after %v the channel is active: %v, want %v", report, got, active)
		}
	}
	if !active {
		cancel(errEnough)
	}
	switch got := <-dialled; {
	case active && (got.err != nil || got.ch == nil || got.ch.LocalAddr().String() != peer.RemoteAddr().String()):
		r.Fatalf("Dial returned %v, %v, want the channel of %v", got.ch, got.err, peer.RemoteAddr())
	case !active && (got.ch != nil || !errors.Is(got.err, errEnough) || len(h.All()) > 0):
		r.Fatalf("Dial returned %v, %v, and the handler got %q, want %v", got.ch, got.err, h.All(), errEnough)
	}
}
