package service

import (
	"mcp-pruner/pruneclient/recovery"
)

// RecoverResult is recover_text's answer.
type RecoverResult struct {
	RawText  string          `json:"raw_text"`
	Metadata RecoverMetadata `json:"metadata"`
}

// RecoverMetadata says what RawText is.
type RecoverMetadata struct {
	PruneID       string           `json:"prune_id"`
	Ranges        []recovery.Range `json:"ranges"` // as asked for
	LineNumbering string           `json:"line_numbering"`
	TotalLines    int              `json:"total_lines"`
	MatchCount    *int             `json:"match_count,omitempty"` // with a pattern

	// NextRanges is what to ask for next when the answer was cut at a page.
	NextRanges []recovery.Range `json:"next_ranges,omitempty"`
}

// RecoverText returns lines of an original, up to about pageBytes of them (0: no
// limit). It fails with *recovery.NotFound or *recovery.BadRange, the id being
// checked first, or because the store cannot be read.
func (s *Service) RecoverText(a RecoverArgs, pageBytes int) (RecoverResult, error) {
	original, err := s.settings.Store.Get(a.PruneID)
	if err != nil {
		return RecoverResult{}, err
	}
	res := RecoverResult{Metadata: RecoverMetadata{
		PruneID: a.PruneID, Ranges: a.Ranges, LineNumbering: "original", TotalLines: original.Len(),
	}}
	if a.Pattern == nil {
		res.RawText, res.Metadata.NextRanges, err = original.Page(a.Ranges, a.Numbers, pageBytes)
		return res, err
	}
	count := 0
	res.RawText, count, res.Metadata.NextRanges, err = original.Matching(a.Pattern, a.Ranges, pageBytes)
	res.Metadata.MatchCount = &count
	return res, err
}
