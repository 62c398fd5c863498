package blocking_test

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

var errSpawn = errors.New("no goroutine")

// places is a group beside its specification, which says which executor takes a channel, and which
// executors are idle.
type places struct {
	outer *testing.T
	t     *rapid.T
	g     *blocking.Group
	max   int

	spawnerFails bool
	shut         bool
	channels     []place
	executors    []core.EventExecutor // in the order made
	idle         []core.EventExecutor // the last one is used next
}

// place is an open channel.
type place struct {
	ch     *blocking.Channel
	theirs net.Conn
}

// register registers a connection. It is refused after the shutdown call, with the maximum of
// channels, and if no executor can be started; a connection without deadlines is a bad argument.
func (p *places) register() {
	ours, theirs := net.Pipe()
	conn, noDeadlines := net.Conn(ours), rapid.IntRange(0, 5).Draw(p.t, "no deadlines") == 0
	if noDeadlines {
		conn = timeless{ours}
	}
	p.spawnerFails = rapid.Bool().Draw(p.t, "the spawner fails")
	ch, err := p.g.Register(conn, echo())
	var full *blocking.TooManyChannelsError
	switch {
	case p.shut:
		p.refused(ours, ch, err, core.ErrRejected, core.ErrShutdown)
	case p.max > 0 && len(p.channels) == p.max:
		p.refused(ours, ch, err, blocking.ErrTooManyChannels)
		if !errors.As(err, &full) || full.Max != p.max || err.Error() != fmt.Sprintf("blocking: too many channels: the group has %d open, which is its maximum", p.max) {
			p.t.Fatalf("R177: Register: %v, want the maximum of %d", err, p.max)
		}
	case noDeadlines:
		p.isOpen(ours, err == nil || ch != nil)
		coretest.WantText(p.outer, "Register", err, fmt.Sprintf("blocking: Register: conn is a blocking_test.timeless that takes no deadlines, want one that does: %v", errors.ErrUnsupported))
	default:
		p.take(ours, theirs, ch, err)
	}
	if err != nil {
		_, _ = ours.Close(), theirs.Close()
	}
}

// take checks a registration that nothing but the spawner can refuse.
func (p *places) take(ours, theirs net.Conn, ch *blocking.Channel, err error) {
	var ex core.EventExecutor
	if n := len(p.idle); n > 0 {
		ex, p.idle = p.idle[n-1], p.idle[:n-1]
	} else {
		all := slices.Collect(p.g.All())
		ex = all[len(all)-1]
		p.executors = append(p.executors, ex)
	}
	if ex.State() == core.StateNotStarted {
		if !p.spawnerFails {
			p.t.Fatalf("Register: %v, and the executor is not started", err)
		}
		p.refused(ours, ch, err, core.ErrRejected, errSpawn)
		p.idle = append(p.idle, ex)
		return
	}
	if err != nil || ch.EventLoop() != ex {
		p.t.Fatalf("R177: Register: %v, want the executor that was idle last, or a new one", err)
	}
	p.channels = append(p.channels, place{ch, theirs})
}

// refused checks a refusal: it has an error that matches all of want, and ours is closed.
func (p *places) refused(ours net.Conn, ch *blocking.Channel, err error, want ...error) {
	for _, w := range want {
		if ch != nil || !errors.Is(err, w) {
			p.t.Fatalf("Register: %v, %v, want no channel and %v", ch, err, w)
		}
	}
	if ours.SetDeadline(time.Time{}) == nil {
		p.t.Fatal("R177: the refused connection is open")
	}
}

func (p *places) isOpen(ours net.Conn, accepted bool) {
	if accepted || ours.SetDeadline(time.Time{}) != nil {
		p.t.Fatal("a connection without deadlines was accepted or closed")
	}
}

// end ends a channel. Its place is free when CloseFuture completes, and its executor is idle later.
func (p *places) end() {
	if len(p.channels) == 0 {
		return
	}
	i := rapid.IntRange(0, len(p.channels)-1).Draw(p.t, "channel")
	c := p.channels[i]
	p.channels = slices.Delete(p.channels, i, i+1)
	if rapid.Bool().Draw(p.t, "by the peer") {
		_ = c.theirs.Close()
	} else {
		c.ch.Close()
	}
	coretest.Await(p.outer, "the end of the channel", c.ch.CloseFuture().Done())
	if n := p.g.Stats().Channels; n != len(p.channels) {
		p.t.Fatalf("R177: %d channels as CloseFuture completes, want %d", n, len(p.channels))
	}
	_ = c.theirs.Close()
	p.idle = append(p.idle, c.ch.EventLoop())
}

// endExecutor shuts one executor down, which closes its channel. The group goes on without it.
func (p *places) endExecutor() {
	if len(p.executors) == 0 {
		return
	}
	p.spawnerFails = false
	ex := rapid.SampledFrom(p.executors).Draw(p.t, "executor")
	coretest.Await(p.outer, "the end of the executor", ex.Shutdown().Done())
	is := func(other core.EventExecutor) bool { return other == ex }
	p.executors, p.idle = slices.DeleteFunc(p.executors, is), slices.DeleteFunc(p.idle, is)
	p.channels = slices.DeleteFunc(p.channels, func(c place) bool { return is(c.ch.EventLoop()) })
}

// shutDown shuts the group down.
func (p *places) shutDown() {
	p.spawnerFails = false
	coretest.Await(p.outer, "the end of the group", p.g.Shutdown().Done())
	p.shut, p.channels, p.executors, p.idle = true, nil, nil, nil
}

// check compares the counts and All. A loop over All may stop early.
func (p *places) check() {
	coretest.Until(p.outer, "the idle executors", func() bool {
		s := p.g.Stats()
		return s.Idle == len(p.idle) && s.Executors == len(p.executors)
	})
	if n := p.g.Stats().Channels; n != len(p.channels) {
		p.t.Fatalf("G20: %d channels, want %d", n, len(p.channels))
	}
	want := p.executors[:rapid.IntRange(0, len(p.executors)).Draw(p.t, "executors of the loop")]
	var got []core.EventExecutor
	for ex := range p.g.All() {
		if len(got) == len(want) {
			break
		}
		got = append(got, ex)
	}
	if !slices.Equal(got, want) {
		p.t.Fatalf("All yields %v, want %v", got, want)
	}
}

// TestPropPlaces: a group makes an executor only if none is idle, the executor that was idle last takes
// the next channel, a refused channel and one that has ended free their place, and the group counts
// accordingly (R177, G20).
func TestPropPlaces(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := &places{outer: t, t: rt, max: rapid.IntRange(0, 3).Draw(rt, "maxChannels")}
		var err error
		p.g, err = blocking.NewGroup(p.max, core.WithSpawner(func(loop func()) error {
			if p.spawnerFails {
				return errSpawn
			}
			go loop()
			return nil
		}))
		coretest.Must(t, err)
		defer p.shutDown()
		steps := map[string]func(){"register": p.register, "end": p.end, "end an executor": p.endExecutor, "shut down": p.shutDown}
		names := rapid.SampledFrom([]string{"register", "register", "register", "register", "end", "end", "end an executor", "shut down"})
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			steps[names.Draw(rt, "step")]()
			p.check()
		}
	})
}
