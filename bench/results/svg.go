package results

import (
	"fmt"
	"math"
	"strings"
)

// A plot is a line plot with a logarithmic axis, or two.
type plot struct {
	title  string
	x, y   axis
	series []series
}

// An axis spans its data. A logarithmic one has a tick at each power of ten, and
// takes no value of zero or less.
type axis struct {
	label string
	log   bool
	time  bool   // nanoseconds
	ticks []tick // given; nil: powers of ten, or round numbers
}

type tick struct {
	at   float64
	text string
}

type series struct {
	name   string // of an implementation: it has a look of its own in all plots
	points []point
}

// A point is a value with the ends of its 95 % interval, or 0 if none was kept.
type point struct{ x, y, low, high float64 }

// value is the point's place on axis i.
func (p point) value(i int) float64 { return [...]float64{p.x, p.y}[i] }

// spans reports whether the point has an interval that the axis can show.
func (p point) spans(logarithmic bool) bool {
	return p.high > 0 && p.low <= p.y && p.y <= p.high && (!logarithmic || p.low > 0)
}

// The page of a plot, in its own units.
const (
	plotWidth, plotHeight = 760, 420
	left, right           = 84, 170 // what the axis and the legend take
	top, bottom           = 44, 54
)

// style has colours that keep their distance on white and on black, and to each other
// also for most who do not see red and green apart (Okabe and Ito's, made lighter in
// the dark).
const style = `<style>
svg{font:13px system-ui,sans-serif;--paper:#fff;--ink:#24292f;--faint:#d0d7de;--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#b0508e;--c4:#8a6d00;--c5:#57606a}
@media(prefers-color-scheme:dark){svg{--paper:#0d1117;--ink:#e6edf3;--faint:#3d444d;--c0:#56b4e9;--c1:#ff9b54;--c2:#3fd0a4;--c3:#e79ac6;--c4:#f0d048;--c5:#9da7b3}}
.paper{fill:var(--paper)}text{fill:var(--ink)}.title{font-size:15px;font-weight:600}.grid{stroke:var(--faint);stroke-width:1}.line{fill:none;stroke-width:2.2}.bar{fill:none;stroke-width:5;stroke-opacity:.35}
</style>
`

// A look is how an implementation is drawn: one colour and one dash, in every plot. Two may
// have one colour, but then their dashes differ, and so they do in print.
type look struct {
	colour int // of style
	dash   string
}

// looks are those of all implementations that have a plot. An event loop of core is loop in
// the comparisons within Go and core-loop beside other libraries.
var looks = map[string]look{
	"core":          {0, ""},
	"core-bounded":  {0, "2 3"},
	"core-pool":     {0, "10 3 2 3"},
	"loop":          {1, "7 3"},
	"core-loop":     {1, "7 3"},
	"loop-blocking": {1, "1 4"},
	"channel":       {2, "10 3 2 3"},
	"unbuffered":    {2, "2 3"},
	"mutex":         {5, "4 4"},
	"bare":          {3, "1 4"},
	"afterfunc":     {5, ""},
	"netty-nio":     {3, ""},
	"netty-default": {3, "7 3"},
	"gnet":          {4, ""},
	"pond":          {4, "7 3"},
	"net":           {2, ""},
	"libuv":         {5, "7 3"},
	"asio":          {5, "2 3"},
}

// svg draws the plot. It is a function of its data alone: equal data give equal bytes.
func (p plot) svg() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img">`+"\n", plotWidth, plotHeight, plotWidth, plotHeight)
	fmt.Fprintf(&b, "<title>%s</title>\n%s", escape(p.title), style)
	b.WriteString(`<rect class="paper" width="100%" height="100%" rx="6"/>` + "\n") // a page's own may be of the other kind
	fmt.Fprintf(&b, `<text class="title" x="%d" y="20">%s</text>`+"\n", left, escape(p.title))
	fmt.Fprintf(&b, `<text x="%d" y="37">%s</text>`+"\n", left, escape(p.note()))
	xs, ys := p.scales()
	p.frame(&b, xs, ys)
	for i, s := range p.series {
		s.draw(&b, i, looks[s.name], xs, ys)
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

// note says how to read the plot.
func (p plot) note() string {
	for _, s := range p.series {
		for _, point := range s.points {
			if point.spans(p.y.log) {
				return "Less is better. Bars: 95 % interval of the median."
			}
		}
	}
	return "Less is better."
}

// A scale turns a value into a place on the page.
type scale struct {
	axis
	from, to   float64 // values, or their logarithms
	start, end float64 // places
}

func (s scale) place(v float64) float64 {
	if s.log {
		v = math.Log10(v)
	}
	return s.start + (v-s.from)/(s.to-s.from)*(s.end-s.start)
}

func (p plot) scales() (x, y scale) {
	x = scale{axis: p.x, start: left, end: plotWidth - right}
	y = scale{axis: p.y, start: plotHeight - bottom, end: top}
	for i, s := range []*scale{&x, &y} {
		low, high := math.Inf(1), math.Inf(-1)
		for _, line := range p.series {
			for _, point := range line.points {
				low, high = min(low, point.value(i)), max(high, point.value(i))
				if i == 1 && point.spans(s.log) {
					low, high = min(low, point.low), max(high, point.high)
				}
			}
		}
		s.from, s.to = low, high
		if s.log {
			s.from, s.to = math.Floor(math.Log10(low)+1e-9), math.Ceil(math.Log10(high)-1e-9)
		} else if s.axis.ticks == nil {
			s.from = 0
		}
		if s.from == s.to {
			s.to++
		}
	}
	return x, y
}

func (s scale) marks() []tick {
	if s.ticks != nil {
		return s.ticks
	}
	var all []tick
	if s.log {
		for e := s.from; e <= s.to; e++ {
			all = append(all, tick{math.Pow(10, e), s.text(math.Pow(10, e))})
		}
		return all
	}
	step := math.Pow(10, math.Floor(math.Log10((s.to-s.from)/2)))
	if (s.to-s.from)/step > 6 {
		step *= 5
	}
	for v := s.from; v <= s.to; v += step {
		all = append(all, tick{v, s.text(v)})
	}
	return all
}

// A unit is what a number is written in if it is as large as that.
type unit struct {
	size float64
	sign string
}

var (
	counts = []unit{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {0, ""}}
	times  = []unit{{1e9, " s"}, {1e6, " ms"}, {1e3, " µs"}, {0, " ns"}}
)

// text writes 10000 as 10k, or as 10 µs.
func (a axis) text(v float64) string {
	units := counts
	if a.time {
		units = times
	}
	for _, u := range units {
		if v >= u.size && u.size > 0 {
			return fmt.Sprintf("%.3g%s", v/u.size, u.sign)
		}
	}
	return fmt.Sprintf("%.3g%s", v, units[len(units)-1].sign)
}

// frame draws the grid, the ticks and the labels.
func (p plot) frame(b *strings.Builder, xs, ys scale) {
	for _, m := range xs.marks() {
		x := xs.place(m.at)
		fmt.Fprintf(b, `<line class="grid" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/>`, x, x, top, plotHeight-bottom)
		fmt.Fprintf(b, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", x, plotHeight-bottom+18, escape(m.text))
	}
	for _, m := range ys.marks() {
		y := ys.place(m.at)
		fmt.Fprintf(b, `<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>`, left, plotWidth-right, y, y)
		fmt.Fprintf(b, `<text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n", left-8, y+4, escape(m.text))
	}
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", (left+plotWidth-right)/2, plotHeight-14, escape(p.x.label))
	fmt.Fprintf(b, `<text transform="translate(20 %d) rotate(-90)" text-anchor="middle">%s</text>`+"\n", (top+plotHeight-bottom)/2, escape(p.y.label))
}

// draw draws the line, its intervals, its marks and its entry in the legend.
func (s series) draw(b *strings.Builder, i int, l look, xs, ys scale) {
	colour := fmt.Sprintf("var(--c%d)", l.colour)
	var points []string
	for _, p := range s.points {
		x := xs.place(p.x)
		points = append(points, fmt.Sprintf("%.1f,%.1f", x, ys.place(p.y)))
		if p.spans(ys.log) {
			fmt.Fprintf(b, `<path class="bar" style="stroke:%s" d="M%.1f,%.1fV%.1f"/>`+"\n", colour, x, ys.place(p.low), ys.place(p.high))
		}
	}
	fmt.Fprintf(b, `<polyline class="line" style="stroke:%s" stroke-dasharray="%s" points="%s"/>`+"\n", colour, l.dash, strings.Join(points, " "))
	if len(s.points) <= 12 {
		for _, p := range s.points {
			fmt.Fprintf(b, `<circle r="3.2" style="fill:%s" cx="%.1f" cy="%.1f"/>`+"\n", colour, xs.place(p.x), ys.place(p.y))
		}
	}
	y := top + 10 + 22*i
	fmt.Fprintf(b, `<line class="line" style="stroke:%s" stroke-dasharray="%s" x1="%d" x2="%d" y1="%d" y2="%d"/>`, colour, l.dash, plotWidth-right+16, plotWidth-right+44, y, y)
	fmt.Fprintf(b, `<text x="%d" y="%d">%s</text>`+"\n", plotWidth-right+50, y+4, escape(s.name))
}

func escape(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}
