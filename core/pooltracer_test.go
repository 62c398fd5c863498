package core_test

import (
	"errors"
	"io"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// G3: a tracer that panics at the begin of a body, and a logger that then ends the goroutine, take no
// body along: each runs once, on the next goroutine of the worker, or on this one if the spawner
// refuses to start another.
func TestPoolG3BodiesRunBesideATracerAndALoggerThatFail(t *testing.T) {
	for name, starts := range map[string]int64{"spawner": 1000, "spawner that refuses": 1} {
		for _, at := range []core.EventKind{core.EventBegin, core.EventEnd} {
			t.Run(name+"/"+at.String(), func(t *testing.T) {
				inBubble(t, func(t *testing.T) { failAtEachBody(t, at, starts) })
			})
		}
	}
}

// failAtEachBody runs a pool of one worker, whose tracer and logger fail at each event of one kind,
// and whose spawner starts so many goroutines.
func failAtEachBody(t *testing.T, at core.EventKind, starts int64) {
	var j coretest.Journal
	var begins, spawned, lines atomic.Int64
	tracer := tracerFunc(func(ev core.Event) {
		if ev.Kind == core.EventBegin {
			begins.Add(1)
		}
		if ev.Kind == at {
			lines.Add(1)
			panic("the tracer")
		}
	})
	p := coretest.NewPool(t, 1, core.WithTracer(tracer),
		core.WithLogger(slog.New(exitingHandler{slog.NewTextHandler(io.Discard, nil), new(atomic.Int32)})),
		core.WithSpawner(func(loop func()) error {
			if spawned.Add(1) > starts {
				return errors.New("no more")
			}
			go loop()
			return nil
		}))
	_, err := p.AddShutdownHook(j.Adds("hook"))
	coretest.Must(t, err)
	coretest.MustExecute(t, p, j.Adds("task"))
	future := core.Submit(p, func() (int, error) { j.Add("function"); return 1, nil })
	coretest.Await(t, "G9: the future of a function whose begin the tracer missed", future.Done())
	timer := mustSchedule(t, p, time.Second, j.Adds("timer"))
	coretest.Await(t, "the end of the timer", timer.Done())
	coretest.WantErr(t, "the end of the timer", timer.Err(), nil)
	heard := make(chan struct{})
	future.OnDone(func(int, error) { j.Add("listener"); close(heard) })
	coretest.Await(t, "the listener", heard)
	coretest.Must(t, p.Close())
	j.Want(t, "G3: bodies", "task function timer listener hook")
	s := p.Stats()
	checkConserved(t, s)
	coretest.Want(t, "G20: Ran, TimersRun and HooksRun", [3]int64{s.Ran, s.TimersRun, s.HooksRun}, [3]int64{2, 1, 1})
	coretest.Want(t, "begins traced", begins.Load(), 5)
	coretest.Want(t, "events at which the tracer failed", lines.Load(), 5)
}
