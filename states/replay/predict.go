package replay

import (
	"context"
	"errors"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
)

// Prediction is the cut that replay expects a hook to make of a result.
type Prediction struct {
	Step   int // index of the result's step
	Pruned bool
	Body   existing.Body
	Cut    existing.Cut // if the result is pruned

	Call   history.ToolCall
	Needed map[int]bool // lines of the body that the agent used later, from 1
}

// Predict returns the predictions for the results of a session that a later prompt contains. The test of the hooks
// compares them with the hooks' output.
func Predict(ctx context.Context, s sessions.Session, others history.OtherTools) ([]Prediction, error) {
	t, err := try(ctx, sessions.NewBill(s, sessions.DefaultPrices), others, false, Experiment{})
	if err != nil {
		return nil, err
	}
	var list []Prediction
	for i, r := range t.Results {
		p := Prediction{Step: r.Step}
		a, tried := t.attempts[i]
		if p.Pruned = tried && t.prunes(Hook, a); p.Pruned {
			p.Body, p.Cut, p.Call, p.Needed = a.body, a.cut, r.Parsed, map[int]bool{}
			for _, line := range t.neededLines(i) {
				p.Needed[line+1] = true
			}
		}
		if r.Weight > 0 {
			list = append(list, p)
		}
	}
	return list, nil
}

// LatestCuts returns the latest results that hooks would cut, newest first. The files are read in their order until there are count.
func LatestCuts(ctx context.Context, files []string, others history.OtherTools, count int) (found []Prediction, err error) {
	for _, file := range files {
		if len(found) >= count {
			break
		}
		var inFile []Prediction
		err := sessions.ReadFile(ctx, file, func(s sessions.Session) error {
			list, err := Predict(ctx, s, others)
			for _, one := range list {
				if one.Pruned && !one.Cut.Whole() {
					inFile = append(inFile, one)
				}
			}
			inFile = inFile[max(len(inFile)-count, 0):]
			return err
		})
		if err != nil && ctx.Err() != nil {
			return nil, errors.Join(err, ctx.Err())
		}
		slices.Reverse(inFile) // lines that cannot be read cost only themselves
		found = append(found, inFile...)
	}
	return found[:min(len(found), count)], nil
}
