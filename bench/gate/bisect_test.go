package gate

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"eventide/bench/gate/stats"
)

// TestSearch: the first commit that is like head is found, wherever it is. A commit that is undecided or does not run
// ends the search, and what is certain remains.
func TestSearch(t *testing.T) {
	broken := errors.New("does not run")
	for n := range 20 {
		for first := range n + 1 {
			good, bad, err := search(n, func(commit int) (side, error) {
				if commit >= first {
					return likeHead, nil
				}
				return likeBase, nil
			})
			require.NoError(t, err)
			require.Equal(t, [2]int{first - 1, first}, [2]int{good, bad}, "of %d commits", n)
		}
	}
	for _, end := range []error{nil, broken} {
		good, bad, err := search(8, func(commit int) (side, error) {
			switch commit {
			case 3:
				return likeBase, nil
			case 5:
				return undecided, end
			}
			t.Fatalf("commit %d was tried", commit)
			return undecided, nil
		})
		require.Equal(t, end, err)
		require.Equal(t, [2]int{3, 8}, [2]int{good, bad})
	}
}

// TestNearer: half of a change by 20 % is about 10 %.
func TestNearer(t *testing.T) {
	around := func(v float64) stats.Sample {
		var s stats.Sample
		for i := range 20 {
			s.Differences = append(s.Differences, v+0.001*float64(i%5-2))
		}
		return s
	}
	require.Equal(t, likeBase, nearer(around(0.08), 0.2))
	require.Equal(t, likeHead, nearer(around(0.1), 0.2))
	require.Equal(t, undecided, nearer(around(0.0912), 0.2))
}
