package core_test

import (
	"testing"

	"eventide/core"
	"eventide/core/internal/coretest"
)

// keeping is an executor that keeps what it accepts.
type keeping struct {
	core.EventExecutor
	kept []func()
}

func (k *keeping) Execute(f func()) error {
	k.kept = append(k.kept, f)
	return nil
}

// A wrapper may call the task of a cancelled future where no executor runs: it does nothing there.
func TestTaskOfACancelledFutureOnNoExecutor(t *testing.T) {
	k := &keeping{EventExecutor: coretest.NewExecutor(t)}
	f := core.Submit(k, func() (int, error) { t.Error("the body has begun"); return 0, nil })
	coretest.Want(t, "cancelled", f.Cancel(), true)
	coretest.Want(t, "tasks", len(k.kept), 1)
	k.kept[0]()
}
