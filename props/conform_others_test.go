package props

import (
	"net"
	"testing"

	"eventide/core"
	"eventide/core/blocking"
	"eventide/props/exectest"
	"eventide/props/history"

	"github.com/stretchr/testify/require"
)

// connected is the loop of a channel of package blocking, whose peer only listens.
type connected struct {
	subject
	group *blocking.Group
	peer  net.Conn
}

func newConnected(t *testing.T) exectest.Subject {
	group, err := blocking.NewGroup(0)
	require.NoError(t, err)
	ours, peer := net.Pipe()
	ch, err := group.Register(ours, blocking.HandlerBase{})
	require.NoError(t, err)
	return connected{subject{&ch.EventLoop().Executor}, group, peer}
}

// Abandon ends what the loop of one channel does not: the rest of its group.
func (c connected) Abandon() {
	c.peer.Close()
	c.group.Shutdown()
}

// TestPropLoopsAndChildrenConform: what runs on the same core passes the kit too: an
// event loop, in virtual time over a scripted poller and in real time over its own; a
// child of a group; the loop of a channel of package blocking.
func TestPropLoopsAndChildrenConform(t *testing.T) {
	for name, subjects := range map[string]struct {
		factory func() exectest.Subject
		kit     []exectest.Option
	}{
		"event loop": {func() exectest.Subject {
			clock := new(clock)
			loop, err := core.NewEventLoop(core.WithClock(clock), core.WithPoller(newPoller(clock, newRecorder(nil, nil))))
			require.NoError(t, err)
			return subject{&loop.Executor}
		}, nil},
		"event loop in real time": {func() exectest.Subject {
			loop, err := core.NewEventLoop()
			require.NoError(t, err)
			return subject{&loop.Executor}
		}, []exectest.Option{exectest.RealTime(), exectest.Rounds(1)}},
		"child of a group": {func() exectest.Subject {
			group, err := core.NewExecutorGroup(3)
			require.NoError(t, err)
			group.Next()
			return subject{group.Next().(*core.Executor)}
		}, nil},
		"loop of a connection": {func() exectest.Subject { return newConnected(t) }, []exectest.Option{
			exectest.Without("G17", "the registration of the connection has started the loop"),
			exectest.Without("G12", "between two bodies the loop reads from the connection, for up to 5µs"),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			result := exectest.Run(t, subjects.factory, append([]exectest.Option{
				exectest.Classify(answer), exectest.Timers(history.CancelTimers),
			}, subjects.kit...)...)
			require.Empty(t, result.Failed(), "%v", result)
		})
	}
}
