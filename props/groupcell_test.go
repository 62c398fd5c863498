package props

import (
	"testing"

	"eventide/props/history"

	"github.com/stretchr/testify/require"
)

// TestMinimisedCellOfAGroup: the search for a smaller program that is a cell ends, with the one call that violates.
func TestMinimisedCellOfAGroup(t *testing.T) {
	p := GroupProgram{Children: 5, Cell: GroupCell{Context: "task", State: history.Started, Calls: [4]string{"Next", "State", "All", "Close"}}}
	least := MinimiseGroup(p, func(q GroupProgram) bool { return q.Cell.Calls[2] == "All" })
	require.Equal(t, GroupProgram{Children: 1, Cell: GroupCell{Context: "task", State: history.Started, Calls: [4]string{2: "All"}}}, least)
}
