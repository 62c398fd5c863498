package tcp_test

import (
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"eventide/core/internal/coretest"
	"eventide/core/tcp"

	"golang.org/x/sys/unix"
)

// TestR204UrgentDataHoldsNothingUp: a read ends in front of urgent data, and is no full
// one. What is behind it is of the same edge: no other will come for it. The urgent byte
// itself is not of the stream.
func TestR204UrgentDataHoldsNothingUp(t *testing.T) {
	for name, c := range map[string]struct {
		parts []string // the last byte of those that begin with ! is urgent
		want  string
	}{
		"none":      {[]string{"abc"}, "abc"},
		"first":     {[]string{"!", "abc"}, "abc"},
		"between":   {[]string{"abc", "!", "efg"}, "abcefg"},
		"twice":     {[]string{"abc", "!", "efg", "!x", "hij"}, "abc!efg!hij"}, // the older mark is forgotten
		"last":      {[]string{"abc", "!"}, "abc"},
		"the whole": {[]string{"!"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			coretest.CheckLeaks(t)
			var got []byte
			var reads atomic.Int64
			p := newPair(t, func(at string, _ *tcp.Channel, b []byte) {
				if at == "Read" {
					got = append(got, b...)
				}
			}, tcp.WithFaults(func(op string, n int) (int, syscall.Errno) {
				if op == "read" {
					reads.Add(1)
				}
				return n, 0
			}))
			raw, err := p.peer.SyscallConn()
			if err != nil {
				t.Fatal(err)
			}
			send := func(part string) {
				flags := 0
				if part[0] == '!' {
					flags = unix.MSG_OOB
				}
				if err := raw.Control(func(fd uintptr) { err = unix.Sendto(int(fd), []byte(part), flags, nil) }); err != nil {
					t.Fatal(err)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			coretest.OnLoop(t, p.ch.EventLoop(), func() { // so that it is one edge
				for _, part := range c.parts {
					send(part)
				}
				coretest.Until(t, "our kernel to have it", func() (all bool) {
					_ = raw.Control(func(fd uintptr) {
						n, err := unix.IoctlGetInt(int(fd), unix.SIOCOUTQ)
						all = n == 0 && err == nil
					})
					return all
				})
			})
			if c.want != "" {
				p.Await(t, 1, "ReadComplete")
			}
			coretest.OnLoop(t, p.ch.EventLoop(), func() {
				if string(got) != c.want {
					t.Errorf("R204: got %q of what was there, want %q", got, c.want)
				}
			})
			// Afterwards it is as before: one message costs one read.
			const messages = 20
			before := reads.Load()
			for i := range messages {
				_, _ = p.peer.Write([]byte("Z"))
				coretest.Until(t, "a message", func() (there bool) {
					coretest.OnLoop(t, p.ch.EventLoop(), func() { there = len(got) == len(c.want)+i+1 })
					return there
				})
			}
			if n := reads.Load() - before; n > messages+messages/2 {
				t.Errorf("R204: %d reads of %d messages behind the urgent data", n, messages)
			}
			_ = p.peer.CloseWrite()
			p.Await(t, 1, "Unregistered")
			if want := c.want + strings.Repeat("Z", messages); string(got) != want {
				t.Errorf("R204: got %q in all, want %q", got, want)
			}
		})
	}
}
