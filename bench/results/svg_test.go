package results

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"eventide/bench/compare"
)

// TestPlaces: a point is where its value says, on both kinds of axis.
func TestPlaces(t *testing.T) {
	logarithmic := scale{axis: axis{log: true}, from: 0, to: 4, start: 100, end: 500}
	require.InDelta(t, 100, logarithmic.place(1), 1e-9)
	require.InDelta(t, 300, logarithmic.place(100), 1e-9)
	require.InDelta(t, 500, logarithmic.place(10_000), 1e-9)
	linear := scale{from: 0, to: 10, start: 400, end: 0}
	require.InDelta(t, 300, linear.place(2.5), 1e-9)
}

// TestPlotIsOnThePage: all points of all plots are inside of the frame, the text is
// well-formed XML, and equal data give equal bytes.
func TestPlotIsOnThePage(t *testing.T) {
	p := plot{
		title: "a < b & c", x: axis{label: "n", log: true}, y: axis{label: "time", log: true, time: true},
		series: []series{{"one", [][2]float64{{1, 3}, {100, 70_000}}}, {"two", [][2]float64{{1, 5}, {100, 5}}}},
	}
	text := p.svg()
	require.Equal(t, text, p.svg())
	decoder := xml.NewDecoder(strings.NewReader(string(text)))
	for {
		_, err := decoder.Token()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
	}
	xs, ys := p.scales()
	for _, s := range p.series {
		for _, point := range s.xy {
			x, y := xs.place(point[0]), ys.place(point[1])
			require.True(t, left <= x && x <= plotWidth-right, "x of %v is %v", point, x)
			require.True(t, top <= y && y <= plotHeight-bottom, "y of %v is %v", point, y)
		}
	}
	require.Contains(t, string(text), "prefers-color-scheme:dark")
	require.Contains(t, string(text), ">100 µs</text>")
}

// TestCurvesNeedPoints: a curve of one point, of another unit, or of zero is none.
func TestCurvesNeedPoints(t *testing.T) {
	row := func(workload, unit string, median float64) compare.Row {
		return compare.Row{Workload: workload, Impl: "core", Unit: unit, Median: median}
	}
	require.Empty(t, figures([]compare.Row{
		row("Execute/producers=1", "ns/task", 10), row("Execute/producers=2", "p50 ns/task", 10), row("Execute/producers=4", "ns/task", 0),
	}, nil, nil))
	found := figures([]compare.Row{row("Execute/producers=4", "ns/task", 12), row("Execute/producers=1", "ns/task", 10)}, nil, nil)
	require.Len(t, found, 1)
	require.Equal(t, "producers.svg", found[0].File)
	require.Equal(t, [][2]float64{{1, 10}, {4, 12}}, found[0].plot.series[0].xy, "in order")
}
