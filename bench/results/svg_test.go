package results

import (
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
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
		series: []series{{"core", []point{{1, 3, 1, 4}, {100, 70_000, 60_000, 700_000}}}, {"channel", []point{{x: 1, y: 5}, {x: 100, y: 5}}}},
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
		for _, point := range s.points {
			x := xs.place(point.x)
			require.True(t, left <= x && x <= plotWidth-right, "x of %v is %v", point, x)
			for _, v := range []float64{point.low, point.y, point.high} {
				y := ys.place(v)
				require.True(t, v == 0 || top <= y && y <= plotHeight-bottom, "y of %v is %v", v, y)
			}
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
	require.Equal(t, []point{{x: 1, y: 10}, {x: 4, y: 12}}, found[0].plot.series[0].points, "in order")
}

// TestEachImplementationHasOneLook: every implementation that a plot may have is in the
// table, no two look alike, and the one in the legend is the one of the line.
func TestEachImplementationHasOneLook(t *testing.T) {
	seen := map[look]string{}
	for _, c := range append(slices.Clone(curves), peersCurves...) {
		for _, impl := range c.impls {
			require.Contains(t, looks, impl, c.file)
		}
	}
	for impl, l := range looks {
		if impl == "core-loop" {
			require.Equal(t, looks["loop"], l, "they are one implementation")
			continue
		}
		require.Empty(t, seen[l], "%s looks as another", impl)
		seen[l] = impl
		p := plot{x: axis{log: true}, y: axis{log: true}, series: []series{{impl, []point{{x: 1, y: 1}, {x: 10, y: 10}}}}}
		drawn := fmt.Sprintf(`style="stroke:var(--c%d)" stroke-dasharray="%s"`, l.colour, l.dash)
		require.Equal(t, 2, strings.Count(string(p.svg()), drawn), impl)
	}
}

// TestIntervals: a plot has a bar for each interval that was kept, and says what it is.
func TestIntervals(t *testing.T) {
	points := func(low, high float64) plot {
		return plot{y: axis{log: true}, series: []series{{"core", []point{{1, 3, low, high}, {2, 3, low, high}}}}}
	}
	with, without := string(points(2, 4).svg()), string(points(0, 0).svg())
	require.Equal(t, 2, strings.Count(with, `class="bar"`))
	require.Contains(t, with, "95 % interval of the median")
	require.NotContains(t, without, `class="bar"`)
	require.NotContains(t, without, "interval")
	require.Contains(t, without, "Less is better.")
	require.NotContains(t, string(points(5, 9).svg()), `class="bar"`, "an interval without the value is none")
}

// TestKeptPlots: each plot of RESULTS.md says that less is better and, unless it is a whole
// distribution, shows intervals.
func TestKeptPlots(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("..", "..", "testdata", "bench", "plots", "*.svg"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Contains(t, string(text), "Less is better", path)
		if filepath.Base(path) != "roundtrip.svg" {
			require.Contains(t, string(text), `class="bar"`, path)
		}
	}
}
