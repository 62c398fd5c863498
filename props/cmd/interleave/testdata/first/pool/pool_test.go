package pool

import (
	"sync/atomic"
	"testing"
)

func TestRunsEverything(t *testing.T) {
	p := New(2)
	var n atomic.Int64
	for range 3 {
		if err := p.Submit(func() { n.Add(1) }); err != nil {
			t.Fatal(err)
		}
	}
	p.Stop()
	if n.Load() != 3 {
		t.Fatalf("%d tasks ran, want 3", n.Load())
	}
}
