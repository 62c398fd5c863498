package core

import "testing"

// A poller that reports a token that no registration has ever had is not believed.
func TestEventsOfNoRegistration(t *testing.T) {
	var io loopIO
	for slots := range 3 {
		for token := range uint64(5) {
			if io.collect([]PollEvent{{Token: token}}); len(io.ready) != 0 {
				t.Errorf("token %d of %d slots is ready, want no event", token, slots)
			}
		}
		io.slots = append(io.slots, nil)
	}
}
