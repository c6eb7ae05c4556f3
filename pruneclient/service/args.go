package service

import (
	"regexp"
	"time"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
)

// PruneArgs are prune_text's arguments.
type PruneArgs struct {
	Text    string
	Goal    string
	Kind    lineprune.Kind
	Options PruneOptions
}

// PruneOptions bound and shape the answer.
type PruneOptions struct {
	MaxPruneRatio float64
	MinKeepLines  int
	Timeout       time.Duration
	Numbers       bool // annotate_lines
	Markers       bool // include_markers
}

// RecoverArgs are recover_text's arguments.
type RecoverArgs struct {
	PruneID string
	Ranges  []recovery.Range
	Numbers bool
	Pattern *regexp.Regexp // nil: return the ranges themselves
	Whole   bool           // without ranges and pattern return the whole text
}
