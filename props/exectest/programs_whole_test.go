package exectest

import (
	"math/rand/v2"
	"testing"

	"eventide/props/history"
)

// TestWholeProgramsShutDownWithoutCloser wants every program of the whole API to call
// Shutdown, because the calls of ShutdownNow are left out for a subject that is no Closer.
func TestWholeProgramsShutDownWithoutCloser(t *testing.T) {
	for seed := range uint64(500) {
		p := everything(false)(rand.New(rand.NewPCG(seed, 0)), 0)
		shuts := false
		p.each(func(s *step) { shuts = shuts || s.op == history.OpShutdownGracefully })
		if !shuts {
			t.Fatalf("seed %d: %v does not call Shutdown", seed, p)
		}
	}
}

// TestWholeProgramsMakeEveryCall: also those of the optional interfaces of a subject.
func TestWholeProgramsMakeEveryCall(t *testing.T) {
	made := map[history.Op]int{}
	for seed := range uint64(500) {
		p := everything(true)(rand.New(rand.NewPCG(seed, 0)), 0)
		p.each(func(s *step) { made[s.op]++ })
	}
	for _, op := range []history.Op{
		history.OpExecute, history.OpSubmit, history.OpSchedule, history.OpReset, history.OpCancel, history.OpAddHook, history.OpRemoveHook,
		history.OpState, history.OpStats, history.OpInLoop, history.OpShutdown, history.OpShutdownGracefully,
	} {
		if made[op] < 20 {
			t.Errorf("%v was made %d times in 500 programs, want at least 20", op, made[op])
		}
	}
}
