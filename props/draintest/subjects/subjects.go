// Package subjects has servers that pass draintest, and servers that make one mistake each.
package subjects

import (
	"time"

	"eventide/props/draintest"
)

// Subject is a server, with the kit that fits it.
type Subject struct {
	Name  string
	Start draintest.Start
	Kit   draintest.Kit

	// Breaks is the verdict that names the mistake of a wrong subject; "" for a right one.
	Breaks string
	Alone  bool // and no other verdict fails
}

// lag is how late the load balancer learns, and preDrain how long a right server serves
// after its readiness has turned.
const (
	lag      = draintest.DefaultLag
	preDrain = 4 * lag
)

// All returns the subjects: the right ones first.
func All() []Subject { return append(Right(), Wrong()...) }

// Right returns the servers that make no mistake.
func Right() []Subject {
	web := draintest.Kit{Lag: lag, Clients: append(draintest.HTTP(), draintest.HTTP2())}
	lines := draintest.Kit{Lag: lag, Clients: draintest.TCP()}
	return []Subject{
		{Name: "net/http with process.HTTP", Start: httpStep(preDrain), Kit: web},
		{Name: "net/http by hand", Start: byItself(byHand, nil), Kit: web},
		{Name: "core/tracked behind net/http", Start: trackedGroup, Kit: web},
		{Name: "core/tcp", Start: tcpLines, Kit: lines},
		{Name: "core/blocking", Start: blockingLines, Kit: lines},
	}
}

// Wrong returns a server for each of the usual mistakes, and one that breaks just one verdict
// for each verdict that these do not break alone.
func Wrong() []Subject {
	web := draintest.Kit{Lag: lag, Rounds: 2, Clients: append(draintest.HTTP(), draintest.HTTP2())}
	late := web // more of a longer lag is seen on a loaded machine; a dropped SYN is refused after a second
	late.Lag = 800 * time.Millisecond
	impatient := web
	impatient.Deadline = time.Second
	return []Subject{
		{Name: "Close in place of Shutdown", Start: byItself(closed, nil), Kit: web, Breaks: draintest.NoneLost},
		{Name: "Shutdown without waiting for it", Start: byItself(notAwaited, nil), Kit: web, Breaks: draintest.NoneLost},
		{Name: "no PreDrain", Start: httpStep(0), Kit: late, Breaks: draintest.ReadyFirst, Alone: true},
		{Name: "hijacked connections forgotten", Start: byItself(hijackedForgotten, nil), Kit: web, Breaks: draintest.NoneCut, Alone: true},
		{Name: "signal swallowed", Start: byItself(swallowed, nil), Kit: impatient, Breaks: draintest.Ended, Alone: true},
		{Name: "requests without an answer dropped", Start: byItself(byHand, drops), Kit: web, Breaks: draintest.NoneLost, Alone: true},
		{Name: "long answers cut", Start: byItself(byHand, cuts), Kit: web, Breaks: draintest.NoneCut, Alone: true},
		{Name: "connections reset while the listener is open", Start: byItself(resets, nil), Kit: web, Breaks: draintest.CleanRefusal, Alone: true},
		{Name: "a goroutine and a descriptor left", Start: byItself(byHand, leaks), Kit: web, Breaks: draintest.NothingLeft, Alone: true},
	}
}
