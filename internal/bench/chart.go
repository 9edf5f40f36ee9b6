package main

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// Charts are SVG files that read well on light and dark pages: the colours
// follow the reader's preference.
const chartStyle = `<style>
text{font:13px system-ui,sans-serif;fill:#1f2328}.s{font-size:12px;fill:#59636e}.t{font-weight:600;font-size:15px}
.g{stroke:#d1d9e0;stroke-width:1}.b{fill:#8c959f}.o{fill:#1a7f37}.x{fill:#cf222e}
.l{fill:none;stroke-width:2.5;stroke-linejoin:round}.c0{stroke:#1a7f37}.c1{stroke:#0969da}.c2{stroke:#bc4c00}
.f0{fill:#1a7f37}.f1{fill:#0969da}.f2{fill:#bc4c00}
@media(prefers-color-scheme:dark){text{fill:#f0f6fc}.s{fill:#9198a1}.g{stroke:#3d444d}.b{fill:#656c76}.o{fill:#3fb950}.x{fill:#f85149}
.c0{stroke:#3fb950}.c1{stroke:#4493f8}.c2{stroke:#f0883e}.f0{fill:#3fb950}.f1{fill:#4493f8}.f2{fill:#f0883e}}
</style>
`

func svgHead(out *strings.Builder, w, h int, title string) {
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s">`+"\n", w, h, w, h, html.EscapeString(title))
	out.WriteString(chartStyle)
	fmt.Fprintf(out, `<text class="t" x="16" y="26">%s</text>`+"\n", html.EscapeString(title))
}

// scale maps values to lengths, by their logarithm: the ways differ by powers
// of ten.
type scale struct{ low, high, length float64 }

func logScale(low, high, length float64) scale {
	return scale{math.Floor(math.Log10(max(low, 1))), math.Ceil(math.Log10(max(high, 10))), length}
}

func (s scale) at(v float64) float64 {
	return s.length * (math.Log10(max(v, math.Pow(10, s.low))) - s.low) / (s.high - s.low)
}

// ticks are the powers of ten on the scale.
func (s scale) ticks() (vs []float64) {
	for e := s.low; e <= s.high; e++ {
		vs = append(vs, math.Pow(10, e))
	}
	return vs
}

// power writes a power of ten.
func power(v float64) string { return strings.TrimSuffix(thousands(v), ".0") }

// bars is a chart of groups of horizontal bars.
type bars struct {
	title, unit string
	groups      []barGroup
}

type barGroup struct {
	name string
	bars []bar
}

type bar struct {
	name  string
	value float64
	bad   bool // breaks what it should keep
}

func (c bars) svg() string {
	const left, right, step, gap, width = 130, 90, 22, 44, 760
	high, n := 0.0, 0
	for _, g := range c.groups {
		for _, b := range g.bars {
			high, n = max(high, b.value), n+1
		}
	}
	s := logScale(1, high, width-left-right)
	height := 72 + len(c.groups)*gap + n*step
	var out strings.Builder
	svgHead(&out, width, height, c.title+" (logarithmic; red: sells blocks twice)")
	for _, v := range s.ticks() {
		x := left + s.at(v)
		fmt.Fprintf(&out, `<line class="g" x1="%.1f" x2="%.1f" y1="40" y2="%d"/><text class="s" x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n",
			x, x, height-30, x, height-12, power(v))
	}
	y := 40
	for _, g := range c.groups {
		y += gap - 14
		fmt.Fprintf(&out, `<text x="16" y="%d">%s</text>`+"\n", y, html.EscapeString(g.name))
		y += 14
		for i, b := range g.bars {
			class := map[bool]string{true: "o", false: "b"}[i == 0]
			if b.bad {
				class = "x"
			}
			length := max(s.at(b.value), 1)
			fmt.Fprintf(&out, `<text class="s" x="%d" y="%d" text-anchor="end">%s</text><rect class="%s" x="%d" y="%d" width="%.1f" height="%d" rx="2"/><text class="s" x="%.1f" y="%d">%s</text>`+"\n",
				left-8, y+12, html.EscapeString(b.name), class, left, y, length, step-7, left+length+6, y+12, thousands(b.value))
			y += step
		}
	}
	out.WriteString("</svg>\n")
	return out.String()
}

// lines is a chart of curves over a number that doubles from step to step.
type lines struct {
	title, unit string
	xs          []int
	lines       []line
}

type line struct {
	name string
	ys   []float64
}

func (c lines) svg() string {
	const left, right, top, bottom, width, height = 70, 24, 76, 48, 760, 400
	low, high := math.Inf(1), 0.0
	for _, l := range c.lines {
		for _, y := range l.ys {
			low, high = min(low, y), max(high, y)
		}
	}
	s := logScale(low, high, height-top-bottom)
	xAt := func(i int) float64 { return left + float64(i)*(width-left-right)/float64(len(c.xs)-1) }
	yAt := func(v float64) float64 { return height - bottom - s.at(v) }
	var out strings.Builder
	svgHead(&out, width, height, c.title)
	for _, v := range s.ticks() {
		fmt.Fprintf(&out, `<line class="g" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/><text class="s" x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n",
			left, width-right, yAt(v), yAt(v), left-8, yAt(v)+4, power(v))
	}
	for i, x := range c.xs {
		fmt.Fprintf(&out, `<text class="s" x="%.1f" y="%d" text-anchor="middle">%d</text>`+"\n", xAt(i), height-bottom+20, x)
	}
	fmt.Fprintf(&out, `<text class="s" x="%d" y="%d" text-anchor="middle">clients</text>`+"\n", (left+width-right)/2, height-8)
	for n, l := range c.lines {
		var points []string
		for i, y := range l.ys {
			points = append(points, fmt.Sprintf("%.1f,%.1f", xAt(i), yAt(y)))
		}
		fmt.Fprintf(&out, `<polyline class="l c%d" points="%s"/>`+"\n", n, strings.Join(points, " "))
		fmt.Fprintf(&out, `<circle class="f%d" cx="%d" cy="50" r="5"/><text class="s" x="%d" y="54">%s</text>`+"\n",
			n, left+n*240, left+n*240+12, html.EscapeString(l.name))
	}
	out.WriteString("</svg>\n")
	return out.String()
}
