package strategy

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSeen: a state is new until it was reached with no more preemptions, however many
// others there are.
func TestSeen(t *testing.T) {
	const many = 5 * fewest // so that it grows
	var s seen
	for range 2 {
		s.reset()
		for key := range uint64(many) {
			isNew, full := s.visit(key*0x9e3779b97f4a7c15, 2)
			require.True(t, isNew)
			require.False(t, full)
		}
		for key := range uint64(many) {
			key *= 0x9e3779b97f4a7c15
			for _, c := range []struct {
				spent int8
				want  bool
			}{{3, false}, {2, false}, {1, true}, {2, false}, {1, false}, {0, true}} {
				isNew, _ := s.visit(key, c.spent)
				require.Equal(t, c.want, isNew, "state %x after %d preemptions", key, c.spent)
			}
		}
	}
}
