package works

import (
	"slices"
	"testing"

	"eventide/props/interleave/protocol"
)

// TestFaults finds what each fault shows, and repeats it by its switches. Without the
// fault nothing is found, and without the switch of the fault the replay passes.
func TestFaults(t *testing.T) {
	bin := build(t, "faults")
	for test, c := range map[string]struct{ fault, verdict string }{
		"TestShort":    {protocol.FaultShort, protocol.Failed},
		"TestReset":    {protocol.FaultReset, protocol.Failed},
		"TestSlow":     {protocol.FaultSlow, protocol.Deadlock},
		"TestFiles":    {protocol.FaultFiles, protocol.Failed},
		"TestContexts": {protocol.FaultContexts, protocol.Failed},
		"TestCancels":  {protocol.FaultCancels, protocol.Failed},
		"TestCanceled": {protocol.FaultCancels, protocol.Failed},
	} {
		t.Run(test, func(t *testing.T) {
			t.Parallel()
			passes(t, bin, test, 200, protocol.Request{})
			others := slices.DeleteFunc(protocol.Faults(), func(f string) bool {
				return f == c.fault || f == protocol.FaultReset || f == protocol.FaultFiles || f == protocol.FaultSlow || f == protocol.FaultCancels
			})
			passes(t, bin, test, 200, protocol.Request{Faults: others})
			s, got := finds(t, bin, test, c.verdict, 1000, protocol.Request{Faults: []string{c.fault}})
			if got.summary.Faults == 0 {
				t.Errorf("no fault is counted: %+v", got.summary)
			}
			r := replay(s)
			r.Faults = []string{c.fault}
			again, _ := finds(t, bin, test, c.verdict, 1, r)
			if again.Hash != s.Hash || again.Unused != 0 {
				t.Errorf("the replay of %+v is %+v", s, again)
			}
			r.Switches = slices.DeleteFunc(r.Switches, func(one protocol.Switch) bool { return one.Kind == protocol.ToFault })
			if len(r.Switches) == len(s.Switches) {
				t.Errorf("no switch is a fault: %v", s.Switches)
			}
			passes(t, bin, test, 1, r)
		})
	}
}
