//go:build linux && shadow

package exits

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
)

// TestScheduleDrawn is made for chosen schedules. It runs a program of the lane in a bubble of
// testing/synctest, where operations take no time: so the times are those of the specification under
// each schedule. The interleave command chooses the seed of package rand, and so the program.
func TestScheduleDrawn(t *testing.T) {
	p := Programs().Example(int(rand.Uint64() >> 1))
	synctest.Test(t, func(t *testing.T) {
		found, err := Run(p)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) > 0 {
			text, _ := json.Marshal(p) // a Program has nothing that JSON has not
			t.Fatalf("%s\nprogram  %s", strings.Join(found, "\n"), text)
		}
	})
}
