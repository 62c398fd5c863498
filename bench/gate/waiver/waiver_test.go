package waiver

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const goodWaiver = "Execute/impl=core/producers=1 | ns/op | 2027-01-31 | a bound on the queue costs this"

func TestWaiversAreComplete(t *testing.T) {
	for text, want := range map[string]string{
		"# nothing\n\n":                    "",
		goodWaiver:                         "",
		"A | ns/op | 2027-01-31":           `line 1: got "A | ns/op | 2027-01-31"`,
		"A | ns/op | 2027-01-31 | ":        "line 1: got",
		"\nA | speed | 2027-01-31 | x":     `line 2: metric is "speed"`,
		goodWaiver + "\n" + goodWaiver:     "line 2: ns/op of Execute/impl=core/producers=1 is waived twice",
		"A | ns/op | 2027-01-31 | b | c\n": "",
	} {
		_, err := Parse(strings.NewReader(text), []string{"ns/op"})
		if want == "" {
			require.NoError(t, err, text)
		} else {
			require.ErrorContains(t, err, want, text)
		}
	}
}

func TestWaiversExpire(t *testing.T) {
	known := []string{"B"}
	contains := func(commit string) (bool, error) {
		if commit == "nonsense" {
			return false, errors.New("unknown revision")
		}
		return commit == "old", nil
	}
	day := func(s string) time.Time {
		d, err := time.Parse(dateFormat, s)
		require.NoError(t, err)
		return d.Add(23 * time.Hour)
	}
	for _, c := range []struct {
		benchmark, until, today, want string
	}{
		{"B", "2027-01-31", "2027-01-31", ""},
		{"B", "2027-01-31", "2027-02-01", "expired after 2027-01-31"},
		{"C", "2027-01-31", "2027-01-01", `there is no benchmark "C"`},
		{"B", "new", "2027-01-01", ""},
		{"B", "old", "2027-01-01", "expired: base contains old"},
		{"B", "nonsense", "2027-01-01", "unknown revision"},
	} {
		err := Waiver{Benchmark: c.benchmark, Metric: "ns/op", Until: c.until, Line: 3}.Check(known, day(c.today), contains)
		if c.want == "" {
			require.NoError(t, err, "%+v", c)
		} else {
			require.ErrorContains(t, err, c.want, "%+v", c)
			require.ErrorContains(t, err, "line 3", "%+v", c)
		}
	}
}

// TestAnyMetric: without a list, every metric may be named.
func TestAnyMetric(t *testing.T) {
	all, err := Parse(strings.NewReader("A | p99-ns | 2027-01-31 | known"), nil)
	require.NoError(t, err)
	require.Equal(t, "line 1: p99-ns of A", all[0].String())
}
