package hook

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
)

// Gain is the total saving and loss of hooks.
type Gain struct {
	Sessions int                 `json:"sessions"`
	Unknown  int                 `json:"results_without_transcript"` // counted at the price of one call
	Total    GainPart            `json:"total"`
	Known    GainPart            `json:"in_transcripts"` // the results that were found in transcripts
	Bill     float64             `json:"bill"`           // total price of the sessions that have these results
	Net      float64             `json:"net_pct"`        // the net of Known in percent of what the bill would be without hooks
	Sent     int                 `json:"tokens_sent"`    // by these sessions, in all prompts
	Less     int                 `json:"tokens_less"`    // that they did not send because of hooks
	Tools    map[string]GainPart `json:"tools"`
	Days     map[string]GainPart `json:"days"`
}

// GainPart is one summand of a Gain. Prices are in fresh input tokens.
type GainPart struct {
	Results int     `json:"results"`
	Tokens  int     `json:"tokens_cut"`
	Gross   float64 `json:"gross"`
	Rereads float64 `json:"rereads"`
	Net     float64 `json:"net"`
	Again   int     `json:"recovered"` // results of which a part was recovered
}

func (a GainPart) plus(b GainPart) GainPart {
	return GainPart{a.Results + b.Results, a.Tokens + b.Tokens, a.Gross + b.Gross, a.Rereads + b.Rereads, a.Net + b.Net, a.Again + b.Again}
}

// errNoGain says that no hook has cut anything.
var errNoGain = errors.New("no hook has cut anything yet; \"mcp-pruner doctor\" says where hooks are set up, and how many results the proxy replaced")

// GainOf adds up what was noted, from the transcripts that the notes name.
func GainOf(ctx context.Context, noted []Note) (*Gain, error) {
	g := &Gain{Tools: map[string]GainPart{}, Days: map[string]GainPart{}}
	byTranscript := map[string][]Note{}
	for _, e := range noted {
		if e.ID != "" && !e.Back {
			byTranscript[e.Transcript] = append(byTranscript[e.Transcript], e)
		}
	}
	if len(byTranscript) == 0 {
		return nil, errNoGain
	}
	for _, path := range slices.Sorted(maps.Keys(byTranscript)) {
		session, err := sessions.OpenCarried(ctx, path)
		if err != nil && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		g.Sessions++
		before := g.Known.Results
		for _, e := range byTranscript[path] {
			g.add(e, session)
		}
		if g.Known.Results > before {
			g.Bill += session.Bill()
			g.Sent += session.Sent()
		}
	}
	if without := g.Bill + g.Known.Net; without > 0 {
		g.Net = 100 * g.Known.Net / without
	}
	return g, nil
}

// add adds a result. session is nil if there is no transcript.
func (g *Gain) add(e Note, session *sessions.Carried) {
	cut := e.Tokens - e.Sent
	saved := session.Saving(e.Call, e.ID, cut)
	if !saved.Known {
		g.Unknown++
	}
	p := GainPart{Results: 1, Tokens: cut, Gross: saved.Gross, Rereads: saved.Rereads, Net: saved.Gross - saved.Rereads}
	if saved.Rereads > 0 {
		p.Again = 1
	}
	g.Total = g.Total.plus(p)
	if saved.Known {
		g.Known = g.Known.plus(p)
		g.Less += saved.Less
	}
	g.Tools[e.Tool] = g.Tools[e.Tool].plus(p)
	day := e.Time.Format(time.DateOnly)
	g.Days[day] = g.Days[day].plus(p)
}
