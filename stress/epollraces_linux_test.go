package stress

import (
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"eventide/core"

	"golang.org/x/sys/unix"
)

// Runs of each race on event loops: of each kind a third.
const (
	epollRaceRuns      = 1_000
	epollRaceRunsShort = 500
)

// TestEpollRaces is TestRaces on event loops, and the races that only they have.
func TestEpollRaces(t *testing.T) {
	n := epollRaceRuns
	if testing.Short() || raceDetector {
		n = epollRaceRunsShort
	}
	before := openDescriptors(t)
	for _, c := range epollContests() {
		t.Run(c.name, func(t *testing.T) {
			table := NewTable(c.name, append(c.rows, stuckRow)...)
			c.run(n, table)
			fmt.Fprintf(t.Output(), "%v", table)
			if err := table.Check(); err != nil {
				t.Errorf("%v\nagain: go test ./stress -v -run '^TestEpollRaces$/^%s$'", err, strings.ReplaceAll(c.name, " ", "_"))
				return
			}
			if table.Seen() < 2 && !c.oneOutcome && runtime.GOMAXPROCS(0) > 1 {
				t.Errorf("not exercised: all %d runs had the same outcome", table.Total())
			}
		})
	}
	if after := openDescriptors(t); after > before {
		t.Errorf("G24: %d descriptors are open, want %d as before", after, before)
	}
}

// epollRun numbers the runs. Setup and Outcome are called by one goroutine.
var epollRun int

// startedLoop returns an event loop that runs, of each kind in turn.
func startedLoop() *core.EventLoop {
	epollRun++
	l := must(newEpollLoop(epollRun))
	if err := l.Execute(nothing); err != nil {
		panic(err)
	}
	return l
}

// readyDescriptor returns one that is readable.
func readyDescriptor() int { return must(unix.Eventfd(1, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)) }

func epollContests() []contest {
	all := epollSleepRaces()
	all = append(all, epollAdmissionRaces()...)
	all = append(all, registrationRaces()...)
	return append(all, closingRaces()...)
}

// epollSleepRaces are those of a lone waker, with readiness as a fourth.
func epollSleepRaces() []contest {
	setup := func() *sleeper {
		s := &sleeper{ex: &startedLoop().Executor, came: make(chan struct{})}
		sleeperRuns++
		s.run = sleeperRuns
		return s
	}
	timed := func() *sleeper {
		s := setup()
		must(s.ex.Schedule(longTime, nothing))
		return s
	}
	race := func(name string, setup func() *sleeper, bring func(*sleeper) error) contest {
		return contest{name: name, run: Race[*sleeper]{
			Setup:   setup,
			Actors:  []func(*sleeper){wakeBy(bring)},
			Outcome: epollSleeperOutcome,
		}.Run, rows: []Row{
			{"found the loop awake", Acceptable, "It came before the loop had announced its sleep: the loop looks once more."},
			{"woke it", Acceptable, "The loop had announced its sleep: the call woke it."},
			{"more wakes than sleeps", Forbidden, "G12: at most one wake per sleep."},
		}}
	}
	return []contest{
		race("epoll: Execute against falling asleep", setup, (*sleeper).execute),
		race("epoll: Execute against falling asleep with a timer", timed, (*sleeper).execute),
		race("epoll: Schedule against falling asleep", setup, (*sleeper).schedule),
		race("epoll: Shutdown against falling asleep", setup, (*sleeper).shutdown),
	}
}

// epollSleeperOutcome counts sleeps that found something at once as sleeps: they
// were announced.
func epollSleeperOutcome(s *sleeper) string {
	if s.err != nil {
		return s.err.Error()
	}
	if !closesInTime(s.came) {
		return stuck
	}
	after := s.ex.Stats()
	s.ex.Shutdown()
	if !ended(s.ex) {
		return stuck
	}
	switch woken := after.Wakes - s.before.Wakes; {
	case after.Wakes > after.Parks+after.Spins:
		return "more wakes than sleeps"
	case woken == 0:
		return "found the loop awake"
	}
	return "woke it"
}

func epollAdmissionRaces() []contest {
	race := func(name string, submit, end func(*submission)) contest {
		return contest{name: name, run: Race[*submission]{
			Setup:   func() *submission { return &submission{ex: &startedLoop().Executor} },
			Actors:  []func(*submission){submit, end},
			Outcome: (*submission).outcome,
		}.Run, rows: submissionRows()}
	}
	execute := func(s *submission) { s.err = s.ex.Execute(s.body) }
	hook := func(s *submission) { _, s.err = s.ex.AddShutdownHook(s.body) }
	return []contest{
		race("epoll: Execute against Shutdown", execute, (*submission).shutdown),
		race("epoll: Execute against a graceful shutdown that is drained", execute, (*submission).drain),
		race("epoll: Execute against the deadline", execute, (*submission).deadline),
		race("epoll: AddShutdownHook against termination", hook, (*submission).drain),
	}
}

// registering is a descriptor registered while its loop is shut down.
type registering struct {
	l    *core.EventLoop
	fd   int
	r    *core.Registration
	err  error
	told atomic.Int32
}

func newRegistering() *registering { return &registering{l: startedLoop(), fd: readyDescriptor()} }

func (g *registering) register() {
	g.r, g.err = g.l.Register(g.fd, core.Readable, func(core.Readiness) {})
	if g.err == nil {
		g.r.OnClose(func(error) { g.told.Add(1) })
	}
}

func (g *registering) outcome() string {
	defer unix.Close(g.fd)
	if !ended(g.l) {
		return stuck
	}
	if n := g.l.Stats().Registrations; n != 0 {
		return "left behind"
	}
	return answer(g.err) + fmt.Sprintf(", told %d times", g.told.Load())
}

func registrationRaces() []contest {
	rows := []Row{
		{"accepted, told 1 times", Acceptable, "It came before the close, and heard of its end."},
		{"refused, told 0 times", Acceptable, "The close came first."},
		{"accepted, told 0 times", Forbidden, "G3, G22: an accepted registration is told that it is closed."},
		{"accepted, told 2 times", Forbidden, "G3: it is told once."},
		{"left behind", Forbidden, "G24: no registration remains after done."},
	}
	race := func(name string, end func(*registering)) contest {
		return contest{name: name, run: Race[*registering]{
			Setup: newRegistering, Actors: []func(*registering){(*registering).register, end}, Outcome: (*registering).outcome,
		}.Run, rows: rows}
	}
	return []contest{
		race("epoll: Register against Shutdown", func(g *registering) { g.l.Shutdown() }),
		race("epoll: Register against a graceful shutdown", func(g *registering) { must(g.l.ShutdownGracefully(0, longTime)) }),
	}
}

// closing is a registration that is closed while its descriptor becomes ready, or
// somebody else changes it.
type closing struct {
	l      *core.EventLoop
	fd     int
	r      *core.Registration
	closed atomic.Bool // Close has returned
	calls  atomic.Int32
	after  atomic.Int32 // calls that began, as far as the handler can tell, after that
	told   atomic.Int32
}

func newClosing() *closing {
	c := &closing{l: startedLoop(), fd: must(unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC))}
	c.r = must(c.l.Register(c.fd, core.Readable, func(core.Readiness) {
		c.calls.Add(1)
		if c.closed.Load() {
			c.after.Add(1)
		}
		var count [8]byte
		_, _ = unix.Read(c.fd, count[:])
	}))
	c.r.OnClose(func(error) { c.told.Add(1) })
	return c
}

// input is an actor: it makes the descriptor readable again and again.
func (c *closing) input() {
	for range 20 {
		_, _ = unix.Write(c.fd, []byte{7: 0, 0: 1})
	}
}

// close is an actor: it closes in the midst of that.
func (c *closing) close() {
	for range 5 {
		runtime.Gosched()
	}
	_ = c.r.Close()
	c.closed.Store(true)
	c.input()
}

// outcome: a call that had begun when Close returned may look as if it came after
// it. It is one, and the last.
func (c *closing) outcome() string {
	defer unix.Close(c.fd)
	c.l.Shutdown()
	if !ended(c.l) {
		return stuck
	}
	switch {
	case c.told.Load() != 1:
		return fmt.Sprintf("told %d times", c.told.Load())
	case c.after.Load() > 1:
		return "the handler goes on"
	case c.calls.Load() == 0:
		return "never called"
	}
	return "called, closed"
}

func closingRaces() []contest {
	race := func(name string, other func(*closing)) contest {
		return contest{name: name, run: Race[*closing]{
			Setup: newClosing, Actors: []func(*closing){(*closing).close, other}, Outcome: (*closing).outcome,
		}.Run, rows: []Row{
			{"never called", Acceptable, "It was closed before the loop had looked."},
			{"called, closed", Acceptable, "It was called, and then not any more."},
			{"the handler goes on", Forbidden, "After Close no call begins: one that had begun is the last."},
			{"told 0 times", Forbidden, "G3: OnClose is called."},
			{"told 2 times", Forbidden, "G3: OnClose is called once."},
		}, oneOutcome: true}
	}
	return []contest{
		race("epoll: Close against readiness", (*closing).input),
		race("epoll: Close against Close", (*closing).close),
		race("epoll: Close against Modify", func(c *closing) {
			c.input()
			_ = c.r.Modify(core.Readable | core.EdgeTriggered)
		}),
		race("epoll: Close against Shutdown", func(c *closing) { c.input(); c.l.Shutdown() }),
	}
}
