package service

import (
	"context"
	"errors"
	"fmt"
	"time"

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
	// CutsNewline says that the text ends in a newline which is not in RawText,
	// although its last line is.
	CutsNewline bool `json:"final_newline_cut,omitempty"`
}

// AnswerTooLarge says that ranges add up to more than one answer carries.
type AnswerTooLarge struct{ Most int } // bytes

func (e *AnswerTooLarge) Error() string {
	return fmt.Sprintf("answer_too_large: more than %d bytes", e.Most)
}

// ErrSearchTooSlow says that a pattern was not done with in searchTime.
var ErrSearchTooSlow = errors.New("search_too_slow")

const searchTime = 10 * time.Second

// Recovery is a recover_text whose original was found: what it costs is known
// before any of it is made.
type Recovery struct {
	args     RecoverArgs
	original recovery.Text
	size     int
	most     int
}

// Recover finds an original. It fails with *recovery.NotFound, *recovery.BadRange
// or *AnswerTooLarge, in this order, or because the store cannot be read. An
// answer may be up to most bytes (0: no limit), or as many as the original has.
func (s *Service) Recover(ctx context.Context, a RecoverArgs, most int) (Recovery, error) {
	original, err := s.settings.Store.Get(ctx, a.PruneID)
	if err != nil {
		return Recovery{}, err
	}
	if most > 0 {
		most = max(most, len(original.String())+1)
	}
	size, err := original.Size(a.Ranges, a.Numbers && a.Pattern == nil)
	switch {
	case err != nil:
		return Recovery{}, err
	case a.Pattern != nil && len(a.Ranges) == 0:
		size = len(original.String())
	case most > 0 && size > most:
		return Recovery{}, &AnswerTooLarge{Most: most}
	}
	return Recovery{args: a, original: original, size: size, most: most}, nil
}

// Size is how many bytes are returned, or looked at for a pattern.
func (r Recovery) Size() int { return r.size }

// Whole returns all of the lines.
func (r Recovery) Whole(ctx context.Context) (RecoverResult, error) {
	res, err := r.Page(ctx, r.most)
	if err == nil && res.Metadata.NextRanges != nil { // numbers made matches longer than what was searched
		return RecoverResult{}, &AnswerTooLarge{Most: r.most}
	}
	return res, err
}

// Page returns lines, up to about limit bytes of them (0: no limit).
func (r Recovery) Page(ctx context.Context, limit int) (RecoverResult, error) {
	a := r.args
	res := RecoverResult{Metadata: RecoverMetadata{
		PruneID: a.PruneID, Ranges: a.Ranges, LineNumbering: "original", TotalLines: r.original.Len(),
	}}
	var err error
	if a.Pattern == nil {
		res.RawText, res.Metadata.NextRanges, err = r.original.Page(a.Ranges, a.Numbers, limit)
		res.Metadata.CutsNewline = !a.Numbers && res.Metadata.NextRanges == nil && r.original.CutsNewline(a.Ranges)
		return res, err
	}
	limited, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	count := 0
	res.RawText, count, res.Metadata.NextRanges, err = r.original.Matching(limited, a.Pattern, a.Ranges, limit)
	res.Metadata.MatchCount = &count
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		err = ErrSearchTooSlow
	}
	return res, err
}
