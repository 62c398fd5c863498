package core_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"eventide/core"
)

// endingChannel ends as soon as it is asked to, in either way.
type endingChannel struct {
	reg    *core.Registration
	events []string
}

func (c *endingChannel) Ready(core.Readiness) {}

func (c *endingChannel) Drain(core.Deadline) {
	c.events = append(c.events, "drain")
	c.reg.End(core.ChannelEnd{Kind: core.EndDrained})
}

func (c *endingChannel) Abort(error) {
	c.events = append(c.events, "abort")
	c.reg.End(core.ChannelEnd{Kind: core.EndAborted, Discarded: 7})
}

// A graceful shutdown without any time is the deadline's close if something was
// pending, and an orderly one if nothing was; a channel has something to lose.
func TestG11NoTimeToDrainIsATimeout(t *testing.T) {
	for name, tc := range map[string]struct {
		channel bool
		want    core.Report
	}{
		"nothing is open":   {false, core.Report{}},
		"a channel is open": {true, core.Report{TimedOut: true, ChannelsAborted: 1, BytesDiscarded: 7}},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := core.NewEventLoop()
			require.NoError(t, err)
			var fds [2]int
			require.NoError(t, unix.Pipe2(fds[:], unix.O_NONBLOCK|unix.O_CLOEXEC))
			defer unix.Close(fds[0])
			defer unix.Close(fds[1])
			ch := &endingChannel{}
			registered := make(chan error, 1)
			require.NoError(t, l.Execute(func() { // so that the loop cannot call before reg is set
				var err error
				if tc.channel {
					ch.reg, err = l.RegisterChannel(fds[0], core.Readable, ch)
				}
				registered <- err
			}))
			require.NoError(t, <-registered)
			for l.Stats().Pending > 0 {
				<-settled(l)
			}
			term, err := l.ShutdownGracefully(0, 0)
			require.NoError(t, err)
			report, err := term.Wait(t.Context())
			require.NoError(t, err)
			got := core.Report{TimedOut: report.TimedOut, ChannelsAborted: report.ChannelsAborted, BytesDiscarded: report.BytesDiscarded}
			require.Equal(t, tc.want, got, "G11, G23: %+v", report)
			if tc.channel {
				require.Equal(t, []string{"abort"}, ch.events, "G23: there was no time to drain")
			}
		})
	}
}

// settled is closed by a note, which is no task: when it runs, the tasks before it
// have ended.
func settled(l *core.EventLoop) <-chan struct{} {
	done := make(chan struct{})
	p := core.NewPromise[struct{}](l)
	p.Future().OnDone(func(struct{}, error) { close(done) })
	p.TrySuccess(struct{}{})
	return done
}
