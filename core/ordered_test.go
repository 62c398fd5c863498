package core

import "testing"

// TestG19BoundedQueuesPublishInOrder: only the queues of an executor with a bound pay for an ordered store.
// No schedule that the checks choose can show the refusal that it prevents (see tasks.Queue.Ordered).
func TestG19BoundedQueuesPublishInOrder(t *testing.T) {
	for _, tt := range []struct {
		opts []Option
		want bool
	}{{nil, false}, {[]Option{WithMaxPendingTasks(1000)}, true}} {
		e, err := NewExecutor(tt.opts...)
		must(t, err)
		if e.tasks.Ordered != tt.want || e.tails.Ordered != tt.want {
			t.Errorf("G19: with a bound of %d the stores of tasks are ordered: %v, of tail tasks %v, want %v", e.cfg.limit, e.tasks.Ordered, e.tails.Ordered, tt.want)
		}
		<-e.Shutdown().Done()
	}
}
