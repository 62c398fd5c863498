package works

import (
	"testing"

	"eventide/props/interleave/protocol"
)

// kernels are small bugs, and the verdicts on them.
var kernels = map[string]string{
	"TestLockOrder":     protocol.Deadlock,
	"TestLostWakeUp":    protocol.Deadlock,
	"TestDoubleClose":   protocol.Panicked,
	"TestSendOnClosed":  protocol.Panicked,
	"TestAddAfterWait":  protocol.Failed,
	"TestContextLeak":   protocol.Leak,
	"TestLostUpdate":    protocol.Failed,
	"TestTimeoutLeak":   protocol.Leak,
	"TestMissedCase":    protocol.Leak,
	"TestRecursiveRead": protocol.Deadlock,
}

// TestFoundAndRepeated finds each bug with each of three seeds, and repeats the
// schedule by its switches in a new process.
func TestFoundAndRepeated(t *testing.T) {
	bin := build(t, "kernels")
	for name, verdict := range kernels {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := uint64(1); seed <= 3; seed++ {
				s, _ := finds(t, bin, name, verdict, 2000, protocol.Request{Seed: seed})
				again, _ := finds(t, bin, name, verdict, 1, replay(s))
				if again.Hash != s.Hash || again.Number != s.Number || again.Warm != s.Warm {
					t.Errorf("seed %d: the replay of schedule %d has hash %x, want %x\n%v\n%v", seed, s.Number, again.Hash, s.Hash, s.Switches, again.Switches)
				}
			}
		})
	}
}
