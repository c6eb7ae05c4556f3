package audit

import (
	"bufio"
	"cmp"
	"container/heap"
	"encoding/binary"
	"io"
	"os"
	"slices"
)

// mark is the data of a record that is kept to find other records with its id.
type mark struct {
	id    uint64 // hash of the id
	at    place
	flags markFlags
}

type markFlags uint64

const (
	recovered markFlags = 1 << iota // its process was killed, and another process wrote the record
	inLog                           // not a record: an event log names the request
	inNotes                         // not a record: the request is in the side file of a killed process
)

// place is the position of a line: the number of its source and the line number.
type place uint64

func placeOf(l *line) place { return place(l.file)<<48 | place(l.number)&(1<<48-1) }

func (p place) file() int { return int(p >> 48) }
func (p place) line() int { return int(p & (1<<48 - 1)) }

const markBytes = 24

// sortedMarks is the number of marks held in memory. The others are written to temporary
// files, so that memory use does not grow with the number of records.
const sortedMarks = 1 << 19

// sorter sorts marks by id and place, on disk if there are many.
type sorter struct {
	most int // maximum marks in memory
	held []mark
	runs []*os.File // sorted
}

func newSorter() *sorter { return &sorter{most: sortedMarks} }

func (s *sorter) add(m mark) error {
	s.held = append(s.held, m)
	if len(s.held) < s.most {
		return nil
	}
	return s.spill()
}

func (s *sorter) sortHeld() {
	slices.SortFunc(s.held, func(a, b mark) int { return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.at, b.at)) })
}

func (s *sorter) spill() error {
	s.sortHeld()
	f, err := os.CreateTemp("", "mcp-pruner-trace-*")
	if err != nil {
		return err
	}
	s.runs = append(s.runs, f)
	out := bufio.NewWriterSize(f, 1<<16)
	var raw [markBytes]byte
	for _, m := range s.held {
		for i, n := range []uint64{m.id, uint64(m.at), uint64(m.flags)} {
			binary.LittleEndian.PutUint64(raw[8*i:], n)
		}
		_, _ = out.Write(raw[:]) // Flush reports it
	}
	s.held = s.held[:0]
	return out.Flush()
}

// groups calls take with the marks of each id, ordered by place.
func (s *sorter) groups(take func([]mark)) error {
	s.sortHeld()
	h := runHeap{&run{held: s.held}}
	for _, f := range s.runs {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
		h = append(h, &run{in: bufio.NewReaderSize(f, 1<<16)})
	}
	h = slices.DeleteFunc(h, func(r *run) bool { return !r.next() })
	heap.Init(&h)
	var group []mark
	for len(h) > 0 {
		m := h[0].first
		if len(group) > 0 && group[0].id != m.id {
			take(group)
			group = group[:0]
		}
		group = append(group, m)
		if h[0].next() {
			heap.Fix(&h, 0)
			continue
		}
		if err := h[0].err; err != nil {
			return err
		}
		heap.Pop(&h)
	}
	if len(group) > 0 {
		take(group)
	}
	return nil
}

func (s *sorter) close() {
	for _, f := range s.runs {
		_ = f.Close() // the file was only read
		_ = os.Remove(f.Name())
	}
	s.held, s.runs = nil, nil
}

// run is a sorted list of marks, in memory or in a file.
type run struct {
	first mark
	held  []mark
	in    *bufio.Reader
	err   error
}

// next reads the next mark. It returns false at the end.
func (r *run) next() bool {
	if r.in == nil {
		if len(r.held) == 0 {
			return false
		}
		r.first, r.held = r.held[0], r.held[1:]
		return true
	}
	var raw [markBytes]byte
	if _, err := io.ReadFull(r.in, raw[:]); err != nil {
		if err != io.EOF {
			r.err = err
		}
		return false
	}
	n := func(i int) uint64 { return binary.LittleEndian.Uint64(raw[8*i:]) }
	r.first = mark{n(0), place(n(1)), markFlags(n(2))}
	return true
}

// runHeap orders runs by their first mark.
type runHeap []*run

func (h runHeap) Len() int      { return len(h) }
func (h runHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h runHeap) Less(i, j int) bool {
	a, b := h[i].first, h[j].first
	return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.at, b.at)) < 0
}
func (h *runHeap) Push(r any) { *h = append(*h, r.(*run)) }
func (h *runHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// distinct counts distinct names. It counts recently seen names in memory.
type distinct struct {
	recent map[uint64]struct{}
	sorter *sorter
	hash   func(string) uint64
}

// recentNames is the number of names held in memory.
const recentNames = 1 << 16

func newDistinct(hash func(string) uint64) *distinct {
	return &distinct{recent: make(map[uint64]struct{}), sorter: newSorter(), hash: hash}
}

func (d *distinct) add(name string) error {
	d.recent[d.hash(name)] = struct{}{}
	if len(d.recent) < recentNames {
		return nil
	}
	return d.forget()
}

// forget moves the names in memory to the sorter.
func (d *distinct) forget() error {
	for name := range d.recent {
		if err := d.sorter.add(mark{id: name}); err != nil {
			return err
		}
	}
	clear(d.recent)
	return nil
}

// count returns the number of distinct names and ends the counting.
func (d *distinct) count() (n int, err error) {
	defer d.sorter.close()
	if len(d.sorter.held) == 0 && len(d.sorter.runs) == 0 {
		return len(d.recent), nil
	}
	if err := d.forget(); err != nil {
		return 0, err
	}
	err = d.sorter.groups(func([]mark) { n++ })
	return n, err
}
