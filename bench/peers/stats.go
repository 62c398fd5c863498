package peers

import (
	"golang.org/x/perf/benchmath"
	"math"
)

// The states of a row.
const (
	Measured   = "measured"
	NotOffered = "not offered"
	NotRun     = "not run"
	Failed     = "failed"
)

// A Row is one figure of one implementation.
type Row struct {
	Workload string  `json:"workload"`
	Impl     string  `json:"impl"`
	Unit     string  `json:"unit"`
	Median   float64 `json:"median"` // over the rounds
	Rounds   int     `json:"rounds"` // that were measured; 0 unless Status is measured
	Status   string  `json:"status"`
	Reason   string  `json:"reason,omitempty"` // unless it was measured

	// Low and High are the 95 % confidence interval of the median; Ratio the
	// median of the rounds' ratios to Base, with its own. 0: no base.
	Low       float64 `json:"low,omitempty"`
	High      float64 `json:"high,omitempty"`
	Base      string  `json:"base,omitempty"`
	Ratio     float64 `json:"ratio,omitempty"`
	RatioLow  float64 `json:"ratio_low,omitempty"`
	RatioHigh float64 `json:"ratio_high,omitempty"`

	Void  int `json:"void,omitempty"`  // samples thrown away
	Short int `json:"short,omitempty"` // quiet periods that were too short
	Lost  int `json:"lost,omitempty"`  // tasks accepted that never ran, in all rounds
}

// Rows returns the figures of every workload that was run, of every implementation.
func (rec Recording) Rows() []Row {
	ran := map[string]bool{}
	for _, s := range rec.Slices {
		ran[s.Workload] = true
	}
	var rows []Row
	for _, w := range Workloads() {
		if !ran[w.Name] {
			continue
		}
		for _, f := range w.Figures {
			for _, im := range Impls {
				if row, ok := rec.row(w, f, im.Name); ok {
					rows = append(rows, row)
				}
			}
		}
	}
	return rows
}

// row is false of an implementation that the run was not about.
func (rec Recording) row(w Workload, f Figure, impl string) (Row, bool) {
	row := Row{Workload: w.Name + f.Suffix, Impl: impl, Unit: f.Unit, Status: Measured}
	if im, ok := implNamed(impl); !ok || !im.asks(w) {
		return row, false
	}
	if why := rec.Header.NotRun[impl]; why != "" {
		row.Status, row.Reason = NotRun, why
		return row, true
	}
	if rec.Header.Versions[impl] == "" {
		return row, false
	}
	own := rec.values(w, f, impl)
	for _, s := range rec.Slices {
		if s.Workload != w.Name || s.Impl != impl {
			continue
		}
		row.Void, row.Short, row.Lost = row.Void+s.Void, row.Short+s.Short, row.Lost+s.Lost
		switch {
		case s.None != "":
			row.Status, row.Reason = NotOffered, s.None
		case s.NotRun != "":
			row.Status, row.Reason = NotRun, s.NotRun
		case s.Error != "":
			row.Status, row.Reason = Failed, s.Error
		}
	}
	if row.Status != Measured || len(own) == 0 {
		if row.Status == Measured {
			row.Status, row.Reason = NotRun, "no slice in the raw file"
		}
		return row, true
	}
	m := median(collectValues(own))
	row.Rounds, row.Median, row.Low, row.High = len(own), m.Center, m.Lo, m.Hi
	if r, ok := ratio(own, rec.values(w, f, w.Base)); ok {
		row.Base, row.Ratio, row.RatioLow, row.RatioHigh = w.Base, r.Center, r.Lo, r.Hi
	}
	return row, true
}

// values are the figures by round.
func (rec Recording) values(w Workload, f Figure, impl string) map[int]float64 {
	values := map[int]float64{}
	for _, s := range rec.Slices {
		if s.Workload == w.Name && s.Impl == impl && s.None == "" && s.NotRun == "" && s.Error == "" {
			values[s.Round] = f.Of(s.Answer)
		}
	}
	return values
}

// ratio divides round by round: what slows a round down slows both.
func ratio(own, base map[int]float64) (benchmath.Summary, bool) {
	var ratios []float64
	for round, v := range own {
		if b, ok := base[round]; ok && b != 0 {
			ratios = append(ratios, v/b)
		}
	}
	if len(ratios) == 0 {
		return benchmath.Summary{}, false
	}
	return median(ratios), true
}

// median returns the median and its 95 % confidence interval, which is 0..0 if there
// are too few values for one.
func median(values []float64) benchmath.Summary {
	sample := benchmath.NewSample(values, &benchmath.DefaultThresholds)
	m := benchmath.AssumeNothing.Summary(sample, 0.95)
	if math.IsInf(m.Lo, 0) || math.IsInf(m.Hi, 0) {
		m.Lo, m.Hi = 0, 0
	}
	return m
}
