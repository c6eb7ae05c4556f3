package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
)

// RecoverResult is the answer of recover_text.
type RecoverResult struct {
	RawText  string          `json:"raw_text"`
	Metadata RecoverMetadata `json:"metadata"`
}

// RecoverMetadata describes RawText.
type RecoverMetadata struct {
	PruneID       string           `json:"prune_id"`
	Ranges        []recovery.Range `json:"ranges"` // as asked for
	LineNumbering string           `json:"line_numbering"`
	TotalLines    int              `json:"total_lines"`
	MatchCount    *int             `json:"match_count,omitempty"` // with a pattern

	// NextRanges holds the ranges for the next page if the answer was cut at a page.
	NextRanges []recovery.Range `json:"next_ranges,omitempty"`
	// CutsNewline says that RawText ends with the text's last line but without its final
	// newline.
	CutsNewline bool `json:"final_newline_cut,omitempty"`
}

// AnswerTooLarge means that the ranges exceed the size limit of an answer, or are too many.
type AnswerTooLarge struct{ Most int } // bytes

func (e *AnswerTooLarge) Error() string {
	return fmt.Sprintf("answer_too_large: more than %d bytes", e.Most)
}

// ErrSearchTooSlow means that the search for a pattern took longer than searchTime.
var ErrSearchTooSlow = errors.New("search_too_slow")

const searchTime, maxRanges = 10 * time.Second, 1000 // each range may be the whole text

// Recovery is a call of recover_text whose original was found. Its size is known before the
// answer is built.
type Recovery struct {
	args     RecoverArgs
	original recovery.Text
	size     int
	most     int
}

// Recover finds an original. It returns *recovery.NotFound, *recovery.BadRange or
// *AnswerTooLarge, checked in this order, or an error of the store. An answer may have up
// to most bytes (0: no limit), or the size of the original if that is larger.
func (s *Service) Recover(ctx context.Context, a RecoverArgs, most int) (Recovery, error) {
	original, err := s.settings.Store.Get(ctx, a.PruneID)
	if err != nil {
		return Recovery{}, err
	}
	if lines := original.Len(); a.Whole && len(a.Ranges) == 0 && a.Pattern == nil && lines > 0 {
		a.Ranges = []recovery.Range{{Start: 1, End: lines}}
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
	case most > 0 && size > most, len(a.Ranges) > maxRanges:
		return Recovery{}, &AnswerTooLarge{Most: most}
	}
	return Recovery{args: a, original: original, size: size, most: most}, nil
}

// Size returns the number of bytes to return or, with a pattern, to search.
func (r Recovery) Size() int { return r.size }

// Whole returns all lines.
func (r Recovery) Whole(ctx context.Context) (RecoverResult, error) {
	res, err := r.Page(ctx, r.most)
	if err == nil && res.Metadata.NextRanges != nil { // numbered matches can exceed the text
		return RecoverResult{}, &AnswerTooLarge{Most: r.most}
	}
	return res, err
}

// Page returns lines up to about limit bytes (0: no limit).
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
