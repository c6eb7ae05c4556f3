package audit

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
	"github.com/mcp-pruner/mcp-pruner/tools/terminal"
)

// maxBatch is the longest time between the first and the last record of one batch. A process gathers records for 50 ms;
// the rest is room for a busy machine.
const maxBatch = 200 * time.Millisecond

// batches returns a lower bound, 1 or 2, for the number of batches that the lines without a seal at the end come from.
func (w *writer) batches() int {
	if w.ended.Sub(w.since) > maxBatch {
		return 2
	}
	return 1
}

// sealless reports processes that end in more lines without a seal than one batch has. A process that is killed in the
// middle of a write leaves one batch without a seal.
func (v *verifier) sealless() (problems []string) {
	for _, id := range slices.Sorted(maps.Keys(v.writers)) {
		if w := v.writers[id]; w.unsealed > 0 && w.batches() > 1 {
			problems = append(problems, fmt.Sprintf("seals missing: the last %s of process %s, over %s, have none, and a process leaves at most one batch without",
				terminal.Count(w.unsealed, "line"), id, w.ended.Sub(w.since).Round(time.Millisecond)))
		}
	}
	return problems
}

// noteUnproved says from which line on nothing proves that a process wrote no more.
func (v *verifier) noteUnproved() {
	if v.Options.Heads == nil {
		v.verdict.Unproved = len(v.writers)
		return
	}
	for _, id := range slices.Sorted(maps.Keys(v.Options.Heads.of)) {
		if seq, final := v.Options.Heads.last(id); !final {
			v.verdict.Unproved++
			v.note("process %s was killed or still runs: nothing proves that no lines were cut off after its line %d", id, seq)
		}
	}
}

func (v *verifier) finishWriter(id string, w *writer) {
	v.heads = append(v.heads, trace.Head{Writer: id, Seq: w.seq, Link: w.link, Key: w.key})
	if !w.whole {
		v.note("the first lines of process %s are not here: they are in a file that was put aside, or were taken out; nothing here tells which", id)
	}
	if w.unsealed > 0 && w.batches() == 1 {
		v.note("at the end of process %s %s without a seal: it was killed in the middle of a write, or somebody else wrote there",
			id, areSome(w.unsealed, "line"))
	}
}

// noteSideFiles reports records that are only in the side file of a killed process.
func (v *verifier) noteSideFiles() {
	for _, s := range v.sources {
		_ = trace.Leftovers(s.Name, func(left trace.Left) bool { // the next server reports errors
			if len(left.Records) > 0 {
				v.note("%s of process %s, which was killed, are in its side file %s; the next server appends them",
					terminal.Count(len(left.Records), "record"), left.Writer, left.File)
			}
			return false
		})
	}
}

func (v *verifier) noteTorn(l *line) {
	where := v.where(placeOf(l))
	switch {
	case l.front && l.ok:
		v.note("%s: another record follows on the same line: the line end between them is missing", where)
	case l.torn == 0:
	case l.front:
		v.note("%s: %d bytes of a torn record stand in front of another one: a process ended in the middle of a write", where, l.torn)
	case l.last:
		v.note("%s: torn: it is the last and breaks off after %d bytes; the process ended, or the disk was full, in the middle of a write", where, l.torn)
	default:
		v.note("%s: torn: it breaks off after %d bytes; the process ended, or the disk was full, in the middle of a write", where, l.torn)
	}
}
