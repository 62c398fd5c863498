package core_test

import (
	"fmt"
	"math"
	"testing"

	"eventide/core"

	"pgregory.net/rapid"
)

// TestPropRegisterNumbers: Register and RegisterChannel accept each number of a descriptor, from 0 to the largest of the kernel,
// and refuse any other with an error that has it.
func TestPropRegisterNumbers(t *testing.T) {
	number := rapid.OneOf(rapid.SampledFrom([]int{math.MinInt, -1, 0, 1, math.MaxInt32 - 1, math.MaxInt32, math.MaxInt32 + 1, math.MaxInt}), rapid.Int())
	rapid.Check(t, func(rt *rapid.T) {
		fd, interest, channel := number.Draw(rt, "number"), rapid.SampledFrom([]core.Interest{0, core.Readable}).Draw(rt, "interest"), rapid.Bool().Draw(rt, "channel")
		checkInBubble(t, rt, func(t *testing.T) string {
			l, m := modelLoop(t)
			valid := fd >= 0 && fd <= math.MaxInt32
			if valid {
				m.At(fd)
			}
			call, register := "Register", func() (*core.Registration, error) { return l.Register(fd, interest, ignore) }
			if channel {
				ch := &fakeChannel{}
				call, register = "RegisterChannel", func() (*core.Registration, error) { return l.RegisterChannel(fd, interest, ch) }
			}
			r, err := register()
			text := fmt.Sprintf("core: %s: fd is %d, want an open descriptor", call, fd)
			if (err == nil) != valid || (r == nil) == valid || !valid && err.Error() != text {
				return fmt.Sprintf("%s(%d, %v) returns %v, and a registration %v; want one: %v", call, fd, interest, err, r != nil, valid)
			}
			if !valid {
				return ""
			}
			defer r.End(core.ChannelEnd{})
			if _, _, ok := m.Watched(fd); r.FD() != fd || ok != (interest != 0) {
				return fmt.Sprintf("%s(%d, %v): FD is %d, and the poller watches it: %v", call, fd, interest, r.FD(), ok)
			}
			return ""
		})
	})
}
