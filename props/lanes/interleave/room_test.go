package interleave

import (
	"fmt"
	"strings"
	"testing"

	"eventide/props"
	"eventide/props/history"

	"github.com/stretchr/testify/require"
)

// TestG19Overfull: one task too many is right only if the loop begins one next.
func TestG19Overfull(t *testing.T) {
	var full strings.Builder
	for id := 1; id <= leastBound; id++ {
		fmt.Fprintf(&full, "g1 invoke execute %d\ng1 admit execute %d accepted\ng1 return execute %d accepted\n", id, id, id)
	}
	const more = "g1 invoke execute 99\ng1 admit execute 99 accepted\ng1 return execute 99 accepted\n"
	for name, c := range map[string]struct {
		text string
		bad  bool
	}{
		"full":                   {"", false},
		"the next thing: Begin":  {more + "loop begin task 1\nloop end task 1\n", false},
		"a listener comes first": {"loop begin task 1\nloop end task 1\n" + more + strings.ReplaceAll(more, "99", "98") + "loop begin listener 1\nloop end listener 1\nloop begin task 2\nloop end task 2\n", true},
		"the loop sleeps":        {more + "loop park Started\n", true},
		"after a cancel":         {"g2 invoke cancel 1\ng2 return cancel 1 true\n" + more + "loop park Started\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			trace := parseTrace(t, full.String()+c.text)
			v := overfull(props.Program{Limit: leastBound}, trace.Events)
			require.Equal(t, c.bad, v != nil, "%v", v)
			require.Nil(t, overfull(props.Program{}, trace.Events), "no bound")
		})
	}
}

// TestG19OverfullPool: each worker of a pool may have decided on a task, and one that makes the call has not.
func TestG19OverfullPool(t *testing.T) {
	var full strings.Builder
	for id := range leastBound + 2 {
		fmt.Fprintf(&full, "g1 invoke execute %d\ng1 admit execute %d accepted\ng1 return execute %d accepted\n", id+1, id+1, id+1)
	}
	begin := func(worker string, id int) string {
		return fmt.Sprintf("%s begin task %d\n%s end task %d\n", worker, id, worker, id)
	}
	for name, c := range map[string]struct {
		text string
		bad  bool
	}{
		"two workers begin":       {begin("loop", 1) + begin("loop2", 2), false},
		"one begins both":         {begin("loop", 1) + begin("loop", 2) + "loop2 park Started\n", true},
		"one begins, one listens": {begin("loop", 1) + "loop2 begin listener 1\nloop2 end listener 1\n" + begin("loop2", 2), true},
	} {
		t.Run(name, func(t *testing.T) {
			events := parseTrace(t, full.String()+c.text).Events
			v := overfull(props.Program{Limit: leastBound, Pool: 2}, events)
			require.Equal(t, c.bad, v != nil, "%v", v)
			require.NotNil(t, overfull(props.Program{Limit: leastBound}, events), "one loop")
		})
	}
}

func parseTrace(t *testing.T, text string) history.Trace {
	t.Helper()
	trace, err := history.Parse(strings.NewReader("verdict: good\nrules: virtual rest states\n\n" + text))
	require.NoError(t, err)
	return trace
}
