package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/fsm"
)

// drawing is a machine as a layered graph: states in layers, from the initial one down,
// and transitions as curves around the states between.
type drawing struct {
	machine       string
	width, height int
	boxes         []box
	arrows        []arrow
}

// box is a state. x and y are its centre.
type box struct {
	state, class string
	x, y         int
}

// arrow stands for all transitions from one state to another.
type arrow struct {
	from, to string
	rows     []int // indexes of the transitions it stands for
	path     string
	x, y     int // position of its label
}

func (a arrow) isAny() bool { return a.from == anyState }

// machine is a table with a transition for each state that a row leaves.
type machine struct {
	fsm.Table
	transitions []fsm.Row
}

// Dimensions of a drawing in pixels, and the number of passes of its layout.
const (
	boxWidth   = 148
	boxHeight  = 34
	layerGap   = 88
	sideGap    = 18
	thin       = 56 // room for a line and its label
	margin     = 10
	anyState   = "any state"
	sweeps     = 12
	relaxSteps = 40
)

// item is a node of the layout: a state, or the point where an arrow crosses a layer.
type item struct {
	state string // "": a crossing
	layer int
	x     float64
	up    []*item
	down  []*item
}

func (i *item) width() float64 {
	if i.state == "" {
		return thin
	}
	return boxWidth
}

// draw lays out a machine. The rows that leave every state are drawn as one arrow from a separate box.
func draw(m machine) drawing {
	arrows := m.arrows()
	layers, routes := layout(string(m.Initial), arrows)
	order(layers)
	placeLayers(layers)
	d := drawing{machine: m.Name}
	left, right := math.Inf(1), math.Inf(-1)
	for _, layer := range layers {
		for _, i := range layer {
			left, right = min(left, i.x-i.width()/2), max(right, i.x+i.width()/2)
		}
	}
	at := func(i *item) (int, int) {
		return int(i.x-left) + margin, i.layer*layerGap + boxHeight/2 + margin
	}
	for _, layer := range layers {
		for _, i := range layer {
			if i.state != "" {
				x, y := at(i)
				d.boxes = append(d.boxes, box{i.state, m.class(i.state), x, y})
			}
		}
	}
	for n, a := range arrows {
		a.path, a.x, a.y = route(routes[n], at)
		d.arrows = append(d.arrows, a)
	}
	d.width, d.height = int(right-left)+2*margin, (len(layers)-1)*layerGap+boxHeight+2*margin
	return d
}

// arrows groups a machine's transitions by their source and target states.
func (m machine) arrows() []arrow {
	everywhere := map[fsm.Trigger]bool{}
	for _, row := range m.Rows {
		if strings.HasSuffix(string(row.From), ":*") {
			everywhere[row.Trigger] = true
		}
	}
	var all []arrow
	for n, row := range m.transitions {
		from, to := string(row.From), string(row.To)
		if everywhere[row.Trigger] {
			from = anyState
		}
		i := slices.IndexFunc(all, func(a arrow) bool { return a.from == from && a.to == to })
		if i < 0 {
			i = len(all)
			all = append(all, arrow{from: from, to: to})
		}
		all[i].rows = append(all[i].rows, n)
	}
	return all
}

func (m machine) class(state string) string {
	switch {
	case state == anyState:
		return "state any"
	case slices.Contains(m.Terminal, fsm.State(state)):
		return "state end"
	}
	return "state"
}

// layout assigns each state the layer of its longest path from the initial state, and
// adds a crossing wherever an arrow passes through a layer.
func layout(initial string, arrows []arrow) ([][]*item, [][]*item) {
	depth := map[string]int{initial: 0}
	for range arrows { // the longest path without a cycle has at most this many steps
		for _, a := range arrows {
			if d, ok := depth[a.from]; ok && !a.isAny() && depth[a.to] < d+1 && d < len(arrows) {
				depth[a.to] = d + 1
			}
		}
	}
	for _, a := range arrows {
		if a.isAny() {
			depth[anyState] = max(0, depth[a.to]-1)
		}
	}
	items := make(map[string]*item)
	layers := make([][]*item, 0, 16)
	add := func(i *item) *item {
		for len(layers) <= i.layer {
			layers = append(layers, nil)
		}
		layers[i.layer] = append(layers[i.layer], i)
		return i
	}
	get := func(state string) *item {
		if items[state] == nil {
			items[state] = add(&item{state: state, layer: depth[state]})
		}
		return items[state]
	}
	routes := make([][]*item, len(arrows))
	for n, a := range arrows {
		from, to := get(a.from), get(a.to)
		route := []*item{from}
		for layer := from.layer + 1; layer < to.layer; layer++ {
			route = append(route, add(&item{layer: layer}))
		}
		route = append(route, to)
		for i := 1; i < len(route); i++ {
			route[i-1].down = append(route[i-1].down, route[i])
			route[i].up = append(route[i].up, route[i-1])
		}
		routes[n] = route
	}
	return layers, routes
}

// order reduces crossings: it sorts each layer by the positions of its neighbours,
// sweeping down and up in turn (the barycentre heuristic).
func order(layers [][]*item) {
	spread := func(layer []*item) {
		for n, i := range layer {
			i.x = float64(n) - float64(len(layer))/2
		}
	}
	for _, layer := range layers {
		spread(layer)
	}
	for sweep := range sweeps {
		for n := range layers {
			layer := layers[n]
			if sweep%2 == 1 {
				layer = layers[len(layers)-1-n]
			}
			slices.SortStableFunc(layer, func(a, b *item) int {
				return cmp.Compare(a.desired(sweep%2 == 0), b.desired(sweep%2 == 0))
			})
			spread(layer)
		}
	}
}

// desired is the mean position of an item's neighbours in the layer above or below; its
// own position when it has none.
func (i *item) desired(up bool) float64 {
	near := i.down
	if up {
		near = i.up
	}
	return meanPlace(near, i.x)
}

func meanPlace(items []*item, otherwise float64) float64 {
	if len(items) == 0 {
		return otherwise
	}
	sum := 0.0
	for _, i := range items {
		sum += i.x
	}
	return sum / float64(len(items))
}

// placeLayers moves the items of each layer towards their neighbours in other layers, without
// letting them overlap.
func placeLayers(layers [][]*item) {
	for _, layer := range layers {
		x := 0.0
		for _, i := range layer {
			i.x = x + i.width()/2
			x += i.width() + sideGap
		}
		for _, i := range layer {
			i.x -= x / 2
		}
	}
	for range relaxSteps {
		for _, layer := range layers {
			for _, i := range layer {
				i.x = meanPlace(append(slices.Clone(i.up), i.down...), i.x)
			}
			apart(layer)
		}
	}
}

// apart separates overlapping items of a layer: it takes the mean of packing them from
// the left and from the right.
func apart(layer []*item) {
	fromLeft, fromRight := make([]float64, len(layer)), make([]float64, len(layer))
	need := func(a, b *item) float64 { return (a.width()+b.width())/2 + sideGap }
	for n, i := range layer {
		fromLeft[n] = i.x
		if n > 0 {
			fromLeft[n] = max(i.x, fromLeft[n-1]+need(layer[n-1], i))
		}
	}
	for n := len(layer) - 1; n >= 0; n-- {
		fromRight[n] = layer[n].x
		if n < len(layer)-1 {
			fromRight[n] = min(layer[n].x, fromRight[n+1]-need(layer[n], layer[n+1]))
		}
	}
	for n, i := range layer {
		i.x = (fromLeft[n] + fromRight[n]) / 2
	}
}

// route returns an arrow's curve through its crossings as an SVG path, and the position of
// its label.
func route(items []*item, at func(*item) (int, int)) (path string, labelX, labelY int) {
	var b strings.Builder
	x0, y0 := at(items[0])
	y0 += boxHeight / 2
	fmt.Fprintf(&b, "M%d %d", x0, y0)
	for n, i := range items[1:] {
		x, y := at(i)
		if n == len(items)-2 {
			y -= boxHeight/2 + 7 // leaves room for the arrowhead
		}
		fmt.Fprintf(&b, "C%d %d %d %d %d %d", x0, (y0+y)/2, x, (y0+y)/2, x, y)
		if n == (len(items)-2)/2 {
			labelX, labelY = (x0+x)/2, (y0+y)/2
		}
		x0, y0 = x, y
	}
	return b.String(), labelX, labelY
}
