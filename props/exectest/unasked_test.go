package exectest

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"eventide/props/history"
)

// resting has a goroutine that ends at Shutdown, no hooks, and no ShutdownNow.
type resting struct {
	dropping
	quit  chan struct{}
	ended *atomic.Bool
	asked sync.Once
}

func (s *resting) Shutdown(time.Duration, time.Duration) error {
	s.asked.Do(func() { close(s.quit) })
	return nil
}

func (s *resting) loop() {
	<-s.quit
	close(s.done)
	s.ended.Store(true)
}

// TestRunsEndTheirSubject: a program may have its only shutdown call where the subject does not
// make it, as when shrink has taken the others. The run ends the subject nevertheless, and
// its history does not have that call.
func TestRunsEndTheirSubject(t *testing.T) {
	shut := step{op: history.OpShutdownGracefully}
	for name, only := range map[string]step{
		"in a hook, without hooks":               {op: history.OpAddHook, id: 1, body: body{then: []step{shut}}},
		"in a task that the subject forgets":     {op: history.OpExecute, id: 1, body: body{then: []step{shut}}},
		"ShutdownNow of a subject that has none": {op: history.OpShutdown},
		"made":                                   shut,
	} {
		var ended atomic.Bool
		c := defaults()
		r := execute(func() Subject {
			s := &resting{dropping: dropping{done: make(chan struct{})}, quit: make(chan struct{}), ended: &ended}
			go s.loop()
			return s
		}, program{actors: [][]step{{only}}}, &c, false)
		if r.err != nil || !ended.Load() {
			t.Errorf("shutdown %s: error %v, and the goroutine of the subject has ended: %v, want nil, true", name, r.err, ended.Load())
		}
		if r.done != (name == "made") {
			t.Errorf("shutdown %s: the run has seen Done: %v", name, r.done)
		}
	}
}
