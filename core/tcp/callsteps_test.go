package tcp_test

import (
	"time"

	"pgregory.net/rapid"
)

// bodies returns bodies with these calls on the loop.
func bodies(calls ...[]string) (all []callBody) {
	for _, body := range calls {
		var b callBody
		for _, what := range body {
			b.steps = append(b.steps, callStep{what: what})
		}
		all = append(all, b)
	}
	return all
}

// callStep is a call of the channel or the loop, or what the peer does.
type callStep struct {
	what      string
	elsewhere bool // on another goroutine
}

func drawCallStep(t *rapid.T) callStep {
	return callStep{
		what: rapid.SampledFrom([]string{
			"Write", "WriteAndFlush", "WriteAndFlush", "Flush", "CloseOutput", "CloseOutput", "Close", "Close", "CloseGracefully", "ShutdownGracefully",
			"Hold", "release", "pause", "resume", "the peer sends", "the peer ends", "the peer ends", "the peer resets", "the peer sends and resets", "full", "room",
			"unacknowledged", "unacknowledged", "acknowledged", "2 ms pass", "2 ms pass",
		}).Draw(t, "call"),
		elsewhere: rapid.Bool().Draw(t, "elsewhere"),
	}
}

// callBody is a body of the loop, and the pause that follows it.
type callBody struct {
	steps []callStep
	pause time.Duration
}
