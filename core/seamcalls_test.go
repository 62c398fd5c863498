package core_test

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"eventide/core"
	"eventide/core/pollertest"
)

// seams makes calls on other goroutines at the moments at which an executor, on its own goroutine, calls the code of its
// user: the clock, the tracer, the poller, the logger, the panic handler, bodies. Each call begins before the user's code
// returns, so it meets what the loop does next. Nothing orders the two goroutines but the lock of the executor, so the
// race detector reports an access of the loop that should have the lock and has not.
type seams struct {
	seamProgram
	ex     core.EventExecutor
	shared *core.Promise[int] // all goroutines use it
	timer  *core.Timer        // the same
	open   atomic.Bool        // the fields above are set

	model *pollertest.Model

	n        atomic.Int64 // moments; of an Executor and of an EventLoop only the loop counts
	running  sync.WaitGroup
	accepted atomic.Int64 // callers only; if bodies call, the loop is one of them, and is ordered with the others
	ran      atomic.Int64 // the loop only
}

// seamProgram is what the seams of one executor do.
type seamProgram struct {
	kind    string   // of executor
	options []string // see optionsOf
	every   int      // each so many moments have a call
	calls   []func(*seams)

	own      bool // calls in bodies are made by the body, and not beside it
	late     int  // yields of the other goroutine before it calls
	failures int  // of the poller's Wait, in a row
	reopens  bool // the poller can be opened again
}

// pass is called in the code of the user. It shares no variable with the goroutines that make the calls: that would
// order them after the loop.
func (s *seams) pass() {
	switch {
	case !s.open.Load():
	case s.ex.InEventLoop():
		if call := s.next(); call != nil {
			s.beside(call)
		}
	case rand.IntN(10) == 0: // not counted: the goroutines of two calls would be ordered by the counter
		s.beside((*seams).execute)
	}
}

// next returns the call of this moment of the loop, or nil.
func (s *seams) next() func(*seams) {
	n := int(s.n.Add(1))
	if n%s.every != 0 || n/s.every > len(s.calls) {
		return nil
	}
	return s.calls[n/s.every-1]
}

// begun returns how many of the calls have begun.
func (s *seams) begun() int { return min(int(s.n.Load())/s.every, len(s.calls)) }

// beside begins a call, which can be over, or just have begun, when beside returns.
func (s *seams) beside(call func(*seams)) {
	s.running.Go(func() {
		for range s.late {
			runtime.Gosched()
		}
		call(s)
	})
	for range 3 {
		runtime.Gosched()
	}
}

// body is a moment in a body, whose call may be its own.
func (s *seams) body() {
	if call := s.next(); call != nil && s.own {
		call(s)
	} else if call != nil {
		s.beside(call)
	}
}

func (s *seams) task() {
	s.ran.Add(1)
	s.body()
}

func (s *seams) execute() {
	if s.ex.Execute(s.task) == nil {
		s.accepted.Add(1)
	}
}

// seamCalls are the calls that a program may make.
var seamCalls = map[string]func(*seams){
	"Execute": (*seams).execute,
	"ExecuteLazy": func(s *seams) {
		if s.ex.ExecuteLazy(s.task) == nil {
			s.accepted.Add(1)
		}
	},
	"Execute of a panic": func(s *seams) {
		if s.ex.Execute(func() { s.task(); panic("planned") }) == nil {
			s.accepted.Add(1)
		}
	},
	"Submit and Cancel": func(s *seams) { core.Submit(s.ex, func() (int, error) { return 1, nil }).Cancel() },
	"a promise": func(s *seams) {
		p := core.NewPromise[int](s.ex)
		p.Future().OnDone(func(int, error) { s.pass() })
		p.TrySuccess(1)
	},
	"Schedule": func(s *seams) { _, _ = s.ex.Schedule(time.Millisecond, s.body) },
	"Schedule, Reset and Cancel": func(s *seams) {
		if timer, err := s.ex.Schedule(time.Hour, func() {}); err == nil {
			timer.Reset(time.Second)
			timer.Cancel()
		}
	},
	"ScheduleAtFixedRate": func(s *seams) { _, _ = s.ex.ScheduleAtFixedRate(0, time.Millisecond, s.body) },
	"AddShutdownHook": func(s *seams) {
		if hooks, ok := s.ex.(interface {
			AddShutdownHook(func()) (func() bool, error)
		}); ok {
			if remove, err := hooks.AddShutdownHook(s.body); err == nil {
				remove()
				_, _ = hooks.AddShutdownHook(s.body)
			}
		}
	},
	"listener of the shared promise": func(s *seams) { s.shared.Future().OnDone(func(int, error) { s.pass() }) },
	"complete the shared promise":    func(s *seams) { s.shared.TrySuccess(1) },
	"cancel the shared promise":      func(s *seams) { s.shared.Future().Cancel() },
	"read the shared timer": func(s *seams) {
		_ = s.timer.Err()
		s.timer.Deadline()
	},
	"Reset of the shared timer":  func(s *seams) { s.timer.Reset(time.Millisecond) },
	"Cancel of the shared timer": func(s *seams) { s.timer.Cancel() },
	"ScheduleTimer of the shared timer": func(s *seams) {
		if ex, ok := s.ex.(interface {
			ScheduleTimer(*core.Timer, time.Duration, func()) error
		}); ok {
			_ = ex.ScheduleTimer(s.timer, time.Second, s.body)
		}
	},
	"Stats": func(s *seams) { s.ex.Stats() },
	"Running": func(s *seams) {
		if r, ok := s.ex.(interface{ Running() string }); ok {
			r.Running()
		}
	},
	"a Meter": func(s *seams) {
		if m, ok := s.ex.(interface{ NewMeter() *core.Meter }); ok {
			meter := m.NewMeter()
			for _, body := range meter.Read().Running {
				meter.Stack(body)
			}
			meter.Close()
		}
	},
	"Resize": func(s *seams) {
		if pool, ok := s.ex.(*core.Pool); ok {
			_ = pool.Resize(1 + int(s.accepted.Load()%3))
		}
	},
	"Register": func(s *seams) {
		if r := s.register(); r != nil {
			r.OnClose(func(error) { s.pass() })
		}
	},
	"Register, Modify, Post and Close": func(s *seams) {
		if r := s.register(); r != nil {
			_ = r.Modify(core.Readable | core.Writable)
			r.Post(s.pass)
			_ = r.Close()
		}
	},
	"RegisterChannel": func(s *seams) {
		if l, ok := s.ex.(*core.EventLoop); ok {
			ch := &seamChannel{seams: s}
			ch.mu.Lock()
			defer ch.mu.Unlock()
			ch.reg, _ = l.RegisterChannel(s.model.Open().FD(), core.Readable, ch)
		}
	},
	"Channels": func(s *seams) {
		if l, ok := s.ex.(*core.EventLoop); ok {
			for range l.Channels() {
				break
			}
		}
	},
	"ShutdownContext":    func(s *seams) { s.ex.ShutdownContext().Err() },
	"ShutdownGracefully": func(s *seams) { _, _ = s.ex.ShutdownGracefully(time.Millisecond, time.Second) },
	"a timeout of 0":     func(s *seams) { _, _ = s.ex.ShutdownGracefully(0, 0) },
	"Shutdown":           func(s *seams) { s.ex.Shutdown() },
}

// register registers a descriptor that has input, and returns nil if there is no loop or it refuses.
func (s *seams) register() *core.Registration {
	l, ok := s.ex.(*core.EventLoop)
	if !ok {
		return nil
	}
	d := s.model.Open()
	_ = d.Input()
	r, err := l.Register(d.FD(), core.Readable, func(core.Readiness) {
		s.pass()
		_ = d.Drain()
	})
	if err != nil {
		return nil
	}
	return r
}

// seamChannel is a channel that another goroutine ends when a shutdown asks for it.
type seamChannel struct {
	*seams
	mu  sync.Mutex // never on the loop
	reg *core.Registration
}

func (c *seamChannel) Ready(core.Readiness) { c.pass() }
func (c *seamChannel) Drain(core.Deadline)  { c.end(core.EndDrained) }
func (c *seamChannel) Abort(error)          { c.end(core.EndAborted) }

func (c *seamChannel) end(kind core.ChannelEndKind) {
	c.pass()
	c.running.Go(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.reg.End(core.ChannelEnd{Kind: kind})
	})
}
