package contextgc_test

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// vectorSegment is a segment in the format of the design's first implementation.
type vectorSegment struct {
	ID      string         `json:"segment_id"`
	Text    string         `json:"text"`
	Type    contextgc.Type `json:"type"`
	Project string         `json:"project_id"`
	Task    *string        `json:"task_id"`
	Created string         `json:"created_at"`
	Touched string         `json:"last_touched_at"`
	Pinned  bool           `json:"pinned"`
	Gen     string         `json:"generation"`
	Refs    int            `json:"refcount"`
	Path    *string        `json:"file_path"`
	Tags    []string       `json:"tags"`
	Topic   *string        `json:"topic_id"`
	Tokens  *int           `json:"tokens"`
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func at(t *testing.T, text string) time.Time {
	t.Helper()
	if text == "" {
		return time.Time{}
	}
	when, err := time.Parse("2006-01-02T15:04:05", text)
	require.NoError(t, err)
	return when
}

func (v vectorSegment) entry(t *testing.T, tier contextgc.Tier) contextgc.Entry {
	t.Helper()
	return contextgc.Entry{Text: v.Text, Segment: contextgc.Segment{
		ID: v.ID, Project: v.Project, Task: value(v.Task), Type: v.Type, Path: value(v.Path), Tokens: value(v.Tokens),
		Created: at(t, v.Created), Touched: at(t, v.Touched), Pinned: v.Pinned, Tier: tier, Old: v.Gen == "old",
		References: v.Refs, Tags: v.Tags, Topic: value(v.Topic),
	}}
}

func segmentsOf(t *testing.T, list []vectorSegment) []contextgc.Segment {
	t.Helper()
	var all []contextgc.Segment
	for _, v := range list {
		all = append(all, v.entry(t, contextgc.Working).Segment)
	}
	return all
}

type vectors struct {
	Meta struct {
		Now string `json:"now"`
	} `json:"meta"`
	Score []struct {
		Type   contextgc.Type `json:"type"`
		Age    float64        `json:"age_hours"`
		Refs   int            `json:"refcount"`
		Gen    string         `json:"generation"`
		Score  float64        `json:"score"`
		Bucket string         `json:"bucket"`
		Note   string         `json:"note"`
	} `json:"score_segment"`
	Reason struct {
		Cases []struct {
			Age    float64        `json:"age"`
			Type   contextgc.Type `json:"type"`
			Refs   int            `json:"refcount"`
			Gen    string         `json:"generation"`
			Reason string         `json:"reason"`
		} `json:"cases"`
	} `json:"candidate_reason"`
	Reach []struct {
		Roots     []string            `json:"roots"`
		Refs      map[string][]string `json:"references"`
		Reachable []string            `json:"reachable"`
	} `json:"compute_reachability"`
	Graph []struct {
		Segments []vectorSegment     `json:"segments"`
		Refs     map[string][]string `json:"references"`
	} `json:"reference_graph"`
	Analyze struct {
		Cases []struct {
			Name       string                `json:"name"`
			Segments   []vectorSegment       `json:"segments"`
			Roots      []string              `json:"roots"`
			Candidates []contextgc.Candidate `json:"candidates"`
		} `json:"cases"`
	} `json:"analyze_candidates"`
	Plan struct {
		Cases []struct {
			Candidates [][]any        `json:"candidates"`
			Target     int            `json:"target_tokens"`
			Plan       contextgc.Plan `json:"plan"`
		} `json:"cases"`
	} `json:"pruning_plan"`
	Handlers []handlerCase `json:"handlers"`
}

type handlerCase struct {
	Name        string          `json:"name"`
	Tool        string          `json:"tool"`
	Args        map[string]any  `json:"args"`
	Segments    []vectorSegment `json:"segments"`
	Stashed     []vectorSegment `json:"stashed"`
	Result      json.RawMessage `json:"result"`
	Recommended json.RawMessage `json:"recommended"`
	After       []struct {
		ID     string         `json:"segment_id"`
		Tier   contextgc.Tier `json:"tier"`
		Pinned bool           `json:"pinned"`
	} `json:"after"`
}

// loadVectors reads values that the design's first implementation computed. They are stored
// beside the repository.
func loadVectors(t *testing.T) vectors {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "fixtures", "contextgc", "vectors.json"))
	if err != nil {
		t.Skip("the vectors are not beside the repository")
	}
	var v vectors
	require.NoError(t, json.Unmarshal(data, &v))
	return v
}

func TestVectorsOfScores(t *testing.T) {
	v := loadVectors(t)
	now := at(t, v.Meta.Now)
	for _, c := range v.Score {
		if c.Note != "" {
			continue // this implementation treats negative ages as 0
		}
		s := contextgc.Segment{Type: c.Type, References: c.Refs, Old: c.Gen == "old", Touched: now.Add(-time.Duration(c.Age * float64(time.Hour)))}
		got := contextgc.Score(s, now)
		assert.InDelta(t, c.Score, got, 1e-6, "%+v", c)
		bucket := "skip"
		if got > contextgc.DeleteScore {
			bucket = "delete"
		} else if got > contextgc.StashScore {
			bucket = "stash"
		}
		assert.Equal(t, c.Bucket, bucket, "%+v", c)
	}
	for _, c := range v.Reason.Cases {
		s := contextgc.Segment{Type: c.Type, References: c.Refs, Old: c.Gen == "old", Touched: now.Add(-time.Duration(c.Age * float64(time.Hour)))}
		assert.Equal(t, c.Reason, contextgc.Reason(s, now))
	}
}

func TestVectorsOfGraphs(t *testing.T) {
	v := loadVectors(t)
	for _, c := range v.Reach {
		assert.ElementsMatch(t, c.Reachable, contextgc.Reachable(c.Roots, c.Refs))
	}
	for _, c := range v.Graph {
		got := contextgc.References(segmentsOf(t, c.Segments))
		assert.Len(t, got, len(c.Refs))
		for id, refs := range c.Refs {
			assert.ElementsMatch(t, refs, got[id], id)
		}
	}
}

func TestVectorsOfCandidates(t *testing.T) {
	v := loadVectors(t)
	for _, c := range v.Analyze.Cases {
		sameCandidates(t, c.Candidates, contextgc.Analyze(segmentsOf(t, c.Segments), c.Roots, at(t, v.Meta.Now)), c.Name)
	}
	for _, c := range v.Plan.Cases {
		var candidates []contextgc.Candidate
		for _, raw := range c.Candidates {
			candidates = append(candidates, contextgc.Candidate{ID: raw[0].(string), Score: raw[1].(float64), Tokens: int(raw[2].(float64))})
		}
		got := contextgc.MakePlan(contextgc.SortCandidates(candidates), c.Target, true)
		assert.Equal(t, c.Plan.Freed, got.Freed)
		assert.Equal(t, c.Plan.Stash, got.Stash)
		assert.Equal(t, c.Plan.Delete, got.Delete)
		assert.Equal(t, c.Plan.Reason, got.Reason)
	}
}

func sameCandidates(t *testing.T, want, got []contextgc.Candidate, name string) {
	t.Helper()
	require.Len(t, got, len(want), name)
	for i := range want {
		assert.InDelta(t, want[i].Score, got[i].Score, 1e-6, name)
		assert.InDelta(t, want[i].AgeHours, got[i].AgeHours, 1e-6, name)
		got[i].Score, got[i].AgeHours = want[i].Score, want[i].AgeHours
		got[i] = got[i].WithoutUse()
	}
	assert.Equal(t, append([]contextgc.Candidate{}, want...), append([]contextgc.Candidate{}, got...), name)
}

func TestVectorsOfTools(t *testing.T) {
	v := loadVectors(t)
	for _, c := range v.Handlers {
		t.Run(c.Name, func(t *testing.T) { c.run(t, at(t, v.Meta.Now)) })
	}
}

func (c handlerCase) run(t *testing.T, now time.Time) {
	name := map[string]string{"context_search_stashed": "context_search"}[c.Tool]
	switch {
	case c.Tool == "context_stash":
		t.Skip("the document has no such tool")
	case name == "":
		name = c.Tool
	}
	store := newStore(t)
	for tier, list := range map[contextgc.Tier][]vectorSegment{contextgc.Working: c.Segments, contextgc.Stashed: c.Stashed} {
		for _, s := range list {
			_, err := store.Put(context.Background(), s.entry(t, tier))
			require.NoError(t, err)
		}
	}
	if filters, ok := c.Args["filters"].(map[string]any); ok {
		delete(c.Args, "filters")
		maps.Copy(c.Args, filters)
	}
	if c.Name == "target too high" {
		c.Args["allow_delete"] = true // the first implementation did not require it
	}
	got, refused := callTool(t, contextgc.Toolset{Store: store, Now: func() time.Time { return now }}, name, c.Args)
	if c.wantsError() {
		assert.True(t, refused)
		return
	}
	require.False(t, refused)
	c.compare(t, got)
	if c.Recommended == nil {
		c.compareAfter(t, store)
	}
}

func (c handlerCase) wantsError() bool {
	want := c.Recommended
	if want == nil {
		want = c.Result
	}
	var e struct{ Error any }
	return json.Unmarshal(want, &e) == nil && e.Error != nil
}

func (c handlerCase) compare(t *testing.T, got map[string]any) {
	t.Helper()
	var want map[string]any
	require.NoError(t, json.Unmarshal(c.Result, &want))
	if c.Recommended != nil {
		require.NoError(t, json.Unmarshal(c.Recommended, &want))
	}
	delete(want, "filters_applied")
	if want["action"] == "deleted" && c.Recommended != nil {
		delete(want, "errors")
		delete(want, "tokens_freed")
	}
	if found, ok := got["segments"].([]any); ok { // the vectors have only the ids
		ids := []any{}
		for _, f := range found {
			ids = append(ids, f.(map[string]any)["segment_id"])
		}
		got["segments"] = ids
	}
	for key, w := range want {
		same(t, w, got[key], key)
	}
}

// same compares JSON values, and numbers to six decimal places.
func same(t *testing.T, want, got any, path string) {
	t.Helper()
	switch w := want.(type) {
	case float64:
		assert.InDelta(t, w, got, 1e-6, path)
	case map[string]any:
		g, _ := got.(map[string]any)
		for k := range w {
			same(t, w[k], g[k], path+"."+k)
		}
	case []any:
		g, _ := got.([]any)
		require.Len(t, g, len(w), path)
		for i := range w {
			same(t, w[i], g[i], path)
		}
	default:
		assert.Equal(t, want, got, path)
	}
}

func (c handlerCase) compareAfter(t *testing.T, store contextgc.Segments) {
	t.Helper()
	total := 0
	for _, tier := range []contextgc.Tier{contextgc.Working, contextgc.Stashed} {
		all, err := store.List(context.Background(), contextgc.Filter{Project: "p", Tier: tier})
		require.NoError(t, err)
		total += len(all)
	}
	assert.Equal(t, len(c.After), total)
	for _, want := range c.After {
		s, _, err := store.Get(context.Background(), contextgc.Reference{Project: "p", ID: want.ID})
		require.NoError(t, err)
		assert.Equal(t, want.Tier, s.Tier, want.ID)
		assert.Equal(t, want.Pinned, s.Pinned, want.ID)
	}
}
