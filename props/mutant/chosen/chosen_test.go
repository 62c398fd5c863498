package chosen

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestParse: a text that names no mutant ends the program.
func TestParse(t *testing.T) {
	require.Equal(t, 0, parse(""))
	require.Equal(t, 17, parse("17"))
	require.Equal(t, "EVENTIDE_MUTANT=17", Environment(17))
	for _, text := range []string{"x", "-1", "1 ", "1.5"} {
		require.PanicsWithValue(t, `chosen: EVENTIDE_MUTANT is "`+text+`", want the number of a mutant, or 0 for none`, func() { parse(text) })
	}
}
