package core_test

import (
	"runtime"
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
)

func TestLocalValueBelongsToTheExecutor(t *testing.T) {
	a, b := coretest.NewExecutor(t), coretest.NewExecutor(t)
	made := 0
	local := core.NewLocal(func() int { made++; return 10 * made })
	get := func(ex *core.Executor, want int) {
		t.Helper()
		coretest.OnLoop(t, ex, func() {
			if v, err := local.Get(); v != want || err != nil {
				t.Errorf("Get: got %d, %v, want %d, nil", v, err, want)
			}
		})
	}
	get(a, 10)
	get(a, 10)
	get(b, 20)
	coretest.OnLoop(t, a, func() {
		if err := local.Set(5); err != nil {
			t.Errorf("Set: %v", err)
		}
	})
	get(a, 5)
	get(b, 20)
	coretest.OnLoop(t, a, func() {
		if err := local.Remove(); err != nil {
			t.Errorf("Remove: %v", err)
		}
	})
	get(a, 30)
}

func TestLocalOutsideOfALoop(t *testing.T) {
	ex := coretest.NewExecutor(t)
	local := core.NewLocal(func() int { t.Error("init was called"); return 1 })
	check := func(where string) {
		_, err := local.Get()
		if set, remove := local.Set(1), local.Remove(); err != core.ErrNotInEventLoop || set != err || remove != err {
			t.Errorf("%s: got %v, %v, %v, want ErrNotInEventLoop", where, err, set, remove)
		}
	}
	check("outside")
	ex.Termination().OnDone(func(core.Report, error) { check("in a listener of the termination") })
	ex.Shutdown()
	coretest.AwaitDone(t, ex)
}

// nil is a value like any other.
func TestLocalOfAnInterfaceType(t *testing.T) {
	ex := coretest.NewExecutor(t)
	local := core.NewLocal[error](nil)
	for range 2 {
		_, err := core.Submit(ex, func() (int, error) {
			if v, err := local.Get(); v != nil || err != nil {
				t.Errorf("Get: got %v, %v, want nil, nil", v, err)
			}
			return 0, nil
		}).Wait(neverEnds)
		if err != nil {
			t.Errorf("Get of a Local[error] that is nil: %v", err)
		}
	}
}

// Hooks are bodies: they still see the values. After done nothing holds them.
func TestG15LocalValuesAreDroppedAtTermination(t *testing.T) {
	ex := coretest.NewExecutor(t)
	local := core.NewLocal[*[1 << 16]byte](nil)
	dropped := make(chan struct{})
	coretest.OnLoop(t, ex, func() {
		v := new([1 << 16]byte)
		runtime.AddCleanup(v, func(int) { close(dropped) }, 0)
		_ = local.Set(v)
	})
	mustHook(t, ex, func() {
		if v, _ := local.Get(); v == nil {
			t.Error("G15: the value is gone before the hooks have run")
		}
	})
	ex.Shutdown()
	coretest.AwaitDone(t, ex)
	collected(t, "G15: the loop-local value", dropped)
	runtime.KeepAlive(ex)
	runtime.KeepAlive(local)
}
