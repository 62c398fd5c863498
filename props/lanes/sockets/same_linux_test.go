package sockets

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// mostTries is how often a step of Linux is looked at again, a millisecond apart: segments
// and acknowledgements of loopback may be a moment late, and an acknowledgement may be
// delayed by the kernel on purpose.
const mostTries = 5000

// again are the steps that only look, so that they can be repeated.
var again = map[string]bool{"ready": true, "unacknowledged": true, "state": true, "accept": true}

// agree makes the same step on both, and returns what differs.
func agree(model, linux *script, what string, end int) (want, got string) {
	want, got = model.step(what, end), linux.step(what, end)
	// A read is repeated as long as it finds nothing and has to find something.
	repeats := again[what] || what == "read" && got == fmt.Sprintf("0 %v", syscall.EAGAIN)
	if !repeats {
		return want, got
	}
	return want, repeated(want, got, func() string {
		if what == "ready" { // an edge is reported once
			return linux.events()
		}
		return linux.step(what, end)
	})
}

// repeated makes a step of Linux again until its result is the wanted one, and returns the last result.
func repeated(want, got string, step func() string) string {
	for tries := 0; got != want && tries < mostTries; tries++ {
		time.Sleep(time.Millisecond)
		got = step()
	}
	return got
}

var steps = []string{
	"connect", "accept", "send", "send", "fill", "read", "read all", "shutdown", "close", "reset", "unacknowledged", "state", "error",
	"watch edges", "watch levels", "watch again", "watch no more", "ready", "ready", "ready", "stop listening",
}

// TestSameAsLinux: scripts of two ends have the same results on the model and on loopback:
// return values, errors, states, and readiness for edges and for levels.
func TestSameAsLinux(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, err := newLinuxCalls()
		if err != nil {
			t.Fatal(err)
		}
		defer c.end()
		model, linux := newScript(newModelCalls(), 4), newScript(c, 4)
		program := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) [2]int {
			return [2]int{rapid.IntRange(0, len(steps)-1).Draw(t, "step"), rapid.IntRange(client, server).Draw(t, "end")}
		}), 1, 24).Draw(t, "program")
		head := [][2]int{{0, 0}, {1, 0}}
		if rapid.Bool().Draw(t, "watched") {
			head = append(head, [2]int{13, client}, [2]int{13, server}, [2]int{17, 0})
		}
		var done []string
		for _, p := range append(head, program...) {
			want, got := agree(model, linux, steps[p[0]], p[1])
			done = append(done, fmt.Sprintf("%s at %s: %s", steps[p[0]], [...]string{"client", "server"}[p[1]], got))
			if want != got {
				t.Fatalf("the model has %s\n%s", want, strings.Join(done, "\n"))
			}
		}
	})
}
