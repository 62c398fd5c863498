//go:build linux

package exits

import (
	"sync"
	"time"

	"eventide/core"
	"eventide/core/process"
)

// Figures are what the executor of a step of kind "own" reports, which is a type of the program, and
// how it behaves.
type Figures struct {
	Accepted, Ran, Cancelled, Panicked     int
	TimersCancelled                        int
	Held, Refused, Aborted, Drained, Bytes int
	TimedOut                               bool
	NamesRunning                           bool // it has a method Running
	Refuses                                bool // ShutdownGracefully returns an error
	Fails                                  bool // it terminates with an error
}

// report is the core.Report of the figures.
func (f *Figures) report() core.Report {
	r := core.Report{
		Accepted: int64(f.Accepted), Ran: int64(f.Ran), Cancelled: int64(f.Cancelled), Panicked: int64(f.Panicked),
		TimersCancelled: int64(f.TimersCancelled), ChannelsHeld: int64(f.Held), WritesRefused: int64(f.Refused),
		ChannelsAborted: int64(f.Aborted), ChannelsDrained: int64(f.Drained), BytesDiscarded: int64(f.Bytes), TimedOut: f.TimedOut,
	}
	if f.Held > 0 {
		r.Held = heldText
	}
	if f.TimedOut {
		r.Running = runningText
	}
	return r
}

const (
	heldText    = "a channel of the program"
	runningText = "a body of the program"
)

// own is an executor of the program: it ends when its time has passed or, if it heeds that, at
// Shutdown.
type own struct {
	r    *run
	s    *Step
	i    int
	term *core.Termination
	end  func(core.Report, error) bool

	mu    sync.Mutex
	shut  chan struct{}   // closed by the first Shutdown
	shuts []time.Duration // the calls of Shutdown
	calls [][2]time.Duration
}

func (r *run) own(i int) process.Executor {
	s := &r.p.Steps[i]
	o := &own{r: r, s: s, i: i, shut: make(chan struct{})}
	var err error
	o.term, o.end, err = core.NewTermination(func() error { return nil }, s.Figures.report)
	if err != nil {
		panic(err)
	}
	if s.Figures.NamesRunning {
		return &ownRunning{o}
	}
	return o
}

// ownRunning is an own with a method Running.
type ownRunning struct{ *own }

func (o *ownRunning) Running() string { return runningText }

func (o *own) Termination() *core.Termination { return o.term }

func (o *own) ShutdownGracefully(quiet, timeout time.Duration) (*core.Termination, error) {
	o.mu.Lock()
	o.calls = append(o.calls, [2]time.Duration{quiet, timeout})
	first := len(o.calls) == 1
	o.mu.Unlock()
	o.r.record(stepName(o.i), "begins")
	if o.s.Figures.Refuses {
		return nil, errEnd
	}
	if first {
		go o.life()
	}
	return o.term, nil
}

func (o *own) life() {
	left := time.NewTimer(o.s.takes(o.i))
	defer left.Stop()
	if o.s.Heeds {
		select {
		case <-left.C:
		case <-o.shut:
		}
	} else {
		<-left.C
	}
	o.finish()
}

func (o *own) finish() {
	var err error
	if o.s.Figures.Fails {
		err = errEnd
	}
	if o.end(o.s.Figures.report(), err) {
		o.r.record(stepName(o.i), "ends")
	}
}

func (o *own) Shutdown() *core.Termination {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.shuts) == 0 {
		close(o.shut)
	}
	o.shuts = append(o.shuts, time.Since(o.r.began))
	return o.term
}

// ownOf returns the executor of a step of kind "own".
func ownOf(ex process.Executor) *own {
	if o, ok := ex.(*ownRunning); ok {
		return o.own
	}
	return ex.(*own)
}

// judgeOwn compares which calls the executor of a step got, and when.
func (r *run) judgeOwn(i int, got process.StepReport, w *row) {
	o, x := ownOf(r.executors[i]), r.want
	o.mu.Lock()
	defer o.mu.Unlock()
	var calls [][2]time.Duration
	shut := x.now // the exit closes what it leaves behind
	if w != nil {
		calls = [][2]time.Duration{{ms(o.s.Quiet), w.timeout}}
		shut = min(shut, w.cut)
	}
	if len(o.calls) != len(calls) || len(calls) > 0 && o.calls[0] != calls[0] {
		r.violate("step %d: the calls of ShutdownGracefully are %v, want %v", i, o.calls, calls)
	}
	ended := w != nil && w.end < shut
	if ended && o.s.Figures.Refuses { // the step has ended, and the executor has not
		ended, shut = false, x.now
	}
	switch {
	case w != nil && (w.undecided || w.end == w.cut || w.end == x.now || w.cut == x.now):
	case ended && len(o.shuts) > 0:
		r.violate("step %d: it has ended at %v, and Shutdown was called at %v", i, w.end, o.shuts)
	case !ended && (len(o.shuts) == 0 || o.shuts[0] != shut):
		r.violate("step %d: Shutdown was called at %v, want %v", i, o.shuts, shut)
	}
	if want := o.s.Figures.report(); got.Work != want {
		r.violate("the report: step %d: its work is %+v, want %+v", i, got.Work, want)
	}
	if want := int64(o.s.lost()); got.Lost != want {
		r.violate("the report: step %d: lost %d, want %d", i, got.Lost, want)
	}
	running := ""
	if o.s.Figures.NamesRunning && got.Outcome == process.StillRunning {
		running = runningText
	}
	if got.Running != running {
		r.violate("the report: step %d: Running is %q, want %q", i, got.Running, running)
	}
}

// lost is how many accepted tasks of the executor have not ended.
func (s *Step) lost() int { return s.Figures.Accepted - s.Figures.Ran - s.Figures.Cancelled }

// ownStep predicts a step whose executor is one of the program.
func (x *exit) ownStep(i int, timeout, limit time.Duration) *row {
	s := &x.p.Steps[i]
	failure := ""
	if s.Figures.Refuses || s.Figures.Fails {
		failure = endsFailed
	}
	r := x.perform(limit, failure, func(begin, context time.Duration) time.Duration {
		switch {
		case s.Figures.Refuses:
			return begin
		case s.Heeds:
			return min(begin+s.takes(i), context)
		}
		return begin + s.takes(i)
	})
	if r != nil {
		r.timeout = timeout
	}
	return r
}
