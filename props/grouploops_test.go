package props

import (
	"strings"
	"sync"
	"testing"
	"time"

	"eventide/core"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// groupsAtOnce is how many groups a round of TestPropG21GroupsInRealTime runs: they mostly wait.
const groupsAtOnce = 8

// TestPropG21GroupsInRealTime: groups of executors, and of event loops over epoll, keep G21 in real time.
func TestPropG21GroupsInRealTime(t *testing.T) {
	rounds := 10
	if testing.Short() {
		rounds = 1
	}
	kinds, exercised := map[GroupLoops]int{}, 0
	for seed := range rounds {
		var all sync.WaitGroup
		for i := range groupsAtOnce {
			p := RealGroupPrograms().Example(seed*groupsAtOnce + i)
			kinds[p.Loops]++
			if p.Exercises() {
				exercised++
			}
			all.Go(func() { assert.Empty(t, p.RunReal(), "G21: %+v", p) })
		}
		all.Wait()
	}
	require.Positive(t, exercised, "not exercised: G21")
	t.Logf("%d programs with the premise of G21, by children: %v", exercised, kinds)
}

// TestG21AHangInRealTimeIsFound: a group that does not end is a violation that has the state of the group.
func TestG21AHangInRealTimeIsFound(t *testing.T) {
	g, err := GroupParked.newGroup(2)
	require.NoError(t, err)
	release := make(chan struct{})
	require.NoError(t, g.Execute(func() { <-release }))
	text := GroupProgram{Children: 2, Callers: 1, Hard: true}.realOn(g, time.Millisecond)
	require.True(t, strings.HasPrefix(text, "after 1ms the state of the group is "), text)
	close(release)
	<-g.Termination().Done()
}

// TestGroupLoops: the children are of the kind, and a kind that does not exist is an error.
func TestGroupLoops(t *testing.T) {
	for kind, loops := range map[GroupLoops]bool{GroupExecutors: false, GroupParked: true, GroupBlocking: true} {
		g, err := kind.newGroup(2)
		require.NoError(t, err)
		for child := range g.All() {
			_, is := child.(*core.EventLoop)
			require.Equal(t, loops, is, "%q: a child is a %T", kind, child)
		}
		<-g.Shutdown().Done()
	}
	_, err := GroupLoops("pools").newGroup(2)
	require.ErrorContains(t, err, `got a group of "pools"`)
}
