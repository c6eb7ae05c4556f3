package choose

import (
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/tuning"
)

// outline keeps the definitions and headings that enclose the lines of a reranker, then imports and other
// definitions as long as everything it keeps stays within a smaller fraction of the tokens.
func (f *fill) outline() {
	chosen, total := f.used, float64(f.p.Doc.Total)
	f.allowance = chosen + int(tuning.ExtraShare*total)
	f.enclose()
	f.allowance = chosen + int(tuning.SkeletonShare*total)
	f.imports()
	f.skeleton()
}

// skeleton keeps some definitions that enclose no kept line, outer ones first. Lines chosen by a reranker
// can lie anywhere, and an outline shows where.
func (f *fill) skeleton() {
	if f.p.Kind != doc.Code {
		return
	}
	for _, outer := range []bool{true, false} {
		for _, u := range f.p.Outline.Units {
			if u.Head < 0 || (u.Parent < 0) != outer || f.keep[u.Head] != dropped {
				continue
			}
			if !f.besideKept(u.Head) {
				f.used += tuning.MarkerTokens
			}
			if !f.add(u.Head, definition) {
				return
			}
		}
	}
}

func (f *fill) besideKept(i int) bool {
	return i > 0 && f.keep[i-1] != dropped || i+1 < len(f.keep) && f.keep[i+1] != dropped
}
