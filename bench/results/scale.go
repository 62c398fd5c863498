package results

import (
	"fmt"
	"regexp"
	"strings"

	scaling "eventide/bench/scale"
)

// scaleFile is what make scale wrote.
const scaleFile = "scale.json"

// processors is the section about more processors than one.
type processors struct{ scaling.Report }

// A scaleRow is a point of a curve, as the page shows it.
type scaleRow struct {
	Curve string
	scaling.Point
	Unit string
}

// Points are the points of all measured curves.
func (p processors) Points() []scaleRow { return pointsOf(p.Curves) }

func pointsOf(curves []scaling.Curve) []scaleRow {
	var rows []scaleRow
	for _, c := range curves {
		for _, point := range c.Points {
			rows = append(rows, scaleRow{c.Name + "/" + c.X, point, c.Unit})
		}
	}
	return rows
}

// Widths are the numbers of processors of the simulation.
func (p processors) Widths() []int {
	var all []int
	if len(p.Simulated) > 0 {
		for _, point := range p.Simulated[0].Points {
			all = append(all, point.N)
		}
	}
	return all
}

// scaleName is the name of a curve of tasks or of requests, with its implementation and its
// number of loops.
var scaleName = regexp.MustCompile(`^(tasks|echo)/impl=([\w-]+)/loops=(\d+)$`)

// draw appends a plot for each kind of curve and number of loops. A throughput is drawn as
// the time per task or request, so that less is better, as in every other plot.
func (p processors) draw(all []Figure) []Figure {
	var files []string
	plots := map[string]*plot{}
	for _, c := range p.Curves {
		m := scaleName.FindStringSubmatch(c.Name)
		if m == nil {
			continue
		}
		file := fmt.Sprintf("scale-%s-%s.svg", m[1], m[3])
		if plots[file] == nil {
			files = append(files, file)
			of := strings.TrimSuffix(c.Unit, "s/s")
			plots[file] = &plot{
				title: fmt.Sprintf("Time per %s with loops=%s, by the number of %s", of, m[3], c.X),
				x:     axis{label: c.X, log: true}, y: axis{label: "time per " + of, log: true, time: true},
			}
		}
		if s := timesOf(m[2], c); len(s.points) > 1 {
			plots[file].series = append(plots[file].series, s)
		}
	}
	for _, file := range files {
		if drawn := plots[file]; len(drawn.series) > 0 {
			all = append(all, Figure{file, drawn.title, *drawn})
		}
	}
	return all
}

// timesOf is the line of an implementation.
func timesOf(impl string, c scaling.Curve) series {
	s := series{name: impl}
	for _, p := range c.Points {
		if p.NotRun != "" || p.Median <= 0 {
			continue
		}
		at := point{x: float64(p.N), y: 1e9 / p.Median}
		if p.Low > 0 {
			at.low, at.high = 1e9/p.High, 1e9/p.Low
		}
		s.points = append(s.points, at)
	}
	return s
}
