package replay

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
)

//go:embed page.html
var pageHTML string

var page = template.Must(template.New("page").Parse(pageHTML))

// writePage writes the report as one self-contained HTML file.
func writePage(w io.Writer, r Report) error {
	return page.Execute(w, pageData(r))
}

type pageView struct {
	Report
	Shares, SizeShares []bar
	Rows               []pageRow
	Clearing           *Clearing
}

// bar is one bar of a plot.
type bar struct {
	Name  string
	Value string
	Width float64 // percent of the widest bar
	Class string
}

// pageRow is the row of one policy.
type pageRow struct {
	Policy Policy
	Pruning
	Detail  Detail
	Bars    []bar
	Curve   template.HTML // nets of all sessions, sorted
	ByGroup []bar
}

func pageData(r Report) pageView {
	v := pageView{Report: r, Shares: bars(r.Share, byValue(r.Share), 12), SizeShares: bars(r.sizes, sizeNames(), 9)}
	for _, p := range []Policy{Hook, MCP, Proxy} {
		s, ok := r.Policies[p].(Pruning)
		if !ok {
			continue
		}
		d := r.Details[p]
		v.Rows = append(v.Rows, pageRow{Policy: p, Pruning: s, Detail: d, Bars: terms(s, d), Curve: curve(d.PerSession), ByGroup: groupBars(d)})
	}
	if gc, ok := r.Policies[GC].(Clearing); ok {
		v.Clearing = &gc
	}
	return v
}

func sizeNames() []string {
	var names []string
	for _, c := range sizeClasses {
		names = append(names, c.name)
	}
	return names
}

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

// terms returns the terms whose sum is the net.
func terms(s Pruning, d Detail) []bar {
	var out []bar
	add := func(name string, x float64, class string) {
		out = append(out, bar{name, fmt.Sprintf("%+.2f %%", x), 100 * min(max(x, -x)/max(s.Gross, 0.01), 1), class})
	}
	add("gross", s.Gross, "gain")
	add("headers and markers", -d.Markers, "loss")
	add("questions", -d.Questions, "loss")
	add("definitions", -d.Definitions, "loss")
	add("misses", -d.Misses, "loss")
	add("net", s.Net, "net")
	add("net, misses twice", s.Misses2, "net")
	add("net, misses three times", s.Misses3, "net")
	return out
}

func groupBars(d Detail) []bar {
	values := map[string]float64{}
	for name, g := range d.Tools {
		values[name] = g.Net
	}
	return bars(values, byValue(values), 8)
}

// curve plots the net of every session in percent of its bill, in ascending order.
func curve(sorted []float64) template.HTML {
	if len(sorted) == 0 {
		return ""
	}
	const width, height = 640.0, 160.0
	low, high := min(sorted[0], 0), max(sorted[len(sorted)-1], 1)
	y := func(x float64) float64 { return height - height*(x-low)/(high-low) }
	var points []string
	for i, x := range sorted {
		points = append(points, fmt.Sprintf("%.1f,%.1f", width*float64(i)/float64(max(len(sorted)-1, 1)), y(x)))
	}
	return template.HTML(fmt.Sprintf(`<svg viewBox="-50 -10 %g %g" role="img" aria-label="net of every session"><line x1="0" x2="%g" y1="%.1f" y2="%.1f" class="axis"/>`+
		`<polyline points="%s"/><text x="-46" y="8">%+.0f %%</text><text x="-46" y="%.1f">0 %%</text><text x="-46" y="%g">%+.0f %%</text></svg>`,
		width+60, height+20, width, y(0), y(0), strings.Join(points, " "), high, y(0)+4, height, low))
}
