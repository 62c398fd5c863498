package history_test

import (
	"maps"
	"slices"
	"testing"

	"eventide/props/history"

	"github.com/stretchr/testify/require"
)

// A history is judged in the memory of another as in fresh memory: every kept trace, after each of its
// neighbours in the list, which is gone through in both directions.
func TestRecycledMemoryIsAsGoodAsNew(t *testing.T) {
	kept := traces(t)
	names := slices.Sorted(maps.Keys(kept))
	judge := func(name string) (*history.History, []history.Violation) {
		h, err := history.Of(slices.Clone(kept[name].Events), kept[name].Rules)
		require.NoError(t, err, name)
		return h, h.Violations()
	}
	fresh := map[string][]history.Violation{}
	for _, name := range names {
		_, fresh[name] = judge(name)
	}
	backwards := slices.Clone(names)
	slices.Reverse(backwards)
	for _, name := range slices.Concat(names, backwards, names) {
		h, found := judge(name)
		require.Equal(t, fresh[name], found, name)
		h.Recycle()
		require.Equal(t, fresh[name], found, "%s: violations stay valid", name)
	}
}

// A return whose call is missing is refused, also where an earlier history had that call, without a return.
func TestRecycledMemoryHasNoCalls(t *testing.T) {
	call := []history.Event{{N: 1, G: 1, Kind: history.Invoke, Op: history.OpState}, {N: 2, G: 1, Kind: history.Return, Op: history.OpState, Call: 1}}
	lacking := slices.Clone(call)
	lacking[0].Kind = history.Wake
	for range 10 { // the pool may give other memory
		h, err := history.Of(call[:1], history.Rules{})
		require.NoError(t, err)
		h.Recycle()
		_, err = history.Of(lacking, history.Rules{})
		require.Error(t, err)
	}
}
