package props

import (
	"testing"
	"testing/synctest"

	"eventide/props/history"

	"github.com/petermattis/goid"
	"github.com/stretchr/testify/require"
)

// TestMainOfAProgram: the calls of the last actor are made by the goroutine that runs the
// program, those of the others by their own.
func TestMainOfAProgram(t *testing.T) {
	call := func(id int) []Step { return []Step{{Op: history.OpExecute, ID: id}} }
	p := Program{Main: true, Actors: []Actor{{Steps: call(1)}, {Steps: call(2)}}}
	require.Contains(t, p.String(), "g1:\n")
	require.Contains(t, p.String(), "main:\n")
	var out Recording
	var main int64
	synctest.Test(t, func(*testing.T) { main, out = goid.Get(), Run(p) })
	by := map[int]bool{}
	for _, e := range out.Events {
		if e.Kind == history.Invoke && e.Op == history.OpExecute && e.ID <= 2 {
			by[e.ID] = e.G == main
		}
	}
	require.Equal(t, map[int]bool{1: false, 2: true}, by)
}
