package audit

import (
	"embed"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/tools/page"
	"github.com/mcp-pruner/mcp-pruner/tools/terminal"
)

// PageModel is the tab of a page that shows a trace. It has no text of any output.
type PageModel struct {
	Title    string       `json:"title"`
	Verdict  shownVerdict `json:"verdict"`
	Drawings []drawing    `json:"drawings"`
	Data     data         `json:"data"`
}

//go:embed machines
var drawings embed.FS

// drawing is a machine as SVG: "make docs" draws it from its table.
type drawing struct {
	Machine string `json:"machine"`
	SVG     string `json:"svg"`
}

// shownVerdict is the verdict in the page's form.
type shownVerdict struct {
	OK       bool        `json:"ok"`
	Head     string      `json:"head"`
	Line     string      `json:"line"`
	Problems []string    `json:"problems,omitempty"`
	More     int         `json:"more"` // number of problems that are not listed
	Notes    []string    `json:"notes,omitempty"`
	Files    []shownFile `json:"files"`
	Written  string      `json:"written,omitempty"`
	Compared string      `json:"compared"`
}

type shownFile struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// data is the input of the page's own calculations.
type data struct {
	Left       int         `json:"left"` // number of records older than the listed ones
	Unreadable int         `json:"unreadable"`
	Machines   []machine   `json:"machines"`
	Paths      []dataPath  `json:"paths"`
	Tools      []string    `json:"tools"`
	Sessions   []string    `json:"sessions"`
	Clients    []string    `json:"clients"`
	Ends       [][2]string `json:"ends"` // pairs of outcome and reason
	Pruning    [][2]string `json:"pruning"`
	Count      int         `json:"count"`
	Base       int64       `json:"base"` // start of the first record, in ms since 1970
	Rows       string      `json:"rows"`
	From       int64       `json:"from"` // in ms since 1970
	To         int64       `json:"to"`
	Totals     *totals     `json:"totals,omitempty"` // of all records, if not all are listed
}

// WritePage writes a standing page with the figures of all selected records and a list of the last ones, at most so many. It
// returns the figures. files are the names of the trace's files.
func WritePage(out io.Writer, t *Trace, s Selection, files []string, most int) (Stats, error) {
	m, stats, err := NewPageModel(t, s, files, most)
	if err != nil {
		return Stats{}, err
	}
	return stats, page.Write(out, page.Model{Title: "Trace report: " + m.Title, About: "Made by mcp-pruner trace report, from records that hold no output.", Trace: m})
}

// NewPageModel returns the tab for Page, and the figures.
func NewPageModel(t *Trace, s Selection, files []string, most int) (PageModel, Stats, error) {
	last := recent{most: most}
	c, err := t.Summarize(s, last.add)
	if err != nil {
		return PageModel{}, Stats{}, err
	}
	m, err := model(c, last.inOrder(), title(files))
	return m, c.Stats, err
}

// WritePageNote writes where a page is, and the verdict if the trace is not in order.
func WritePageNote(out io.Writer, file string, s Stats, size int) error {
	if !s.Verdict.OK {
		WriteProof(out, s.Verdict)
	}
	_, err := fmt.Fprintf(out, "%s: %s, %s kB\n", file, countedNoun(s.Records, "record"), terminal.Grouped(size/1000))
	return err
}

// row is one record of the report.
type row struct {
	Entry
	Saving
}

// recent keeps the rows added last.
type recent struct {
	most int
	rows []row
	next int // index of the oldest row once the buffer is full
}

func (r *recent) add(e *Entry, s Saving) {
	if len(r.rows) < r.most {
		r.rows = append(r.rows, row{*e, s})
		return
	}
	r.rows[r.next] = row{*e, s}
	r.next = (r.next + 1) % r.most
}

func (r *recent) inOrder() []row { return append(r.rows[r.next:], r.rows[:r.next]...) }

// model returns the tab with the figures of all records and a list of the last ones.
func model(c *Collector, last []row, title string) (PageModel, error) {
	t := newTables()
	packed := newRows()
	for i := range last {
		packed.add(t, &last[i])
	}
	blob, err := packed.pack()
	if err != nil {
		return PageModel{}, err
	}
	left := c.Stats.Records - len(last)
	var all *totals
	if left > 0 {
		all = totalsOf(c, t)
	}
	m := PageModel{Title: title, Verdict: shownOf(c.Stats.Verdict), Drawings: []drawing{}, Data: data{
		Left: left, Unreadable: c.Stats.Unreadable, Machines: t.machines, Paths: t.paths, Tools: t.tools.list, Sessions: t.sessions.list,
		Clients: t.clients.list, Ends: t.ends.list, Pruning: t.pruning.list, Count: len(last), Base: packed.base, Rows: blob,
		From: c.Stats.From.UnixMilli(), To: c.Stats.To.UnixMilli(), Totals: all,
	}}
	for _, machine := range t.machines { // a machine of another version has no drawing
		if svg, err := drawings.ReadFile("machines/" + machine.Name + ".svg"); err == nil {
			m.Drawings = append(m.Drawings, drawing{machine.Name, string(svg)})
		}
	}
	return m, nil
}

// maxShown is the largest number of problems that a report lists.
const maxShown = 20

func shownOf(v Verdict) shownVerdict {
	s := shownVerdict{OK: v.OK, Head: "Not in order", Line: verdictLine(v), Compared: comparedText(v), Written: byKind(v.Versions), Notes: v.Notes, Files: []shownFile{}}
	switch {
	case v.OK && v.Records == 0:
		s.Head = "Empty"
	case v.OK:
		s.Head = "In order"
	}
	s.Problems = v.Problems[:min(len(v.Problems), maxShown)]
	s.More = v.Found - len(s.Problems)
	for _, f := range v.Files {
		s.Files = append(s.Files, shownFile(f))
	}
	return s
}

func title(files []string) string {
	var names []string
	for _, f := range files {
		names = append(names, filepath.Base(f))
	}
	if len(names) > 3 {
		names = append(names[:3], fmt.Sprintf("and %d more", len(names)-3))
	}
	return strings.Join(names, ", ")
}

// totals are the figures of all records, equal to those that the page would compute from the records. Times
// are lists of pairs of a duration and its count.
type totals struct {
	Stats Stats       `json:"stats"`
	Tools []int       `json:"tools"` // indexes of the tools in stats
	Paths [][2]int    `json:"paths"` // index of the path, count
	Edges []edgeTimes `json:"edges"`
	Hours [][4]int64  `json:"hours"` // start in ms, requests, tokens sent, tokens pruned away
}

type edgeTimes struct {
	Machine int     `json:"machine"`
	Edge    int     `json:"edge"`
	Max     int64   `json:"max"`
	Times   []int64 `json:"times"`
}

func totalsOf(c *Collector, t *tables) *totals {
	all := &totals{Stats: c.Stats, Tools: []int{}, Paths: [][2]int{}, Edges: []edgeTimes{}, Hours: [][4]int64{}}
	all.Stats.Verdict = Verdict{} // the page shows it separately
	for _, tool := range c.Stats.Tools {
		all.Tools = append(all.Tools, t.tools.of(tool.Tool))
	}
	for _, w := range c.Stats.Paths {
		all.Paths = append(all.Paths, [2]int{t.path(w.Path), w.Count})
	}
	for e, d := range c.Edges {
		m := t.machineNamed(e.Machine, e.From)
		times := edgeTimes{Machine: m, Edge: t.machines[m].edge(dataEdge{e.From, e.Trigger, e.To, e.Row}), Max: d.Max}
		d.Each(func(us int64, n int) { times.Times = append(times.Times, us, int64(n)) })
		all.Edges = append(all.Edges, times)
	}
	for start, p := range c.Hours {
		all.Hours = append(all.Hours, [4]int64{start.UnixMilli(), int64(p.Count), int64(p.Sent), int64(p.Gross)})
	}
	return all
}
