package conform

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"eventide/bench/peers"
	"eventide/props/exectest"

	"github.com/petermattis/goid"
)

// remote is the driver of Netty, in the role of many executors at once. A body is Go
// code: the loop's thread tells us to run it, and until we say that it has ended, it
// makes the calls that the body makes. The lines:
//
//	kit R E op [args] [@T]   ask executor E; T: from inside of body T
//	kit R answer             what came of it
//	run T, end T how         a body begins, and is over: ok or throw
//	done E                   the termination future is complete
//	future T how             a submitted body's future is: ok or err
type remote struct {
	driver *peers.Driver
	sendMu sync.Mutex

	mu      sync.Mutex
	last    int                   // number given out
	waiting map[int]chan string   // answers, by request
	bodies  map[int]func()        // by number
	within  map[int64]int         // goroutine -> body that it runs
	futures map[int]*remoteFuture // by body
	done    map[int]chan struct{} // by executor
}

func startRemote(drivers, kind string) (*remote, error) {
	command, err := peers.NettyCommand(drivers, kind)
	if err != nil {
		return nil, fmt.Errorf("not run: %w", err)
	}
	d, err := peers.StartDriver("netty-"+kind, command...)
	if err != nil {
		return nil, fmt.Errorf("not run: %w", err)
	}
	r := &remote{
		driver: d, waiting: map[int]chan string{}, bodies: map[int]func(){}, within: map[int64]int{},
		futures: map[int]*remoteFuture{}, done: map[int]chan struct{}{},
	}
	go r.read()
	return r, nil
}

func (r *remote) read() {
	for {
		line, err := r.driver.Receive(time.Hour)
		if err != nil {
			return
		}
		words := strings.Fields(line)
		n, err := strconv.Atoi(words[1])
		if err != nil {
			panic(fmt.Errorf("conform: the driver says %q", line))
		}
		r.mu.Lock()
		switch words[0] {
		case "kit":
			r.waiting[n] <- words[2]
			delete(r.waiting, n)
		case "run":
			go r.run(n, r.bodies[n])
		case "done":
			close(r.done[n])
		case "future":
			r.futures[n].complete(words[2])
		}
		r.mu.Unlock()
	}
}

// run is a body, on a goroutine that counts as the loop's.
func (r *remote) run(n int, body func()) {
	id, how := goid.Get(), "throw"
	r.mu.Lock()
	r.within[id] = n
	r.mu.Unlock()
	defer func() {
		_ = recover()
		r.mu.Lock()
		delete(r.within, id)
		r.mu.Unlock()
		r.send(fmt.Sprintf("end %d %s", n, how))
	}()
	body()
	how = "ok"
}

func (r *remote) send(line string) {
	r.sendMu.Lock()
	defer r.sendMu.Unlock()
	if err := r.driver.Send(line); err != nil {
		panic(err)
	}
}

// ask makes a call, from inside of a body if the caller is one.
func (r *remote) ask(executor int, op string, args ...any) string {
	answer := make(chan string, 1)
	r.mu.Lock()
	r.last++
	n := r.last
	r.waiting[n] = answer
	from, inside := r.within[goid.Get()]
	r.mu.Unlock()
	line := fmt.Sprintf("kit %d %d %s", n, executor, op)
	for _, a := range args {
		line += fmt.Sprint(" ", a)
	}
	if inside {
		line += fmt.Sprintf(" @%d", from)
	}
	r.send(line)
	return <-answer
}

// keep numbers a body.
func (r *remote) keep(body func()) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	r.bodies[r.last] = body
	return r.last
}

// nettySubject is one executor.
type nettySubject struct {
	*remote
	id   int
	over chan struct{}
}

func (r *remote) open() exectest.Subject {
	r.mu.Lock()
	r.last++
	s := nettySubject{r, r.last, make(chan struct{})}
	r.done[s.id] = s.over
	r.mu.Unlock()
	s.ask(s.id, "open")
	return s
}

var errRefused = errors.New("RejectedExecutionException")

func outcome(answer string) error {
	switch answer {
	case "ok":
		return nil
	case "refused":
		return errRefused
	default:
		return errors.New(answer)
	}
}

func (s nettySubject) Execute(task func()) error {
	return outcome(s.ask(s.id, "execute", s.keep(task)))
}

func (s nettySubject) Shutdown(quiet, timeout time.Duration) error {
	return outcome(s.ask(s.id, "shutdown", int64(quiet), int64(timeout)))
}

func (s nettySubject) Done() <-chan struct{} { return s.over }

func (s nettySubject) ShutdownNow() { s.ask(s.id, "now") }

func (s nettySubject) InEventLoop() bool { return s.ask(s.id, "inloop") == "true" }

func (s nettySubject) Schedule(delay time.Duration, task func()) (func() bool, error) {
	n := s.keep(task)
	if err := outcome(s.ask(s.id, "schedule", n, int64(delay))); err != nil {
		return nil, err
	}
	return func() bool { return s.ask(s.id, "cancel", n) == "true" }, nil
}

func (s nettySubject) AddShutdownHook(hook func()) (func() bool, error) {
	return nil, outcome(s.ask(s.id, "hook", s.keep(hook))) // removeShutdownHook has no answer
}

// remoteFuture is a future of Netty.
type remoteFuture struct {
	done    chan struct{}
	err     error // after done
	refused bool
}

func (f *remoteFuture) complete(how string) {
	if how != "ok" {
		f.err = errors.New(how)
	}
	close(f.done)
}

func (f *remoteFuture) Done() <-chan struct{} { return f.done }
func (f *remoteFuture) Refused() bool         { return f.refused }

func (f *remoteFuture) Err() error {
	select {
	case <-f.done:
		return f.err
	default:
		return nil
	}
}

func (s nettySubject) Submit(task func() error) exectest.Future {
	f := &remoteFuture{done: make(chan struct{})}
	n := s.keep(func() {
		if err := task(); err != nil {
			panic(err)
		}
	})
	s.mu.Lock()
	s.futures[n] = f
	s.mu.Unlock()
	if err := outcome(s.ask(s.id, "submit", n)); err != nil {
		f.refused = true
		f.complete(err.Error())
	}
	return f
}

func nettySpec(kind string) Spec {
	return Spec{
		Name: "netty-" + kind, Options: realTime, RealTime: true,
		Open: func(drivers string) (func() exectest.Subject, func(), error) {
			r, err := startRemote(drivers, kind)
			if err != nil {
				return nil, nil, err
			}
			return r.open, r.driver.Close, nil
		},
		Promises: append(line("G3", "G20"),
			Promise{"G2", "SingleThreadEventExecutor: executes all its submitted tasks in a single thread"},
			Promise{"G4", "OrderedEventExecutor: process all submitted tasks in an ordered / serial fashion"},
			Promise{"G5", "EventExecutorGroup.isShuttingDown, ExecutorService.isShutdown: after shutdown no new tasks"},
			Promise{"G7", "ScheduledExecutorService.schedule: becomes enabled after the given delay"},
			Promise{"G8", "Future.cancel: if successful, and this task has not started, it should never run"},
			Promise{"G9", "Future: completed with success, failure or cancellation"},
			Promise{"G10", "shutdownGracefully: if a task is submitted during the quiet period, it is guaranteed to be accepted and the quiet period will start over"}),
		Unjudged: map[string]string{
			"G1":  "isShuttingDown and its kin do not tell whether it has started",
			"G6":  "that hooks are executed on shutdown is promised, but not that later work does not hold them back, which the kit asks too; the oracle has both (R120)",
			"G11": "the timeout is promised, but real time cannot tell",
			"G15": "the kit would need to be told of the termination by a call that is not a listener",
		},
	}
}
