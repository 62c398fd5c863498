package core_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"eventide/core"
	"eventide/core/internal/coretest"

	"pgregory.net/rapid"
)

// invoked is a function that InvokeAll or InvokeAny submits: it takes a time, and ends in one of the ways of futureBodies.
// The executor refuses it if refused is set.
type invoked struct {
	takes   time.Duration
	end     string
	refused bool
}

// refusing is an executor that refuses some calls of Execute, by their number.
type refusing struct {
	core.EventExecutor
	refuses []bool
}

func (r *refusing) Execute(f func()) error {
	refuse := r.refuses[0]
	r.refuses = r.refuses[1:]
	if refuse {
		return errSpawn
	}
	return r.EventExecutor.Execute(f)
}

// TestPropG18Invoke compares InvokeAll and InvokeAny with a specification, for an executor, which runs one function at a time:
// when they return, and what. A function that has not begun then never begins (G3, G8, G18).
func TestPropG18Invoke(t *testing.T) {
	ends := sortedKeys(futureBodies)
	functions := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) invoked {
		return invoked{
			takes: time.Duration(rapid.IntRange(0, 3).Draw(t, "seconds")) * time.Second,
			end:   rapid.SampledFrom(ends).Draw(t, "end"), refused: rapid.IntRange(0, 5).Draw(t, "refused") == 0,
		}
	}), 0, 5)
	rapid.Check(t, func(rt *rapid.T) {
		fs, all := functions.Draw(rt, "functions"), rapid.Bool().Draw(rt, "all")
		limit := time.Duration(rapid.SampledFrom([]int{0, 1, 3, 3600}).Draw(rt, "context ends after seconds"))*time.Second + time.Millisecond
		checkInBubble(t, rt, func(t *testing.T) string {
			p := &invokePlay{fs: fs, limit: limit, ex: &refusing{EventExecutor: coretest.NewExecutor(t, core.WithPanicHandler(func(*core.PanicError) {}))}}
			for _, f := range fs {
				p.ex.refuses = append(p.ex.refuses, f.refused)
			}
			coretest.OnLoop(t, p.ex.EventExecutor, func() {})
			synctest.Wait()
			if all {
				return p.all()
			}
			return p.any()
		})
	})
}

type invokePlay struct {
	fs    []invoked
	limit time.Duration
	ex    *refusing
	begun []int
}

// functions returns the functions to submit.
func (p *invokePlay) functions() (fs []func() (int, error)) {
	for i, f := range p.fs {
		fs = append(fs, func() (int, error) {
			p.begun = append(p.begun, i)
			time.Sleep(f.takes)
			return futureBodies[f.end]()
		})
	}
	return fs
}

// context returns one that ends after limit, with errFuture.
func (p *invokePlay) context() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	time.AfterFunc(p.limit, func() { cancel(errFuture) })
	return ctx
}

// ran returns which functions begin before a time, and when the last of them ends.
func (p *invokePlay) ran(before time.Duration) (begun []int, ends time.Duration) {
	for i, f := range p.fs {
		if !f.refused && ends < before {
			begun = append(begun, i)
			ends += f.takes
		}
	}
	return begun, ends
}

func (p *invokePlay) all() string {
	began := time.Now()
	futures, err := core.InvokeAll(p.context(), p.ex, p.functions()...)
	took := time.Since(began)
	if n := slices.IndexFunc(p.fs, func(f invoked) bool { return f.refused }); n >= 0 {
		if took != 0 || err != errSpawn || len(futures) != n+1 {
			return fmt.Sprintf("G3: function %d of %+v is refused; InvokeAll returns %d futures and %v after %v", n, p.fs, len(futures), err, took)
		}
		endAll()
		for i, f := range futures {
			v, err := f.Wait(context.Background())
			began := slices.Contains(p.begun, i) // it may have begun before the refusal
			if i < n && !began && err != core.ErrCancelled || i == n && err != errSpawn {
				return fmt.Sprintf("G8: future %d of %+v, of which %d is refused, has %d, %v", i, p.fs, n, v, err)
			}
		}
		return ""
	}
	begun, _ := p.ran(p.limit)
	_, last := p.ran(time.Hour)
	want, wantErr := last, error(nil)
	if last > p.limit {
		want, wantErr = p.limit, errFuture
	}
	if took != want || err != wantErr || len(futures) != len(p.fs) {
		return fmt.Sprintf("G18: InvokeAll of %+v, %v, returns %d futures and %v after %v; want %v after %v", p.fs, p.limit, len(futures), err, took, wantErr, want)
	}
	endAll()
	for i, f := range futures {
		v, err := f.Wait(context.Background())
		if wrong := judgeFuture(keptFuture{end: p.fs[i].end, cancelled: !slices.Contains(begun, i)}, v, err); wrong != "" {
			return fmt.Sprintf("G8: future %d of %+v, %v, has %d, %v: %s", i, p.fs, p.limit, v, err, wrong)
		}
	}
	return p.differs(begun)
}

func (p *invokePlay) any() string {
	began := time.Now()
	v, err := core.InvokeAny(p.context(), p.ex, p.functions()...)
	took, want, success := time.Since(began), time.Duration(0), false
	if len(p.fs) == 0 {
		if err == nil || took != 0 {
			return fmt.Sprintf("InvokeAny of nothing returns %d, %v after %v", v, err, took)
		}
		return ""
	}
	begun := []int(nil)
	for i, f := range p.fs {
		if f.refused || want >= p.limit || success {
			continue
		}
		begun = append(begun, i)
		want += f.takes
		success = f.end == "value" && want < p.limit
	}
	want = min(want, p.limit)
	switch {
	case took != want:
		return fmt.Sprintf("G18: InvokeAny of %+v, %v, returns after %v, want %v", p.fs, p.limit, took, want)
	case success && (v != 7 || err != nil), !success && (v != 0 || err == nil), want == p.limit && err != errFuture:
		return fmt.Sprintf("G18: InvokeAny of %+v, %v, returns %d, %v; want a success %v", p.fs, p.limit, v, err, success)
	case !success && want < p.limit:
		for _, f := range p.fs {
			cause := map[string]error{"error": errFuture, "panic": errFuture, "Goexit": core.ErrGoexit}[f.end]
			if f.refused {
				cause = errSpawn
			}
			if !errors.Is(err, cause) {
				return fmt.Sprintf("G18: InvokeAny of %+v returns %v, without %v", p.fs, err, cause)
			}
		}
	}
	endAll()
	if success { // others may begin before the call cancels them
		p.begun = p.begun[:min(len(p.begun), len(begun))]
	}
	return p.differs(begun)
}

// endAll returns when every function that has begun has ended.
func endAll() {
	time.Sleep(time.Hour)
	synctest.Wait()
}

func (p *invokePlay) differs(begun []int) string {
	if !slices.Equal(p.begun, begun) {
		return fmt.Sprintf("G8: the functions %v of %+v, %v, have begun, want %v", p.begun, p.fs, p.limit, begun)
	}
	return ""
}
