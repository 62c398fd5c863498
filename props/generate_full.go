package props

import (
	"time"

	"eventide/props/history"

	"pgregory.net/rapid"
)

// largestLimit is the largest bound of a queue. To fill it takes as long as a thousand other programs, so few of
// the programs with that bound do.
const largestLimit = 10000

// fills draws whether a program fills a queue with the largest bound. However many numbers there are, rapid draws
// the last one in more than one of fifty draws, so it takes several draws to make something rarer.
func (g *generator) fills(p *Program) bool {
	return p.Limit == largestLimit && g.chance(256, "full") && g.chance(256, "full, rarely") && g.chance(4, "full, more rarely")
}

// full submits more tasks than the queue of p holds, while bodies block all workers. No call is retried, and no
// start fails.
func (g *generator) full(p *Program) []Step {
	p.Retries, p.Starts = 0, nil
	blocked := Step{Op: history.OpExecute, ID: g.newID(), Times: max(1, p.Pool), Body: &Script{Sleep: time.Millisecond}}
	ops := []history.Op{history.OpExecute, history.OpExecuteLazy, history.OpSubmit}
	fills := Step{Op: rapid.SampledFrom(ops).Draw(g.T, "fills"), ID: g.newID(), Times: p.Limit + 1 + g.one(16, "beyond"), Body: &Script{}}
	fills.Wait = time.Microsecond // so that all workers have begun
	return []Step{blocked, fills}
}
