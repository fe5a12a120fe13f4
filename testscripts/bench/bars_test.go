//go:build bench

package bench

import (
	"fmt"
	"math"
	"strings"
)

// barPlot is a picture of groups of bars on a logarithmic scale, the value
// written at the end of each.
type barPlot struct {
	title, unit string
	bars        []bar
}

// bar is one value; bars of one group stand together.
type bar struct {
	group, name string
	value       float64
	colour      int
}

const (
	barLeft, barRight = 190, 90
	barStep, groupGap = 17, 26
)

func (p barPlot) svg() string {
	low, high := math.Inf(1), 0.0
	for _, b := range p.bars {
		low, high = min(low, b.value), max(high, b.value)
	}
	x := axis{low: math.Pow(10, math.Floor(math.Log10(low))), high: math.Pow(10, math.Ceil(math.Log10(high))), log: true, from: barLeft, to: plotW - barRight}
	var body strings.Builder
	y, group := 44.0, ""
	for _, b := range p.bars {
		if b.group != group {
			y, group = y+groupGap, b.group
			fmt.Fprintf(&body, `<text x="16" y="%.1f" font-weight="600">%s</text>`+"\n", y-6, esc(group))
		}
		weight := "400"
		if b.name == "odd" {
			weight = "700"
		}
		fmt.Fprintf(&body, `<text x="%d" y="%.1f" text-anchor="end" font-weight="%s">%s</text><rect x="%d" y="%.1f" width="%.1f" height="11" rx="2" fill="%s"/><text x="%.1f" y="%.1f" font-weight="%s">%s</text>`+"\n",
			barLeft-8, y+10, weight, esc(b.name), barLeft, y, max(1, x.at(b.value)-barLeft), colours[b.colour%len(colours)], x.at(b.value)+6, y+10, weight, number(b.value))
		y += barStep
	}
	height := int(y) + 44
	var grid strings.Builder
	for _, v := range x.ticks() {
		fmt.Fprintf(&grid, `<line class="grid" x1="%.1f" x2="%.1f" y1="44" y2="%d"/><text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", x.at(v), x.at(v), height-36, x.at(v), height-20, short(v))
	}
	fmt.Fprintf(&grid, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", (barLeft+plotW-barRight)/2, height-5, esc(p.unit))
	return frame(p.title, height, 16) + grid.String() + body.String() + "</svg>\n"
}
