package props

import (
	"time"

	"eventide/core"
	"eventide/props/history"

	"pgregory.net/rapid"
)

// drainingFD is the descriptor of the first channel of readyWhileDraining: no other step uses one of them.
const drainingFD = 60

// readyWhileDraining gives channels that drain for some time input in that time, from an actor and from the handler
// of another channel: the loop still calls their handlers (G23).
func (g *generator) readyWhileDraining() []Step {
	var steps []Step
	input := func(fd int) Step { return Step{Env: EnvInput, FD: fd, Wait: g.duration("input after")} }
	drains := []time.Duration{5 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond}
	channels := 1 + g.one(3, "channels")
	for i := range channels {
		s := Step{Op: history.OpRegisterChannel, ID: g.newLabel(), FD: drainingFD + i, Interest: core.Readable, Body: &Script{}}
		s.Drain = rapid.SampledFrom(drains).Draw(g.T, "drains after")
		if i > 0 && g.chance(2, "handler makes another ready") {
			s.Body.Steps = []Step{{Env: EnvInput, FD: drainingFD + i - 1}}
		}
		steps = append(steps, s)
	}
	quiet := g.duration("quiet")
	steps = append(steps, Step{Op: history.OpShutdownGracefully, Wait: g.duration("drains at"), Quiet: quiet, Timeout: quiet + 100*time.Millisecond})
	for range 1 + g.one(4, "inputs") {
		steps = append(steps, input(drainingFD+g.one(channels, "of channel")))
	}
	return steps
}
