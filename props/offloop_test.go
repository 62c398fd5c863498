package props

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"runtime"
	"testing"

	"eventide/core"

	"github.com/petermattis/goid"
	"pgregory.net/rapid"
)

// homes are the executors of promises whose listeners run off the loop, by name: none, executors
// and pools that have not been started or have terminated, and one of a type that core does not know.
var homes = []string{"none", "new executor", "new pool", "ended executor", "ended pool", "wrapped ended executor"}

// offCall is a call on a promise, or on the Termination of its executor.
type offCall struct {
	Do       string
	Of       int // the promise
	Times    int // of "listen"
	Listener *offListener
}

// offListener is what a listener does; nil: there is none.
type offListener struct {
	ID    int
	Calls []offCall
	Again int // how often it adds itself again
	End   string
}

func (l *offListener) String() string {
	if l == nil {
		return "nil"
	}
	return fmt.Sprintf("%+v", *l)
}

// offDrawer draws calls of goroutines, of which each makes its calls after the one before it has ended.
type offDrawer struct {
	*rapid.T
	promises, listeners int
}

func (d *offDrawer) number(label string, most int) int {
	return rapid.IntRange(0, most).Draw(d.T, label)
}

func (d *offDrawer) calls(depth, most int) (calls []offCall) {
	for range d.number("calls", most) {
		do := rapid.SampledFrom([]string{"listen", "listen", "listen", "succeed", "succeed", "fail", "fail with nil", "cancel", "keep", "at the end"}).Draw(d.T, "do")
		c := offCall{Do: do, Of: d.number("of", d.promises-1), Times: 1}
		if do == "listen" || do == "at the end" {
			c.Listener = d.listener(depth)
			if do == "listen" && c.Listener != nil && len(c.Listener.Calls) == 0 && d.number("many", 7) == 0 {
				c.Times = rapid.SampledFrom([]int{2, 63, 64, 65, 100}).Draw(d.T, "times")
			}
		}
		calls = append(calls, c)
	}
	return calls
}

// listener returns nil rarely: such a listener is ignored.
func (d *offDrawer) listener(depth int) *offListener {
	if d.number("nil", 15) == 0 {
		return nil
	}
	d.listeners++
	l := &offListener{ID: d.listeners, End: rapid.SampledFrom([]string{"", "", "", "panics", "exits"}).Draw(d.T, "end")}
	if depth < 2 {
		l.Calls = d.calls(depth+1, 3)
	}
	if d.number("again", 9) == 0 {
		l.Again = rapid.SampledFrom([]int{1, 2, 63, 64, 65, 130}).Draw(d.T, "how often")
	}
	return l
}

// offRun is what happens to some promises: by core, or by the specification.
type offRun struct {
	said []string
}

func (r *offRun) say(format string, args ...any) {
	r.said = append(r.said, fmt.Sprintf(format, args...))
}

// offCore makes the calls on promises of core.
type offCore struct {
	offRun
	homes    map[string]core.EventExecutor
	of       []string
	promises []*core.Promise[int]
	depth    int
	actor    int64
}

func (r *offCore) call(c offCall) {
	p := r.promises[c.Of]
	f := p.Future()
	switch c.Do {
	case "listen":
		for range c.Times {
			r.listen(f, c.Listener)
		}
	case "succeed":
		r.answer(c, func() bool { return p.TrySuccess(7) })
	case "fail":
		r.answer(c, func() bool { return p.TryFailure(errFailed) })
	case "fail with nil":
		r.answer(c, func() bool { return p.TryFailure(nil) })
	case "cancel":
		r.answer(c, f.Cancel)
	case "keep":
		r.answer(c, p.SetUncancellable)
	case "at the end":
		home := r.of[c.Of]
		switch {
		case !ended(home):
		case c.Listener == nil:
			r.homes[home].Termination().OnDone(nil)
		default:
			r.homes[home].Termination().OnDone(func(core.Report, error) { r.run(f, c.Listener, "the end", nil) })
		}
	}
}

// answer says the answer of a call. If its listeners end the goroutine, the call does not return.
func (r *offCore) answer(c offCall, call func() bool) {
	at := len(r.said)
	r.say("%s %d: no answer", c.Do, c.Of)
	got := call()
	r.said[at] = fmt.Sprintf("%s %d: %v", c.Do, c.Of, got)
}

func (r *offCore) listen(f *core.Future[int], l *offListener) {
	if l == nil {
		f.OnDone(nil)
		return
	}
	f.OnDone(func(v int, err error) { r.run(f, l, fmt.Sprint(v), err) })
}

func (r *offCore) run(f *core.Future[int], l *offListener, value string, err error) {
	r.say("listener %d gets %s and %v", l.ID, value, err)
	if r.depth++; r.depth > 1 || goid.Get() != r.actor {
		r.say("listener %d runs inside of another one, or on another goroutine than the call", l.ID)
	}
	defer func() { r.depth-- }()
	for _, c := range l.Calls {
		r.call(c)
	}
	if again := l.once(); again != nil && value != "the end" {
		r.listen(f, again)
	}
	switch l.End {
	case "panics":
		panic(l.ID)
	case "exits":
		runtime.Goexit()
	}
}

// wrapped is an executor of a type that core does not know.
type wrapped struct{ core.EventExecutor }

// newOffCore makes the executors, and the promises by their homes.
func newOffCore(of []string) (*offCore, error) {
	r := &offCore{homes: map[string]core.EventExecutor{}, of: of}
	for _, name := range homes[1:] {
		opts := []core.Option{core.WithPanicHandler(func(p *core.PanicError) { r.say("%s reports the panic of listener %v", name, p.Value) })}
		var ex core.EventExecutor
		var err error
		if name == "new pool" || name == "ended pool" {
			ex, err = core.NewPool(2, opts...)
		} else {
			ex, err = core.NewExecutor(opts...)
		}
		if err == nil && ended(name) {
			err = ex.Close()
		}
		if err != nil {
			return nil, err
		}
		if r.homes[name] = ex; name == "wrapped ended executor" {
			r.homes[name] = wrapped{ex}
		}
	}
	for _, home := range of {
		r.promises = append(r.promises, core.NewPromise[int](r.homes[home]))
	}
	return r, nil
}

// panicLog is a slog.Handler that says the panics of listeners.
type panicLog struct {
	slog.Handler
	r *offCore
}

func (l panicLog) Enabled(context.Context, slog.Level) bool { return true }

func (l panicLog) Handle(_ context.Context, record slog.Record) error {
	record.Attrs(func(a slog.Attr) bool {
		if a.Key == "panic" {
			l.r.say("the logger reports the panic of listener %v", a.Value)
		}
		return true
	})
	return nil
}

// makeCalls makes the calls of each goroutine after those of the one before it.
func (r *offCore) makeCalls(actors [][]offCall) {
	before, out := slog.Default(), log.Writer()
	slog.SetDefault(slog.New(panicLog{slog.DiscardHandler, r}))
	defer func() {
		slog.SetDefault(before)
		log.SetOutput(out) // SetDefault has redirected package log
	}()
	for _, calls := range actors {
		over := make(chan struct{})
		go func() {
			defer close(over)
			r.actor = goid.Get()
			for _, c := range calls {
				r.call(c)
			}
		}()
		<-over
	}
}

// TestPropListenersOffLoop: whatever promises are completed, cancelled and listened to, by goroutines
// and by listeners, and however listeners end: without a loop to run them, each listener is called
// once, with the result, on the goroutine of the call, inside of no other listener, and in order; and
// each panic is reported once (G9, G14).
func TestPropListenersOffLoop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := &offDrawer{T: t, promises: rapid.IntRange(1, 4).Draw(t, "promises")}
		var of []string
		s := &offSpec{}
		for range d.promises {
			home := rapid.SampledFrom(homes).Draw(t, "home")
			of, s.futures = append(of, home), append(s.futures, &offFuture{home: home})
		}
		var actors [][]offCall
		for range rapid.IntRange(1, 3).Draw(t, "goroutines") {
			actors = append(actors, d.calls(0, 8))
		}
		r, err := newOffCore(of)
		if err != nil {
			t.Fatal(err)
		}
		r.makeCalls(actors)
		s.makeCalls(actors)
		for i, want := range s.said {
			if i >= len(r.said) || r.said[i] != want {
				t.Fatalf("homes %v, calls %+v: at %d, after %q: got %q, want %q", of, actors, i, s.said[max(0, i-3):i], r.said[i:min(len(r.said), i+3)], want)
			}
		}
		if len(r.said) > len(s.said) {
			t.Fatalf("homes %v, calls %+v: too much at the end: %q", of, actors, r.said[len(s.said):])
		}
	})
}
