package props

import (
	"fmt"
	"log/slog"
	"time"

	"eventide/core"
	"eventide/props/faults"

	"pgregory.net/rapid"
)

// GroupLoops is the kind of the children of a group.
type GroupLoops string

// The kinds of children. Event loops wait in system calls, which take no virtual time: only
// RunReal runs them.
const (
	GroupExecutors GroupLoops = ""         // executors without I/O
	GroupParked    GroupLoops = "parked"   // event loops that park in the network poller of the Go runtime
	GroupBlocking  GroupLoops = "blocking" // event loops that block in epoll_wait
)

// mostConstructors bounds the groups that newGroup tries to make.
const mostConstructors = 1000

// newGroup makes a group of n children. Its constructor is called again if an injected fault of a
// system call has made it fail; no such fault ends a child.
func (l GroupLoops) newGroup(n int) (g *core.Group, err error) {
	for range mostConstructors {
		faults.Own(&faults.Owner{Refuse: true}, func() { g, err = l.openGroup(n) })
		if !faults.Explains(err) {
			break
		}
	}
	return g, err
}

func (l GroupLoops) openGroup(n int) (*core.Group, error) {
	quiet := core.WithLogger(slog.New(slog.DiscardHandler))
	switch l {
	case GroupExecutors:
		return core.NewExecutorGroup(n, quiet)
	case GroupParked:
		return core.NewGroup(n, quiet)
	case GroupBlocking:
		return core.NewGroup(n, quiet, core.WithBlockingEpoll())
	}
	return nil, fmt.Errorf("props: got a group of %q, want %q, %q or %q", string(l), GroupExecutors, GroupParked, GroupBlocking)
}

// RealGroupPrograms generates test cases for groups in real time: those of GroupPrograms, most of
// them on event loops over epoll. Cells need virtual time.
func RealGroupPrograms() *rapid.Generator[GroupProgram] {
	return rapid.Custom(func(t *rapid.T) GroupProgram {
		p := GroupPrograms().Filter(func(p GroupProgram) bool { return p.Cell.Context == "" }).Draw(t, "program")
		p.Loops = rapid.SampledFrom([]GroupLoops{GroupExecutors, GroupParked, GroupBlocking}).Draw(t, "loops")
		return p
	})
}

// RunReal is Run in real time. All checks of Run are of the order of events, so they hold in real
// time too. A hang is a violation.
func (p GroupProgram) RunReal() string {
	g, err := p.Loops.newGroup(p.Children)
	if err != nil {
		return err.Error()
	}
	return p.realOn(g, realPatience)
}

// realOn is runOn with a bound for the time that it takes.
func (p GroupProgram) realOn(g *core.Group, patience time.Duration) string {
	result := make(chan string, 1)
	go func() { result <- p.runOn(g) }()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case text := <-result:
		return text
	case <-timer.C:
		return fmt.Sprintf("after %v the state of the group is %v, and a call or Done is still awaited", patience, g.State())
	}
}
