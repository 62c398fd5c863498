package epoll

import (
	"flag"
	"testing"
	"time"

	"eventide/core/internal/poll"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// TestPropWaitOfWhatIsThere: Wait finds what is there when it begins: a wake-up before anything else, and then an
// event. It parks only for an event, if it may not spin; a spin ends with the event, or at the deadline, and then
// counts as none that found nothing. After poll.BusyTurns calls that a wake-up has ended it polls first.
func TestPropWaitOfWhatIsThere(t *testing.T) {
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		longest := rapid.SampledFrom([]time.Duration{0, 1, time.Microsecond, time.Second}).Draw(t, "the longest spin")
		p, err := NewNetpoll(nil, longest, System())
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		p.spin.skip, p.spin.misses = rapid.IntRange(0, 2).Draw(t, "parks without a spin"), rapid.IntRange(0, 3).Draw(t, "misses")
		event, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(event)
		const token = 1 << 32
		if err := p.Add(event, poll.Readable, token); err != nil {
			t.Fatal(err)
		}
		left := false // a wake-up that a poll came before
		for range rapid.IntRange(1, 4).Draw(t, "calls of Wait") {
			woken := rapid.Bool().Draw(t, "woken") || left
			ready := rapid.Bool().Draw(t, "ready")
			passed := rapid.Bool().Draw(t, "the deadline has passed") || !woken && !ready
			spins := longest > 0 && p.spin.skip == 0
			misses, parks := p.spin.misses, p.Parks()
			p.waitsSincePoll = rapid.SampledFrom([]int{0, poll.BusyTurns - 1, poll.BusyTurns}).Draw(t, "calls since the last poll")
			polls := p.waitsSincePoll == poll.BusyTurns
			if woken {
				p.Wake()
			}
			setReady(t, event, ready)
			until := time.Now().Add(time.Hour)
			if passed {
				until = time.Now()
			}
			if err := p.Wait(until); err != nil {
				t.Fatalf("Wait: %v", err)
			}
			found := ready && (!woken || polls)
			left = woken && ready && polls
			if n := len(p.Ready()); (n == 1) != found || found && p.Ready()[0].Token != token {
				t.Fatalf("%d events, want one: %v", n, found)
			}
			if parked := p.Parks() - parks; (parked == 1) != (found && !spins && !passed && !polls) {
				t.Fatalf("%d parks; found an event %v, spins %v, polls first %v, the deadline has passed %v", parked, found, spins, polls, passed)
			}
			if spins && found && !polls {
				misses = 0
			}
			if p.spin.misses != misses {
				t.Fatalf("%d misses, want %d: spins %v, found an event %v", p.spin.misses, misses, spins, found)
			}
		}
	})
}

// setReady makes an eventfd readable, or not.
func setReady(t *rapid.T, fd int, ready bool) {
	var count [8]byte
	_, err := unix.Read(fd, count[:])
	if ready {
		count = [8]byte{1}
		_, err = unix.Write(fd, count[:])
	}
	if err != nil && err != unix.EAGAIN {
		t.Fatal(err)
	}
}
