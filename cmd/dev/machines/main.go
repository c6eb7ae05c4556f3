// Command machines draws the state machines, for the page of traces: one file of SVG for each table.
//
//	make docs
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/fsm"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "machines: want the folder of the drawings")
		os.Exit(2)
	}
	for _, t := range fsm.Tables() {
		if err := os.WriteFile(filepath.Join(os.Args[1], t.Name+".svg"), []byte(picture(t)), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "machines:", err)
			os.Exit(1)
		}
	}
}

// picture returns a machine as SVG. An arrow's title has its transitions, and data-rows their indexes. The page sets colours, and
// the texts of n (how often) and t (how long).
func picture(t fsm.Table) string {
	m := machine{t, fsm.MustCompile(t).Rows()}
	d := draw(m)
	var b strings.Builder
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" text-anchor=\"middle\" role=\"group\" aria-label=\"state machine %s\">\n", d.width, d.height, d.machine)
	fmt.Fprintf(&b, "<defs><marker id=\"head-%s\" viewBox=\"0 0 8 8\" refX=\"1\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" class=\"head\"/></marker></defs>\n", d.machine)
	for _, a := range d.arrows {
		class, indexes, titles := "arrow", []string{}, []string{}
		if a.isAny() {
			class = "arrow any"
		}
		for _, n := range a.rows {
			row := m.transitions[n]
			indexes = append(indexes, fmt.Sprint(n))
			titles = append(titles, fmt.Sprintf("%s --%s--&gt; %s", row.From, row.Trigger, row.To))
		}
		fmt.Fprintf(&b, "<g class=\"%s\" data-rows=\"%s\" tabindex=\"0\" role=\"button\"><title>%s</title>", class, strings.Join(indexes, " "), strings.Join(titles, "\n"))
		fmt.Fprintf(&b, "<path class=\"hit\" fill=\"none\" d=\"%s\"/><path class=\"line\" fill=\"none\" stroke=\"gray\" marker-end=\"url(#head-%s)\" d=\"%[1]s\"/>", a.path, d.machine)
		fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\"><tspan class=\"n\" x=\"%[1]d\"/><tspan class=\"t\" x=\"%[1]d\" dy=\"12\"/></text></g>\n", a.x, a.y)
	}
	for _, s := range d.boxes {
		fmt.Fprintf(&b, "<g class=\"%s\" data-state=\"%s\" transform=\"translate(%d %d)\" tabindex=\"0\" role=\"button\"><title>%[2]s</title>", s.class, s.state, s.x, s.y)
		fmt.Fprintf(&b, "<rect fill=\"none\" stroke=\"gray\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"9\"/><text dominant-baseline=\"central\">%s</text></g>\n", -boxWidth/2, -boxHeight/2, boxWidth, boxHeight, fsm.State(s.state).Short())
	}
	return b.String() + "</svg>\n"
}
