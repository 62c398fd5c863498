package core_test

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// postedBody is a body that another body of a pool posts.
type postedBody struct {
	kind   string // of postedKinds
	delay  time.Duration
	blocks bool
}

var postedKinds = []string{"task", "timer", "timer", "listener", "next listener", "next listener", "next listener", "lazy"}

// TestPropPoolG12WorkBesideABlockedBody: all workers of a pool sleep but one, which runs a body that posts others and then blocks:
// in the body, in the panic handler, or, after runtime.Goexit, in the spawner. The other workers run what was posted, at its time,
// as long as one of them is free (G9, G12). Only a lazy task, and the other listeners of a future whose listener has not
// returned, may wait for the end of the body.
func TestPropPoolG12WorkBesideABlockedBody(t *testing.T) {
	posts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) postedBody {
		return postedBody{
			rapid.SampledFrom(postedKinds).Draw(t, "kind"), time.Duration(rapid.IntRange(0, 2).Draw(t, "delay")) * time.Millisecond,
			rapid.IntRange(0, 3).Draw(t, "blocks") == 0,
		}
	}), 1, 5)
	rapid.Check(t, func(rt *rapid.T) {
		for range 5 {
			b := &besideRun{
				size: rapid.IntRange(2, 4).Draw(rt, "size"), kind: rapid.SampledFrom([]string{"task", "timer", "listener"}).Draw(rt, "kind"),
				end: rapid.SampledFrom([]string{"body", "handler", "spawner"}).Draw(rt, "blocks in"), posts: posts.Draw(rt, "posts"),
			}
			checkInBubble(t, rt, b.run)
		}
	})
}

// besideRun is a pool whose body of this kind blocks at its end.
type besideRun struct {
	size      int
	kind, end string
	posts     []postedBody
	pool      *core.Pool
	gate      chan struct{} // closed when no body blocks any more
	holds     atomic.Bool   // the spawner blocks
	ran       atomic.Int64
	blocked   atomic.Int64 // the posted bodies that have blocked
	called    atomic.Int64 // the other listeners of the future
	promise   *core.Promise[int]
}

func (b *besideRun) run(t *testing.T) string {
	b.gate, b.promise = make(chan struct{}), core.NewPromise[int](nil)
	b.promise.TrySuccess(1) // the caller calls its listeners
	b.pool = coretest.NewPool(t, b.size,
		core.WithPanicHandler(func(*core.PanicError) { <-b.gate }),
		core.WithSpawner(func(loop func()) error {
			if b.holds.Load() {
				<-b.gate
			}
			go loop()
			return nil
		}))
	start := make(chan struct{})
	for range b.size {
		coretest.MustExecute(t, b.pool, func() { <-start })
		synctest.Wait()
	}
	close(start)
	synctest.Wait()
	b.post(t)
	time.Sleep(10 * time.Millisecond) // of the bubble: the timers are due
	synctest.Wait()
	wrong := b.differs()
	close(b.gate)
	synctest.Wait()
	if n := int(b.ran.Load() + b.called.Load()); wrong == "" && n != len(b.posts) {
		wrong = fmt.Sprintf("G3, G9: %d of %d bodies have run when no body blocks", n, len(b.posts))
	}
	return wrong
}

// post posts the body that posts the others.
func (b *besideRun) post(t *testing.T) {
	body := func() {
		for _, p := range b.posts {
			b.add(t, p)
		}
		switch b.end {
		case "handler":
			panic(b.end)
		case "spawner":
			b.holds.Store(true)
			runtime.Goexit()
		}
		<-b.gate
	}
	switch b.kind {
	case "task":
		coretest.MustExecute(t, b.pool, body)
	case "timer":
		mustSchedule(t, b.pool, 0, body)
	default:
		b.promise = core.NewPromise[int](b.pool)
		b.promise.Future().OnDone(func(int, error) { body() })
		b.promise.TrySuccess(1)
	}
}

// add posts p.
func (b *besideRun) add(t *testing.T, p postedBody) {
	body := func() {
		b.ran.Add(1)
		if p.blocks {
			b.blocked.Add(1)
			<-b.gate
		}
	}
	switch p.kind {
	case "task":
		coretest.MustExecute(t, b.pool, body)
	case "timer":
		mustSchedule(t, b.pool, p.delay, body)
	case "listener":
		promise := core.NewPromise[int](b.pool)
		promise.Future().OnDone(func(int, error) { body() })
		promise.TrySuccess(1)
	case "next listener":
		b.promise.Future().OnDone(func(int, error) { b.called.Add(1) })
	case "lazy":
		coretest.Must(t, b.pool.ExecuteLazy(func() { b.ran.Add(1) }))
	}
}

// differs describes what has not run while the body blocks, although a worker is free, or returns "".
func (b *besideRun) differs() string {
	free, blocking, least, next := int64(b.size-1), int64(0), int64(0), int64(0)
	for _, p := range b.posts {
		switch {
		case p.kind == "next listener":
			next++
		case p.kind == "lazy":
		case p.blocks:
			blocking++
			fallthrough
		default:
			least++
		}
	}
	if n := b.blocked.Load(); n != min(free, blocking) {
		return fmt.Sprintf("G12: %d bodies run on %d workers that are free, want %d", n, free, min(free, blocking))
	}
	if blocking >= free {
		return ""
	}
	if n := b.ran.Load(); n < least {
		return fmt.Sprintf("G12: %d bodies have run, want %d: only lazy tasks may wait", n, least)
	}
	if n := b.called.Load(); b.kind == "listener" && b.end != "body" && n != next {
		return fmt.Sprintf("G9: %d other listeners were called, want %d", n, next)
	}
	return ""
}
