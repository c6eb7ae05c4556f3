package tracecmd

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"html/template"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mcp-pruner/fsm"
)

// maxRows is how many records a report holds: the last ones.
const maxRows = 100_000

//go:embed report/page.html
var pageHTML string

//go:embed report/page.css
var pageCSS string

//go:embed report/page.js
var pageJS string

// page is what the template gets.
type page struct {
	CSS      template.CSS
	JS       template.JS
	Title    string
	Drawings []drawing
	Data     data
}

// data is what the page computes everything from.
type data struct {
	Made       string      `json:"made"`
	Left       int         `json:"left"` // records that are older than those here
	Unreadable int         `json:"unreadable"`
	Processes  int         `json:"processes"`
	Machines   []machine   `json:"machines"`
	Paths      []dataPath  `json:"paths"`
	Tools      []string    `json:"tools"`
	Sessions   []string    `json:"sessions"`
	Clients    []string    `json:"clients"`
	Ends       [][2]string `json:"ends"` // outcome, why
	Pruning    [][2]string `json:"pruning"`
	Count      int         `json:"count"`
	Base       int64       `json:"base"` // ms since 1970 of the first start
	Rows       string      `json:"rows"`
}

// machine is one that the trace has records of.
type machine struct {
	Name     string     `json:"name"`
	Request  bool       `json:"request"`
	Initial  string     `json:"initial"`
	Terminal []string   `json:"terminal"`
	Edges    []dataEdge `json:"edges"`

	everywhere []string // triggers that leave every state
}

type dataEdge struct {
	From    string `json:"from"`
	Trigger string `json:"trigger"`
	To      string `json:"to"`
	Row     string `json:"row"`
}

type dataPath struct {
	Machine int   `json:"machine"`
	Edges   []int `json:"edges"`
}

func runReport(s settings, stdin io.Reader, stdout io.Writer) (int, error) {
	l, err := load(s, stdin)
	if err != nil {
		return exitBad, err
	}
	var html bytes.Buffer
	if err := writeReport(&html, l, s, maxRows); err != nil {
		return exitBad, err
	}
	if s.output == "-" {
		_, err = stdout.Write(html.Bytes())
		return exitOK, err
	}
	if err := os.WriteFile(s.output, html.Bytes(), 0o600); err != nil {
		return exitBad, err
	}
	fmt.Fprintf(stdout, "%s: %s records, %s kB\n", s.output, count(min(len(l.entries), maxRows)), count(html.Len()/1000))
	return exitOK, nil
}

// writeReport writes the page of the last records, most of them at most.
func writeReport(out io.Writer, l loaded, s settings, most int) error {
	left := max(0, len(l.entries)-most)
	t := newTables()
	rows := newRows()
	for i, e := range l.entries[left:] {
		rows.add(t, e, l.saved[left+i])
	}
	blob, err := rows.pack()
	if err != nil {
		return err
	}
	p := page{CSS: template.CSS(pageCSS), JS: template.JS(pageJS), Title: title(s.files)}
	p.Data = data{
		Made: time.Now().UTC().Format(time.RFC3339), Left: left, Unreadable: l.unreadable, Processes: len(l.writers),
		Machines: t.machines, Paths: t.paths, Tools: t.tools.list, Sessions: t.sessions.list, Clients: t.clients.list,
		Ends: t.ends.list, Pruning: t.pruning.list, Count: len(l.entries) - left, Base: rows.base, Rows: blob,
	}
	for _, m := range t.machines {
		p.Drawings = append(p.Drawings, draw(m))
	}
	tmpl, err := template.New("report").Parse(pageHTML)
	if err != nil {
		return err
	}
	return tmpl.Execute(out, p)
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

// index numbers values by their first mention.
type index[T comparable] struct {
	list []T
	at   map[T]int
}

func newIndex[T comparable]() *index[T] { return &index[T]{list: []T{}, at: make(map[T]int)} }

func (x *index[T]) of(v T) int {
	i, ok := x.at[v]
	if !ok {
		i = len(x.list)
		x.at[v] = i
		x.list = append(x.list, v)
	}
	return i
}

// tables are what rows refer to by number.
type tables struct {
	tools, sessions, clients *index[string]
	ends, pruning            *index[[2]string]
	machines                 []machine
	paths                    []dataPath
	pathAt                   map[string]int
}

func newTables() *tables {
	t := &tables{
		tools: newIndex[string](), sessions: newIndex[string](), clients: newIndex[string](),
		ends: newIndex[[2]string](), pruning: newIndex[[2]string](), pathAt: make(map[string]int),
	}
	return t
}

func (t *tables) path(p *path) int {
	if i, ok := t.pathAt[p.key]; ok {
		return i
	}
	m := t.machine(p)
	d := dataPath{Machine: m, Edges: []int{}}
	for _, s := range p.steps {
		d.Edges = append(d.Edges, t.machines[m].edge(dataEdge{string(s.From), string(s.Trigger), string(s.To), s.Row}))
	}
	t.paths = append(t.paths, d)
	t.pathAt[p.key] = len(t.paths) - 1
	return len(t.paths) - 1
}

// machine finds the machine of a path; its table is that of today, with whatever
// older tables had besides added as it comes. Of a machine that has no table today
// only what its records say is known.
func (t *tables) machine(p *path) int {
	i := slices.IndexFunc(t.machines, func(m machine) bool { return m.Name == p.machine })
	if i >= 0 {
		return i
	}
	m := machine{Name: p.machine, Request: strings.HasPrefix(p.machine, "request"), Initial: string(p.steps[0].From),
		Terminal: []string{}, Edges: []dataEdge{}}
	for _, table := range fsm.Tables() {
		if table.Name == p.machine {
			m.take(table)
		}
	}
	t.machines = append(t.machines, m)
	return len(t.machines) - 1
}

func (m *machine) take(table fsm.Table) {
	m.Initial = string(table.Initial)
	for _, s := range table.Terminal {
		m.Terminal = append(m.Terminal, string(s))
	}
	for _, row := range table.Rows {
		if strings.HasSuffix(string(row.From), ":*") {
			m.everywhere = append(m.everywhere, string(row.Trigger))
		}
	}
	for _, row := range fsm.MustCompile(table).Rows() {
		m.edge(dataEdge{string(row.From), string(row.Trigger), string(row.To), row.Spec})
	}
}

func (m *machine) edge(e dataEdge) int {
	if i := slices.Index(m.Edges, e); i >= 0 {
		return i
	}
	m.Edges = append(m.Edges, e)
	return len(m.Edges) - 1
}

// Flags of a row.
const (
	flagEstimated = 1 << iota
	flagReread
	flagCut
	flagLimited // the client would not have shown all: three figures say how much
)

// rows are the records in columns of variable-length numbers.
type rows struct {
	columns [14][]byte
	base    int64
	last    int64
}

func newRows() *rows { return &rows{} }

func (r *rows) put(column int, n int) {
	r.columns[column] = binary.AppendUvarint(r.columns[column], uint64(n))
}

func (r *rows) putSigned(column int, n int64) {
	r.columns[column] = binary.AppendVarint(r.columns[column], n)
}

func (r *rows) add(t *tables, e *entry, s saving) {
	start := e.start.UnixMilli()
	if r.base == 0 {
		r.base, r.last = start, start
	}
	r.put(0, t.path(e.path))
	r.put(1, t.tools.of(e.tool))
	r.put(2, t.sessions.of(e.session))
	r.put(3, t.clients.of(e.client))
	why := e.why
	if e.outcome == "responded" && e.isRequest() {
		why = ""
	}
	r.put(4, t.ends.of([2]string{e.outcome, why}))
	r.put(5, t.pruning.of(e.pruned()))
	r.putSigned(6, start-r.last)
	r.last = start
	flags := 0
	set := func(on bool, flag int) {
		if on {
			flags |= flag
		}
	}
	set(e.tokens.Estimated, flagEstimated)
	set(s.again, flagReread)
	set(s.gross != 0, flagCut)
	set(s.limited, flagLimited)
	r.put(7, flags)
	r.put(8, e.tokens.Raw)
	r.put(9, e.tokens.Sent)
	r.put(10, s.question)
	r.put(11, e.bytes.Raw)
	r.put(12, e.bytes.Sent)
	if s.limited {
		r.putSigned(13, int64(s.shown))
		r.putSigned(13, int64(s.reread))
		r.putSigned(13, int64(s.without))
	}
	last := int64(0)
	for _, us := range e.micros {
		r.putSigned(13, us-last)
		last = us
	}
	id := strings.TrimPrefix(e.id, "req_")
	id = id[:min(len(id), 8)]
	r.put(13, len(id))
	r.columns[13] = append(r.columns[13], id...)
}

// pack compresses the columns and makes text of them that needs no escaping.
func (r *rows) pack() (string, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	for _, c := range r.columns {
		var size [4]byte
		binary.LittleEndian.PutUint32(size[:], uint32(len(c)))
		if _, err := z.Write(append(size[:], c...)); err != nil {
			return "", err
		}
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(b.Bytes()), nil
}
