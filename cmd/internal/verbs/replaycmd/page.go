package replaycmd

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/states/replay"
	"github.com/mcp-pruner/mcp-pruner/tools/page"
)

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

// writePage writes the report as one self-contained HTML file.
func writePage(w io.Writer, r replay.Report) error {
	return page.Page{Title: "mcp-pruner replay", CSS: pageCSS, Body: pageHTML}.Write(w, pageData(r))
}

type pageView struct {
	replay.Report
	Shares, SizeShares []bar
	Rows               []pageRow
	Clearing           *replay.Clearing
	Warning            string
}

// bar is one bar of a plot. Left and Width are percent of the plot's width, Zero is where its zero line is.
type bar struct {
	Name, Value       string
	Left, Width, Zero float64
	Class             string // gain: right of zero, loss: left of it, "": a share, which has no sign
}

// pageRow is the row of one policy.
type pageRow struct {
	Policy replay.Policy
	replay.Pruning
	Detail  replay.Detail
	Bars    []bar
	Curve   template.HTML // nets of all sessions, sorted
	ByGroup []bar
}

func pageData(r replay.Report) pageView {
	v := pageView{Report: r, Shares: bars(r.Share, replay.ByValue(r.Share), 12), SizeShares: bars(r.Sizes, sizeNames(), 9)}
	v.Warning, _ = r.Label()
	for _, p := range allPolicies {
		s, ok := r.Of(p)
		if !ok {
			continue
		}
		d := r.Details[p]
		v.Rows = append(v.Rows, pageRow{Policy: p, Pruning: s, Detail: d, Bars: terms(s, d), Curve: curve(d.PerSession), ByGroup: groupBars(d)})
	}
	if gc, ok := r.Policies[replay.GC].(replay.Clearing); ok {
		v.Clearing = &gc
	}
	return v
}

func sizeNames() []string {
	var names []string
	for _, c := range replay.SizeClasses {
		names = append(names, c.Name)
	}
	return names
}

// bars returns the bars of shares, which are not negative.
func bars(m map[string]float64, names []string, most int) []bar {
	var out []bar
	widest := 0.0
	for _, name := range names {
		widest = max(widest, m[name])
	}
	for _, name := range names[:min(most, len(names))] {
		out = append(out, bar{Name: name, Value: fmt.Sprintf("%.1f %%", m[name]), Width: 100 * m[name] / max(widest, 0.01)})
	}
	return out
}

// named is a signed figure in percent of the bill.
type named struct {
	name string
	x    float64
}

// signed returns bars that start at a common zero line: gains to its right, losses to its left.
func signed(figures []named, format string) []bar {
	low, high := 0.0, 0.01
	for _, f := range figures {
		low, high = min(low, f.x), max(high, f.x)
	}
	scale := 100 / (high - low)
	var out []bar
	for _, f := range figures {
		b := bar{Name: f.name, Zero: -low * scale, Width: math.Abs(f.x) * scale, Class: "gain"}
		b.Left = b.Zero
		if f.x < 0 {
			b.Left, b.Class = b.Zero-b.Width, "loss"
		}
		b.Value = fmt.Sprintf(format, f.x+0) // 0 has no minus
		out = append(out, b)
	}
	return out
}

// terms returns the terms whose sum is the net.
func terms(s replay.Pruning, d replay.Detail) []bar {
	return signed([]named{
		{"gross", s.Gross}, {"headers and markers", -d.Markers}, {"questions", -d.Questions}, {"definitions", -d.Definitions}, {"misses", -d.Misses},
		{"net", s.Net}, {"net, misses twice", s.Misses2}, {"net, misses three times", s.Misses3},
	}, "%+.2f %%")
}

// mostGroups is the number of tools in the plot: those with the largest gains and losses.
const mostGroups = 8

func groupBars(d replay.Detail) []bar {
	var all []named
	for name, g := range d.Tools {
		all = append(all, named{name, g.Net})
	}
	slices.SortFunc(all, func(a, b named) int {
		return cmp.Or(cmp.Compare(math.Abs(b.x), math.Abs(a.x)), cmp.Compare(a.name, b.name))
	})
	all = all[:min(len(all), mostGroups)]
	slices.SortFunc(all, func(a, b named) int { return cmp.Or(cmp.Compare(b.x, a.x), cmp.Compare(a.name, b.name)) })
	return signed(all, "%+.2f %%")
}

// curve plots the net of every session in percent of its bill, in ascending order: losses below the zero line, gains
// above it.
func curve(sorted []float64) template.HTML {
	if len(sorted) == 0 {
		return ""
	}
	const width, height = 640.0, 160.0
	low, high := min(sorted[0], 0), max(sorted[len(sorted)-1], 1)
	y := func(x float64) float64 { return height * (high - x) / (high - low) }
	step := width / float64(max(len(sorted)-1, 1))
	var losses, gains []string
	for i, x := range sorted {
		at := float64(i) * step
		if x < 0 {
			losses = append(losses, fmt.Sprintf("%.1f,%.1f", at, y(x)))
			continue
		}
		if len(gains) == 0 && i > 0 { // both lines meet where the curve crosses zero
			crossing := fmt.Sprintf("%.1f,%.1f", at-step*x/(x-sorted[i-1]), y(0))
			losses, gains = append(losses, crossing), append(gains, crossing)
		}
		gains = append(gains, fmt.Sprintf("%.1f,%.1f", at, y(x)))
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<div class="curve"><svg viewBox="0 0 %g %g" preserveAspectRatio="none" role="img" aria-label="net of every session">`, width, height)
	fmt.Fprintf(&b, `<line x1="0" x2="%g" y1="%.1f" y2="%.1f"/>`, width, y(0), y(0))
	fmt.Fprintf(&b, `<polyline class="loss" points="%s"/><polyline class="gain" points="%s"/></svg>`, strings.Join(losses, " "), strings.Join(gains, " "))
	for _, x := range marks(low, high) {
		fmt.Fprintf(&b, `<span style="top:%.1f%%">%+.0f %%</span>`, 100*y(x)/height, x+0)
	}
	return template.HTML(b.String() + "</div>")
}

// marks returns the values at which the axis has a label: the ends and zero, if they do not touch.
func marks(low, high float64) []float64 {
	const apart = 0.15 // of the plot's height
	list := []float64{high}
	if high > apart*(high-low) && -low > apart*(high-low) {
		list = append(list, 0)
	}
	return append(list, low)
}
