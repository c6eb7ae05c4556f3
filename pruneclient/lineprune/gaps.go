package lineprune

import (
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

// bridge keeps the gaps that are not worth their marker.
func (p *chooser) bridge(keep []cause) {
	for i := 0; i < len(keep); i++ {
		if keep[i] != dropped {
			continue
		}
		start, tokens, size := i, 0, 0
		for ; i < len(keep) && keep[i] == dropped; i++ {
			tokens += int(p.Doc.Tokens[i])
			size += p.Doc.Size(i) + 1
		}
		small := !p.budgeted() && p.Kind != doc.Grep && tokens < doc.BridgedTokens
		if small || p.opts.Marker != nil && len(p.opts.Marker(p.block(start, i)))+1 >= size {
			for j := start; j < i; j++ {
				keep[j] = between
			}
		}
	}
}

// closeGaps keeps the gaps that are no longer than their marker.
func (p *chooser) closeGaps(keep []cause) {
	if p.opts.Marker == nil {
		return
	}
	exact := *p
	exact.opts.Budget = 1
	exact.bridge(keep)
}

// settle keeps the gaps that are not worth their marker, and what all kept lines bring.
func (p *chooser) settle(keep []cause, bridge func([]cause)) {
	for range settleRounds {
		bridge(keep)
		if !p.brings.complete(p.Doc, keep) {
			return
		}
	}
}

// settleRounds bounds the passes over a text in which headings and gaps call for each other.
const settleRounds = 8
