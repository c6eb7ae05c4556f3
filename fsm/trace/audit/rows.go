package audit

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/fsm"
)

// machine is a machine that has records in the trace.
type machine struct {
	Name     string     `json:"name"`
	Request  bool       `json:"request"`
	Initial  string     `json:"initial"`
	Terminal []string   `json:"terminal"`
	Edges    []dataEdge `json:"edges"` // those of its table first, to which its drawing refers by their indexes
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

// index numbers values in the order of their first occurrence.
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

// tables holds the values that rows refer to by index.
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
		machines: []machine{}, paths: []dataPath{},
	}
	return t
}

func (t *tables) path(p *Path) int {
	if i, ok := t.pathAt[p.Key]; ok {
		return i
	}
	m := t.machineNamed(p.Machine, string(p.Steps[0].From))
	d := dataPath{Machine: m, Edges: []int{}}
	for _, s := range p.Steps {
		d.Edges = append(d.Edges, t.machines[m].edge(dataEdge{string(s.From), string(s.Trigger), string(s.To), s.Row}))
	}
	t.paths = append(t.paths, d)
	t.pathAt[p.Key] = len(t.paths) - 1
	return len(t.paths) - 1
}

// machineNamed returns the index of a machine. It starts from the machine's current table and adds rows of
// older tables as records contain them. For a machine without a current table, only the records themselves
// are known, such as the state from in which a path starts.
func (t *tables) machineNamed(name, from string) int {
	i := slices.IndexFunc(t.machines, func(m machine) bool { return m.Name == name })
	if i >= 0 {
		return i
	}
	m := machine{Name: name, Request: strings.HasPrefix(name, "request"), Initial: from,
		Terminal: []string{}, Edges: []dataEdge{}}
	for _, table := range fsm.Tables() {
		if table.Name == name {
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
	flagLimited // the client would have cut the output; three figures say how much
)

// rows stores the records as columns of variable-length numbers.
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

func (r *rows) add(t *tables, e *row) {
	start := e.Start.UnixMilli()
	if r.base == 0 {
		r.base, r.last = start, start
	}
	r.put(0, t.path(e.Path))
	r.put(1, t.tools.of(e.Tool))
	r.put(2, t.sessions.of(e.Session))
	r.put(3, t.clients.of(e.Client))
	why := e.Why
	if e.Outcome == "responded" && e.IsRequest() {
		why = ""
	}
	r.put(4, t.ends.of([2]string{e.Outcome, why}))
	result, reason := e.Pruned()
	r.put(5, t.pruning.of([2]string{result, reason}))
	r.putSigned(6, start-r.last)
	r.last = start
	flags := 0
	set := func(on bool, flag int) {
		if on {
			flags |= flag
		}
	}
	set(e.Tokens.Estimated, flagEstimated)
	set(e.Again, flagReread)
	set(e.Gross != 0, flagCut)
	set(e.Limited, flagLimited)
	r.put(7, flags)
	r.put(8, e.Tokens.Raw)
	r.put(9, e.Tokens.Sent)
	r.put(10, e.Question)
	r.put(11, e.Bytes.Raw)
	r.put(12, e.Bytes.Sent)
	if e.Limited {
		r.putSigned(13, int64(e.Shown))
		r.putSigned(13, int64(e.Reread))
		r.putSigned(13, int64(e.Without))
	}
	last := int64(0)
	for _, us := range e.Micros {
		r.putSigned(13, us-last)
		last = us
	}
	id := strings.TrimPrefix(e.ID, "req_")
	id = id[:min(len(id), 8)]
	r.put(13, len(id))
	r.columns[13] = append(r.columns[13], id...)
}

// pack compresses the columns and encodes them as text that needs no escaping.
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
