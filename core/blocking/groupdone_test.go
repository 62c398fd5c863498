package blocking_test

import (
	"bytes"
	"errors"
	"net"
	"runtime"
	"testing"
	"testing/synctest"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/core/internal/coretest"
)

// A group is done when its last executor is, even if that executor ends inside an unrelated
// listener: the rest of that listener does not delay the group.
func TestG21DoneDoesNotWaitForAnUnrelatedListener(t *testing.T) {
	errSpawn := errors.New("no goroutine")
	register := func(g *blocking.Group) error {
		ours, theirs := net.Pipe()
		defer func() { _ = theirs.Close() }()
		_, err := g.Register(ours, echo())
		return err
	}
	for name, use := range map[string]func(*blocking.Group) error{
		"Register": register,
		"Execute of an executor": func(g *blocking.Group) error {
			for child := range g.All() {
				return child.Execute(func() {})
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var g *blocking.Group
				ends := false
				g, err := blocking.NewGroup(0, core.WithSpawner(func(func()) error {
					if ends {
						g.Shutdown()
					}
					return errSpawn
				}))
				if err != nil {
					t.Fatal(err)
				}
				if err := register(g); !errors.Is(err, errSpawn) { // the executor stays for the next
					t.Fatalf("%s: Register: got %v, want the spawner's error", name, err)
				}
				heard := make(chan error, 2)
				g.Termination().OnDone(func(_ core.Report, err error) { heard <- err })
				p := core.NewPromise[int](nil)
				p.Future().OnDone(func(int, error) {
					ends = true
					if err := use(g); err == nil {
						t.Errorf("G17: %s: got nil, want an error", name)
					}
					synctest.Wait()
					select {
					case <-g.Termination().Done():
					default:
						t.Errorf("G21: %s: the group is %v and has %d executors: its Done waits for a listener of another",
							name, g.State(), g.Stats().Executors)
					}
				})
				p.TrySuccess(1)
				synctest.Wait()
				if len(heard) != 1 {
					t.Fatalf("G9: %s: the group's listener was called %d times, want 1", name, len(heard))
				}
				if err := <-heard; !errors.Is(err, errSpawn) {
					t.Errorf("G21: %s: the group's listener got %v, want the spawner's error", name, err)
				}
				if s := g.Stats(); s.Executors != 0 || s.Channels != 0 || s.Rejected > 1 {
					t.Errorf("G20: %s: after done %+v, want no executors, no channels, and one refusal at most", name, s)
				}
			})
		})
	}
}

// In every other case the listeners of the group come after those of the executor that
// ended last, on its goroutine.
func TestG21ListenersOfTheGroupComeAfterTheLastExecutors(t *testing.T) {
	g := newGroup(t, 0)
	conn, _ := tcpPair(t)
	ch := mustRegister(t, g, conn, echo())
	var j coretest.Journal
	all := make(chan struct{})
	ch.EventLoop().Termination().OnDone(func(core.Report, error) {
		select {
		case <-g.Termination().Done():
		default:
			t.Error("G21: a listener of the last executor is called, and the group is not done")
		}
		j.Add("executor")
	})
	g.Termination().OnDone(func(core.Report, error) { j.Add("group"); close(all) })
	g.Shutdown()
	coretest.Await(t, "the last listener", all)
	if got := j.String(); got != "executor group" {
		t.Errorf("G21: got %q, want the listeners of the executor first", got)
	}
}

type tracerFunc func(core.Event)

func (f tracerFunc) Trace(e core.Event) { f(e) }

// startedHere counts the goroutines that package blocking has started.
func startedHere() int {
	stacks := make([]byte, 1<<20)
	return bytes.Count(stacks[:runtime.Stack(stacks, true)], []byte("created by eventide/core/blocking."))
}

// The end of an executor on its own goroutine starts no other goroutine: that goroutine could call the
// listeners of the group before those of the executor.
func TestG21EndOfAnExecutorStartsNoGoroutine(t *testing.T) {
	atDone := make(chan int, 1)
	g := newGroup(t, 0, core.WithTracer(tracerFunc(func(e core.Event) {
		if e.Kind == core.EventDone { // just before Done is closed
			atDone <- startedHere()
		}
	})))
	conn, _ := tcpPair(t)
	mustRegister(t, g, conn, echo())
	before := startedHere() // a goroutine of an earlier test may be about to end
	g.Shutdown()
	coretest.AwaitDone(t, g)
	if n := <-atDone; n > before {
		t.Errorf("G21: %d goroutines of the package are there as the executor ends, want at most %d as before", n, before)
	}
}
