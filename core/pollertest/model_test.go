package pollertest_test

import (
	"errors"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/pollertest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The model conforms, in virtual time.
func TestModelConforms(t *testing.T) {
	for _, c := range pollertest.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := pollertest.NewModel(nil)
				if err := c.Run(subject(m, m)); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func subject(p core.Poller, m *pollertest.Model) *pollertest.Subject {
	return &pollertest.Subject{Poller: p, Open: func() (pollertest.Source, error) { return m.Open(), nil }}
}

// The portable poller of an Executor goes through the cases that need no
// descriptor.
func TestParkPollerConforms(t *testing.T) {
	for _, c := range pollertest.Cases() {
		if c.IO {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if err := c.Run(&pollertest.Subject{Poller: core.NewParkPoller(nil)}); err != nil {
					t.Error(err)
				}
			})
		})
		t.Run(c.Name+", in real time", func(t *testing.T) {
			if err := c.Run(&pollertest.Subject{Poller: core.NewParkPoller(nil)}); err != nil {
				t.Error(err)
			}
		})
	}
}

// broken is a model with one defect.
type broken struct {
	*pollertest.Model
	wait   func(m *pollertest.Model, until core.Deadline) error
	wake   func(m *pollertest.Model)
	poll   func(m *pollertest.Model) error
	ready  func(m *pollertest.Model) []core.PollEvent
	add    func(m *pollertest.Model, fd int, i core.Interest, token uint64) error
	modify func(m *pollertest.Model, fd int, i core.Interest, token uint64) error
	remove func(m *pollertest.Model, fd int) error
	reopen func(m *pollertest.Model) error
	close  func(m *pollertest.Model) error
}

func (b *broken) Wait(until core.Deadline) error {
	if b.wait != nil {
		return b.wait(b.Model, until)
	}
	return b.Model.Wait(until)
}

func (b *broken) Wake() {
	if b.wake != nil {
		b.wake(b.Model)
		return
	}
	b.Model.Wake()
}

func (b *broken) Poll() error {
	if b.poll != nil {
		return b.poll(b.Model)
	}
	return b.Model.Poll()
}

func (b *broken) Ready() []core.PollEvent {
	if b.ready != nil {
		return b.ready(b.Model)
	}
	return b.Model.Ready()
}

func (b *broken) Add(fd int, i core.Interest, token uint64) error {
	if b.add != nil {
		return b.add(b.Model, fd, i, token)
	}
	return b.Model.Add(fd, i, token)
}

func (b *broken) Modify(fd int, i core.Interest, token uint64) error {
	if b.modify != nil {
		return b.modify(b.Model, fd, i, token)
	}
	return b.Model.Modify(fd, i, token)
}

func (b *broken) Remove(fd int) error {
	if b.remove != nil {
		return b.remove(b.Model, fd)
	}
	return b.Model.Remove(fd)
}

func (b *broken) Reopen() error {
	if b.reopen != nil {
		return b.reopen(b.Model)
	}
	return b.Model.Reopen()
}

func (b *broken) Close() error {
	if b.close != nil {
		return b.close(b.Model)
	}
	return b.Model.Close()
}

// Each defect is seen, by the case that is about it at least.
func TestCasesSeeDefects(t *testing.T) {
	type model = pollertest.Model
	never := core.Deadline{}
	for _, d := range []struct {
		name string
		make func() *broken
		seen []string
	}{
		{"Wake is lost unless Wait is running", func() *broken {
			return &broken{wake: func(*model) {}}
		}, []string{"wake before wait", "wake while waiting", "reopen keeps a wake"}},
		{"Wait ignores deadlines", func() *broken {
			return &broken{wait: func(m *model, _ core.Deadline) error { return m.Wait(never) }}
		}, []string{"deadline", "deadline in the past", "deadline after one that was never reached"}},
		{"Wait never sleeps", func() *broken {
			return &broken{wait: func(m *model, _ core.Deadline) error { return m.Poll() }}
		}, []string{"coalesced wakes", "a wake is for one wait"}},
		{"every Wake is good for many returns", func() *broken {
			return &broken{wake: func(m *model) { m.Spurious(3); m.Wake() }}
		}, []string{"coalesced wakes"}},
		{"a wake hides what is ready", func() *broken {
			b := &broken{}
			woken := false
			b.wake = func(m *model) { woken = true; m.Wake() }
			b.ready = func(m *model) []core.PollEvent {
				if woken {
					return nil
				}
				return m.Ready()
			}
			return b
		}, []string{"readiness under a stream of wakes"}},
		{"Poll takes a wake with it", func() *broken {
			return &broken{poll: func(m *model) error { return m.Wait(time.Unix(1, 0)) }}
		}, []string{"poll while busy"}},
		{"edge-triggered is level-triggered", func() *broken {
			return &broken{add: func(m *model, fd int, i core.Interest, token uint64) error {
				return m.Add(fd, i&^core.EdgeTriggered, token)
			}}
		}, []string{"input, edge-triggered", "modify reports an edge again"}},
		{"level-triggered is edge-triggered", func() *broken {
			return &broken{add: func(m *model, fd int, i core.Interest, token uint64) error {
				return m.Add(fd, i|core.EdgeTriggered, token)
			}}
		}, []string{"input", "room after a partial write"}},
		{"Modify does nothing", func() *broken {
			return &broken{modify: func(*model, int, core.Interest, uint64) error { return nil }}
		}, []string{"modify reports an edge again", "modify replaces the token", "errors change nothing"}},
		{"Remove does nothing", func() *broken {
			return &broken{remove: func(*model, int) error { return nil }}
		}, []string{"remove", "add while waiting", "errors change nothing"}},
		{"Reopen keeps what is watched", func() *broken {
			return &broken{reopen: func(*model) error { return nil }}
		}, []string{"reopen"}},
		{"Reopen forgets a wake", func() *broken {
			return &broken{reopen: func(m *model) error { _ = m.Wait(time.Unix(1, 0)); return m.Reopen() }}
		}, []string{"reopen keeps a wake"}},
		{"Close fails", func() *broken {
			return &broken{close: func(*model) error { return io.ErrClosedPipe }}
		}, []string{"late wake after close", "close with a wake pending", "input"}},
		{"events are reported twice", func() *broken {
			b := &broken{}
			var kept []core.PollEvent
			b.ready = func(m *model) []core.PollEvent {
				if got := m.Ready(); len(got) > 0 {
					kept = got
				}
				return kept
			}
			return b
		}, []string{"events of a poll are gone after the next", "number reused", "remove"}},
		{"all readiness is everything", func() *broken {
			return &broken{ready: func(m *model) (all []core.PollEvent) {
				for _, ev := range m.Ready() {
					all = append(all, core.PollEvent{Token: ev.Token, Readiness: core.NewReadiness(true, true, true, false)})
				}
				return all
			}}
		}, []string{"input", "room after a partial write"}},
		{"the end is not reported", func() *broken {
			return &broken{ready: func(m *model) (all []core.PollEvent) {
				for _, ev := range m.Ready() {
					all = append(all, core.PollEvent{Token: ev.Token, Readiness: core.NewReadiness(true, false, false, false)})
				}
				return all
			}}
		}, []string{"hang up", "input and hang up at once"}},
		{"a look is for the first descriptors", func() *broken {
			return &broken{ready: func(m *model) (all []core.PollEvent) {
				for _, ev := range m.Ready() {
					if ev.Token < 1<<32+50 {
						all = append(all, ev)
					}
				}
				return all
			}}
		}, []string{"one descriptor does not starve others"}},
	} {
		t.Run(d.name, func(t *testing.T) {
			for _, name := range d.seen {
				i := slices.IndexFunc(pollertest.Cases(), func(c pollertest.Case) bool { return c.Name == name })
				if i < 0 {
					t.Fatalf("no case is named %q", name)
				}
				if err := runBroken(t, pollertest.Cases()[i], d.make()); err == nil {
					t.Errorf("case %q does not see it", name)
				}
			}
		})
	}
}

// runBroken runs a case on a poller that may sleep for ever: it is woken then, so
// that no goroutine is left.
func runBroken(t *testing.T, c pollertest.Case, b *broken) (err error) {
	synctest.Test(t, func(t *testing.T) {
		b.Model = pollertest.NewModel(nil)
		err = c.Run(subject(b, b.Model))
		b.Model.Fail(pollertest.Wait, io.EOF)
		b.Model.Wake()
	})
	return err
}

// Faults come in the order given, to a Wait that sleeps too.
func TestModelFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := pollertest.NewModel(nil)
		fault := errors.New("fault")
		m.Fail(pollertest.Wait, nil, fault)
		m.Wake()
		if err := m.Wait(core.Deadline{}); err != nil {
			t.Errorf("the first call: %v, want nil", err)
		}
		if err := m.Wait(core.Deadline{}); err != fault {
			t.Errorf("the second: %v, want the fault", err)
		}
		go func() {
			synctest.Wait()
			m.Fail(pollertest.Wait, fault)
		}()
		if err := m.Wait(core.Deadline{}); err != fault {
			t.Errorf("a call that sleeps: %v, want the fault", err)
		}
		if got := m.Count(pollertest.Wait); got != 3 {
			t.Errorf("%d calls of Wait are counted, want 3", got)
		}
	})
}

// TestAtOpensANumberOnce: At returns the open descriptor of a number, and a new one without
// input after that was closed.
func TestAtOpensANumberOnce(t *testing.T) {
	m := pollertest.NewModel(nil)
	d := m.At(7)
	if err := d.Input(); err != nil {
		t.Fatal(err)
	}
	if again := m.At(7); again != d || !again.Readable() {
		t.Errorf("got %p, readable %v, want %p with its input", again, again.Readable(), d)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if next := m.At(7); next == d || next.FD() != 7 || next.Readable() {
		t.Errorf("after Close got %p, number %d, readable %v; want another one, 7, false", next, next.FD(), next.Readable())
	}
}
