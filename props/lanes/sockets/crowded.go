//go:build linux

package sockets

import (
	"slices"

	"pgregory.net/rapid"
)

// CrowdedPrograms generates programs for chosen schedules, over a transport: those of the lane, cut
// to a few connections and calls that happen at the same few times. So a schedule has few
// operations, and many of them are concurrent.
func CrowdedPrograms(transport string) *rapid.Generator[Program] {
	return rapid.Custom(func(t *rapid.T) Program {
		p := drawOver(t, transport)
		p.crowd()
		return p
	})
}

// What a crowded program has at most.
const (
	crowdedTimes   = 3 // milliseconds in which its events begin
	crowdedConns   = 2
	crowdedCalls   = 4
	crowdedActions = 2   // in a row, by one goroutine
	crowdedSteps   = 3   // of a peer
	crowdedPause   = 1   // milliseconds between two of them
	crowdedReads   = 300 // bytes of a step of a peer, in reads of the channel
)

// crowd cuts the program. A late end stays late: until then the judge checks whether every goroutine
// waits for something.
func (p *Program) crowd() {
	p.Conns = p.Conns[:min(len(p.Conns), crowdedConns)]
	for i := range p.Conns {
		c := &p.Conns[i]
		c.At %= crowdedTimes
		c.Writer, c.Reader = crowdedOf(c.Writer), crowdedOf(c.Reader)
		for j := range c.Writer {
			c.Writer[j].N = min(c.Writer[j].N, crowdedReads*p.Options.ReadBuffer)
		}
	}
	p.Calls = slices.DeleteFunc(p.Calls, func(c Call) bool { return c.Conn >= len(p.Conns) })
	p.Calls = p.Calls[:min(len(p.Calls), crowdedCalls)]
	for i := range p.Calls {
		c := &p.Calls[i]
		c.At %= crowdedTimes
		c.Then = c.Then[:min(len(c.Then), crowdedActions-1)]
	}
	if p.End.At <= lastEvent {
		p.End.At %= crowdedTimes + 1
	}
}

// crowdedOf returns the last steps of a peer, with short pauses: only the last step of a reader drains.
func crowdedOf(steps []PeerStep) []PeerStep {
	steps = steps[max(0, len(steps)-crowdedSteps):]
	for i := range steps {
		steps[i].Wait = min(steps[i].Wait, crowdedPause)
	}
	return steps
}
