package det_test

import (
	"testing"

	"eventide/props/lanes/interleave/det"
	"eventide/props/lanes/interleave/det/atomic"
	"eventide/props/lanes/interleave/det/context"
	"eventide/props/lanes/interleave/det/runtime"
	"eventide/props/lanes/interleave/det/sync"
	"eventide/props/lanes/interleave/det/time"

	"github.com/stretchr/testify/require"
)

// stay is the schedule without switches.
type stay struct{}

func (stay) Next(d *det.Decision) int { return d.Default() }

// chance takes any, by a seed.
type chance struct{ state uint64 }

func (c *chance) Next(d *det.Decision) int {
	c.state = c.state*6364136223846793005 + 1442695040888963407
	return int(c.state>>33) % len(d.Runnable)
}

func TestVerdicts(t *testing.T) {
	for _, tt := range []struct {
		name string
		body func()
		want det.Verdict
	}{
		{"finished", func() { det.Go(func() {}) }, det.Finished},
		{"deadlock of the driver", func() {
			var m sync.Mutex
			m.Lock()
			m.Lock()
		}, det.Deadlocked},
		{"deadlock of two", func() {
			a, b := make(chan int), make(chan int)
			det.Go(func() { det.Recv(a); det.To(b).Send(1) })
			det.Recv(b)
			det.To(a).Send(1)
		}, det.Deadlocked},
		{"leak", func() { c := make(chan int); det.Go(func() { det.Recv(c) }) }, det.Leaked},
		{"nil channel", func() { var c chan int; det.Recv(c) }, det.Deadlocked},
		{"livelock", func() {
			var flag atomic.Bool
			for !flag.Load() {
			}
		}, det.Livelocked},
		{"out of steps, getting somewhere", func() {
			c := make(chan int, 1)
			for {
				done := make(chan int)
				det.Go(func() { det.Close(done) })
				det.Recv(done)
				det.To(c).Send(1)
				det.Recv(c)
			}
		}, det.OutOfSteps},
		{"panic", func() { det.Go(func() { panic("x") }); det.Forever() }, det.Panicked},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := det.Run(stay{}, det.Options{MaxSteps: 2000}, tt.body)
			require.Equal(t, tt.want, r.Verdict, "blocked: %v", r.Blocked)
			if tt.want == det.Deadlocked || tt.want == det.Leaked {
				require.NotEmpty(t, r.Blocked)
			}
		})
	}
}

// TestFairnessIsReported: one that spins until another has its turn ends only because
// it is made to give way, and the report says where.
func TestFairnessIsReported(t *testing.T) {
	r := det.Run(stay{}, det.Options{FairAt: 50}, func() {
		var flag atomic.Bool
		det.Go(func() { flag.Store(true) })
		for !flag.Load() {
		}
	})
	require.Equal(t, det.Finished, r.Verdict)
	require.NotEmpty(t, r.NeedsFairness())
}

// TestGoschedGivesWay: without it the same needs no help.
func TestGoschedGivesWay(t *testing.T) {
	r := det.Run(stay{}, det.Options{FairAt: -1}, func() {
		var flag atomic.Bool
		det.Go(func() { flag.Store(true) })
		for !flag.Load() {
			runtime.Gosched()
		}
	})
	require.Equal(t, det.Finished, r.Verdict)
	require.Empty(t, r.NeedsFairness())
}

func TestGoexitRunsDeferred(t *testing.T) {
	ran := false
	r := det.Run(stay{}, det.Options{}, func() {
		var w sync.WaitGroup
		w.Go(func() {
			defer func() { ran = true }()
			runtime.Goexit()
		})
		w.Wait()
	})
	require.Equal(t, det.Finished, r.Verdict)
	require.True(t, ran)
}

// TestChannels: whatever the schedule, channels with and without a buffer hand over
// every value once and in order, selects included.
func TestChannels(t *testing.T) {
	for seed := range uint64(300) {
		for _, size := range []int{0, 1, 3} {
			var got []int
			r := det.Run(&chance{seed}, det.Options{}, func() {
				c, quit := make(chan int, size), make(chan struct{})
				det.Go(func() {
					for i := range 5 {
						switch send := det.To(c).Put(i); det.Select(false, send, det.From(quit)) {
						case 0:
						case 1:
							panic("nobody quits")
						}
					}
					det.Close(c)
				})
				for v := range det.Range(c) {
					got = append(got, v)
				}
			})
			require.Equal(t, det.Finished, r.Verdict, "seed %d, size %d: %v", seed, size, r.Blocked)
			require.Equal(t, []int{0, 1, 2, 3, 4}, got, "seed %d, size %d", seed, size)
		}
	}
}

// TestTime: the clock moves only when nobody can run, to the earliest deadline.
func TestTime(t *testing.T) {
	var took []time.Duration
	r := det.Run(stay{}, det.Options{}, func() {
		start := time.Now()
		time.Sleep(time.Second)
		took = append(took, time.Since(start))
		fired := make(chan struct{})
		alarm := time.AfterFunc(time.Hour, func() { det.Close(fired) })
		stopped := time.AfterFunc(time.Minute, func() { panic("it was stopped") })
		require.True(t, stopped.Stop())
		require.False(t, stopped.Stop())
		det.Recv(fired)
		took = append(took, time.Since(start))
		require.False(t, alarm.Stop())
		ctx, stop := context.WithTimeout(context.Background(), time.Millisecond)
		defer stop()
		det.Recv(ctx.Done())
		require.ErrorIs(t, ctx.Err(), context.DeadlineExceeded)
		det.Recv(time.After(time.Second))
		took = append(took, time.Since(start))
	})
	require.Equal(t, det.Finished, r.Verdict, "%v", r.Blocked)
	require.Equal(t, []time.Duration{time.Second, time.Second + time.Hour, 2*time.Second + time.Hour + time.Millisecond}, took)
}

// TestTimeModes: only where the clock may move beside others does a timer of an hour
// go off before a goroutine that can run; and beside a deadline only in one mode.
func TestTimeModes(t *testing.T) {
	for _, tt := range []struct {
		mode         det.TimeMode
		early, exact bool
	}{{det.Idle, false, true}, {det.Adversarial, true, true}, {det.Boundary, true, false}} {
		early, beside := false, false
		for seed := range uint64(200) {
			det.Run(&chance{seed}, det.Options{Time: tt.mode}, func() {
				var worked, rang atomic.Bool
				at := time.Now().Add(time.Second)
				time.AfterFunc(time.Second, func() {
					rang.Store(true)
					beside = beside || !det.QuietNow().Equal(at)
				})
				// Who can run changes meanwhile: as long as it does not, the scheduler does not ask.
				var other sync.WaitGroup
				other.Go(func() { worked.Load() })
				for range 5 {
					worked.Load()
				}
				early = early || rang.Load()
				worked.Store(true)
				other.Wait()
			})
		}
		require.Equal(t, tt.early, early, "%v: a timer went off though others could run", tt.mode)
		require.Equal(t, tt.exact, !beside, "%v: the clock was beside a deadline", tt.mode)
	}
}

// TestRepeats: the same decisions give the same run, whatever the runtime does.
func TestRepeats(t *testing.T) {
	body := func() {
		var m sync.Mutex
		var n atomic.Int64
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				m.Lock()
				n.Add(1)
				m.Unlock()
				time.Sleep(time.Millisecond)
			})
		}
		all.Wait()
	}
	classes := map[uint64]bool{}
	for seed := range uint64(100) {
		a := *det.Run(&chance{seed}, det.Options{}, body)
		b := *det.Run(&chance{seed}, det.Options{}, body)
		require.Equal(t, det.Finished, a.Verdict)
		require.Equal(t, [3]any{a.Class, a.Steps, a.Handovers}, [3]any{b.Class, b.Steps, b.Handovers}, "seed %d", seed)
		classes[a.Class] = true
	}
	require.Greater(t, len(classes), 10, "schedules differ")
}

// TestSyncTypes: the look-alikes do what the real ones do.
func TestSyncTypes(t *testing.T) {
	for seed := range uint64(100) {
		r := det.Run(&chance{seed}, det.Options{}, func() {
			var once sync.Once
			var calls, n atomic.Int32
			var rw sync.RWMutex
			var m sync.Mutex
			cond := sync.NewCond(&m)
			ready := false
			var all sync.WaitGroup
			value := sync.OnceValue(func() int { calls.Add(1); return 7 })
			var kept sync.Map
			for i := range 3 {
				all.Go(func() {
					once.Do(func() { n.Add(1) })
					if value() != 7 {
						panic("OnceValue")
					}
					rw.RLock()
					n.Load()
					rw.RUnlock()
					rw.Lock()
					n.Add(10)
					rw.Unlock()
					m.Lock()
					for !ready {
						cond.Wait()
					}
					m.Unlock()
					kept.Store(i, i)
				})
			}
			m.Lock()
			ready = true
			cond.Broadcast()
			m.Unlock()
			all.Wait()
			sum := 0
			kept.Range(func(_, v any) bool { sum += v.(int); return true })
			if n.Load() != 31 || calls.Load() != 1 || sum != 3 {
				panic("wrong sums")
			}
		})
		require.Equal(t, det.Finished, r.Verdict, "seed %d: %v %v", seed, r.Blocked, r.Panic)
	}
}

// TestAllWhoWaitGoOn: an object that several wait for wakes them all.
func TestAllWhoWaitGoOn(t *testing.T) {
	for seed := range uint64(100) {
		n := 0
		r := det.Run(&chance{seed}, det.Options{}, func() {
			var gate, all sync.WaitGroup
			opened := make(chan struct{})
			gate.Add(1)
			for range 3 {
				all.Go(func() { gate.Wait(); n++ })
				all.Go(func() { det.Recv(opened); n++ })
			}
			gate.Done()
			det.Close(opened)
			all.Wait()
		})
		require.Equal(t, det.Finished, r.Verdict, "seed %d: blocked: %v", seed, r.Blocked)
		require.Equal(t, 6, n)
	}
}
