package core

import (
	"sync"
	"testing"

	"github.com/petermattis/goid"
)

// brieflyRunning is an executor whose body ends after so many readings.
type brieflyRunning struct {
	mu       sync.Mutex
	body     RunningBody
	readings int
}

func (b *brieflyRunning) mutex() *sync.Mutex { return &b.mu }
func (b *brieflyRunning) removeMeter(*Meter) {}

func (b *brieflyRunning) readMeter(*Meter) (r Reading) {
	if b.readings--; b.readings >= 0 {
		r.Running = []RunningBody{b.body}
	}
	return r
}

// Stack has no stack of a body that has ended before the stacks were read, or meanwhile: the goroutine may
// run another body by then.
func TestStackOfABodyThatEndsMeanwhile(t *testing.T) {
	body := RunningBody{BodyTask, 1, goid.Get()}
	for readings, want := range []bool{false, false, true} {
		m := &Meter{owner: &brieflyRunning{body: body, readings: readings}}
		if stack := m.Stack(body); (stack != "") != want {
			t.Errorf("after %d readings in which the body runs, the stack is %q, want one: %v", readings, stack, want)
		}
	}
}
