package bench

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
)

// plot is a picture of lines over a logarithmic or plain x, with room at the
// right for their names. It draws in ink that shows on light and dark pages.
type plot struct {
	title, xUnit, yUnit string
	logX, logY          bool
	lines               []line
	target              float64 // a dashed line at this y, none when 0
	targetName          string
}

// line is a named row of points, in order of x.
type line struct {
	name   string
	points [][2]float64
	faint  bool // what odd is compared to
}

const (
	plotW, plotH             = 760, 380
	left, right, top, bottom = 78, 200, 46, 52
	labelGap                 = 16 // least distance between two names
)

// colours are told apart by people who see few of them, on white and on black.
var colours = []string{"#2a78d6", "#d9541e", "#1f9e6e", "#a35bd0", "#c28a00", "#d1457f", "#5f7f8f"}

// svg draws the plot.
func (p plot) svg() string {
	var b strings.Builder
	b.WriteString(frame(p.title, plotH, left))
	x, y := p.axes()
	p.grid(&b, x, y)
	p.draw(&b, x, y)
	b.WriteString("</svg>\n")
	return b.String()
}

// frame opens a picture: its page, its inks for light and dark, its title at x.
func frame(title string, height, x int) string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="system-ui, 'DejaVu Sans', sans-serif" font-size="12" role="img" aria-label="%s">
<style>svg{--ink:#24292f;--grid:#d0d7de;--page:#ffffff}@media(prefers-color-scheme:dark){svg{--ink:#e6edf3;--grid:#3d444d;--page:#0d1117}}text{fill:#24292f;fill:var(--ink)}.grid{stroke:#d0d7de;stroke:var(--grid)}.page{fill:#ffffff;fill:var(--page)}.target{stroke:#24292f;stroke:var(--ink);stroke-dasharray:6 4}</style>
<rect class="page" width="%d" height="%d" rx="6"/><text x="%d" y="24" font-size="15" font-weight="600">%s</text>
`, plotW, height, esc(title), plotW, height, x, esc(title))
}

// axis turns a value into a place.
type axis struct {
	low, high float64
	log       bool
	from, to  float64 // places of low and high
}

func (a axis) at(v float64) float64 {
	low, high := a.low, a.high
	if a.log {
		v, low, high = math.Log10(max(v, a.low)), math.Log10(low), math.Log10(high)
	}
	return a.from + (v-low)/(high-low)*(a.to-a.from)
}

// ticks are the powers of ten of a logarithmic axis, and some five round
// numbers of a plain one.
func (a axis) ticks() (all []float64) {
	if a.log {
		for v := a.low; v <= a.high*1.01; v *= 10 {
			all = append(all, v)
		}
		return all
	}
	step := math.Pow(10, math.Floor(math.Log10(a.high-a.low)))
	for _, f := range []float64{0.2, 0.5, 1} {
		if (a.high-a.low)/(step*f) <= 6 {
			step *= f
			break
		}
	}
	for v := a.low; v <= a.high*1.001; v += step {
		all = append(all, v)
	}
	return all
}

func (p plot) axes() (x, y axis) {
	x, y = axis{low: math.Inf(1), log: p.logX, from: left, to: plotW - right}, axis{low: math.Inf(1), log: p.logY, from: plotH - bottom, to: top}
	for _, l := range p.lines {
		for _, pt := range l.points {
			x.low, x.high = min(x.low, pt[0]), max(x.high, pt[0])
			y.low, y.high = min(y.low, pt[1]), max(y.high, pt[1])
		}
	}
	y.high = max(y.high, p.target*1.05)
	if p.target > 0 {
		y.low = min(y.low, p.target)
	}
	for _, a := range []*axis{&x, &y} {
		if a.log {
			a.low, a.high = math.Pow(10, math.Floor(math.Log10(a.low))), math.Pow(10, math.Ceil(math.Log10(a.high)))
		} else {
			a.low, a.high = 0, a.high*1.08
		}
	}
	return x, y
}

func (p plot) grid(b *strings.Builder, x, y axis) {
	for _, v := range y.ticks() {
		fmt.Fprintf(b, `<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n",
			left, plotW-right, y.at(v), y.at(v), left-8, y.at(v)+4, short(v))
	}
	for _, v := range x.ticks() {
		fmt.Fprintf(b, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", x.at(v), plotH-bottom+20, short(v))
	}
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", left+(plotW-left-right)/2, plotH-12, esc(p.xUnit))
	fmt.Fprintf(b, `<text transform="translate(18 %d) rotate(-90)" text-anchor="middle">%s</text>`+"\n", top+(plotH-top-bottom)/2, esc(p.yUnit))
	if p.target > 0 {
		fmt.Fprintf(b, `<line class="target" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>`+"\n", left, plotW-right, y.at(p.target), y.at(p.target))
	}
}

func (p plot) draw(b *strings.Builder, x, y axis) {
	type label struct {
		y            float64
		name, colour string
	}
	var labels []label
	if p.target > 0 {
		labels = append(labels, label{y.at(p.target), p.targetName, ""})
	}
	for i, l := range p.lines {
		if len(l.points) == 0 {
			continue
		}
		var at []string
		for _, pt := range l.points {
			at = append(at, fmt.Sprintf("%.1f,%.1f", x.at(pt[0]), y.at(pt[1])))
			fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`+"\n", x.at(pt[0]), y.at(pt[1]), colours[i%len(colours)])
		}
		width, dash := 2.2, ""
		if l.faint {
			width, dash = 1.4, ` stroke-dasharray="2 3"`
		}
		fmt.Fprintf(b, `<polyline fill="none" stroke="%s" stroke-width="%.1f"%s points="%s"/>`+"\n", colours[i%len(colours)], width, dash, strings.Join(at, " "))
		labels = append(labels, label{y.at(l.points[len(l.points)-1][1]), l.name, colours[i%len(colours)]})
	}
	slices.SortStableFunc(labels, func(a, b label) int { return int(math.Copysign(1, a.y-b.y)) })
	var places []float64
	for _, l := range labels {
		places = append(places, l.y)
	}
	for i, at := range apart(places, top, plotH-bottom) {
		l := labels[i]
		if l.colour != "" {
			fmt.Fprintf(b, `<rect x="%d" y="%.1f" width="9" height="9" rx="2" fill="%s"/>`, plotW-right+12, at-4.5, l.colour)
		}
		fmt.Fprintf(b, `<text x="%d" y="%.1f">%s</text>`+"\n", plotW-right+26, at+4, esc(l.name))
	}
}

// apart moves places, which are in order, so that none is nearer to the next
// than labelGap and none leaves the range.
func apart(places []float64, low, high float64) []float64 {
	out := slices.Clone(places)
	for i := range out {
		if out[i] = max(out[i], low); i > 0 {
			out[i] = max(out[i], out[i-1]+labelGap)
		}
	}
	for i := len(out) - 1; i >= 0; i-- {
		if out[i] = min(out[i], high); i+1 < len(out) {
			out[i] = min(out[i], out[i+1]-labelGap)
		}
	}
	return out
}

// short is a number as an axis says it: 1, 2.5, 40k, 1M.
func short(v float64) string {
	switch {
	case v >= 1e6:
		return trim(v/1e6) + "M"
	case v >= 1e3:
		return trim(v/1e3) + "k"
	}
	return trim(v)
}

func trim(v float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.3f", v), "0"), ".")
}

func esc(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", `"`, "&quot;").Replace(s)
}

// A plot is well-formed XML, keeps every point inside its frame, and lets no
// name cover another.
func TestPlot(t *testing.T) {
	t.Parallel()
	p := plot{title: `Load & "lstat" < 1`, xUnit: "atoms", yUnit: "ms", logX: true, logY: true, target: 50, targetName: "target"}
	for i := range 6 {
		p.lines = append(p.lines, line{name: fmt.Sprint(i), points: [][2]float64{{1000, 3}, {1e6, 900 + float64(i)}}})
	}
	for d := xml.NewDecoder(strings.NewReader(p.svg())); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	x, y := p.axes()
	if a, b := x.at(1000), y.at(3); a < left || b > plotH-bottom || x.at(1e6) > plotW-right || y.at(905) < top {
		t.Errorf("points at %v %v, %v %v", a, b, x.at(1e6), y.at(905))
	}
	got := apart([]float64{50, 50, 51, 300, 327, 328}, top, plotH-bottom)
	for i := range got[1:] {
		if got[i+1]-got[i] < labelGap || got[i+1] > plotH-bottom {
			t.Errorf("names at %v", got)
		}
	}
}
