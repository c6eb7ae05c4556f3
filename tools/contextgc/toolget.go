package contextgc

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/schema"
)

// getArgs are the arguments of context_get.
type getArgs struct {
	Project   string // "": any
	ID        string
	FirstLine int // 0: from the start
	LastLine  int // 0: to the end
	Pattern   *regexp.Regexp
}

func getSchema() json.RawMessage {
	return object([]string{"segment_id"}, map[string]*property{
		"project_id": id("Which project's segment; any by default."),
		"segment_id": id("The segment, such as s12."),
		"start_line": number("First line, from 1.", 1, math.MaxInt32),
		"end_line":   number("Last line.", 1, math.MaxInt32),
		"pattern":    text("Only lines that match this regular expression (RE2), with their numbers."),
	})
}

func (t Toolset) getCall(a arguments) (tools.Call, []tools.Issue) {
	args := getArgs{Project: a.text("project_id"), ID: a.text("segment_id"), FirstLine: a.number("start_line"), LastLine: a.number("end_line")}
	var issues []tools.Issue
	if args.LastLine > 0 && args.FirstLine > args.LastLine {
		issues = append(issues, tools.Issue{Path: "start_line", Code: schema.Custom})
	}
	if pattern := a.text("pattern"); pattern != "" {
		var err error
		if args.Pattern, err = regexp.Compile(pattern); err != nil {
			issues = append(issues, tools.Issue{Path: "pattern", Code: schema.InvalidString})
		}
	}
	about := tools.Subject{PruneID: args.ID, Part: args.FirstLine > 0 || args.LastLine > 0 || args.Pattern != nil}
	return call{tool: "context_get", about: about, run: func(ctx context.Context) (output, error) {
		return t.get(ctx, args)
	}}, issues
}

// Got is the result of context_get without the text.
type Got struct {
	SegmentInfo
	Text       string `json:"text"`
	TotalLines int    `json:"total_lines"`
	Matches    *int   `json:"match_count,omitempty"`
}

// get returns a segment's text, a range of its lines, or the lines that match.
func (t Toolset) get(ctx context.Context, a getArgs) (output, error) {
	segment, body, err := t.segment(ctx, a)
	if err != nil {
		return output{}, err
	}
	_, _ = t.Store.Change(ctx, segment.Project, []string{segment.ID}, Touch) // a text is returned even if its use cannot be stored, as on a full disk
	got := Got{SegmentInfo: info(segment)}
	if got.Text, got.TotalLines, got.Matches = selectLines(body, a.FirstLine, a.LastLine, a.Pattern); got.Text == "" {
		return output{fields: got, isText: true, notice: got.emptiness()}, nil
	}
	return output{fields: got, text: got.Text, isText: true}, nil
}

// segment finds a segment by its own id, or by the id that the agent was shown in place of its text.
func (t Toolset) segment(ctx context.Context, a getArgs) (Segment, string, error) {
	what := Reference{Project: a.Project, ID: a.ID}
	if t.Shown != nil {
		if hash, ok := t.Shown(ctx, a.ID); ok {
			what.Hash = &hash
		}
	}
	return t.Store.Get(ctx, what)
}

func (g Got) emptiness() string {
	if g.Matches != nil {
		return "no line matches"
	}
	return fmt.Sprintf("nothing there: the segment has %d lines", g.TotalLines)
}

// selectLines returns lines first to last of a text byte for byte, and the number of lines of
// the whole text. With a pattern it returns the matching lines, each after its number and a
// colon, and their number.
func selectLines(body string, first, last int, pattern *regexp.Regexp) (part string, total int, matches *int) {
	if first == 0 && last == 0 && pattern == nil {
		return body, tools.CountLines(body), nil
	}
	last = cmp.Or(last, math.MaxInt)
	var out strings.Builder
	found := 0
	for line := range strings.Lines(body) {
		total++
		if total < first || total > last {
			continue
		}
		if pattern == nil {
			out.WriteString(line)
		} else if pattern.MatchString(strings.TrimSuffix(line, "\n")) {
			found++
			fmt.Fprintf(&out, "%d:%s", total, line)
		}
	}
	if pattern != nil {
		matches = &found
	}
	return out.String(), total, matches
}

// SegmentInfo is the form of a segment in results.
type SegmentInfo struct {
	ID           string `json:"segment_id"`
	Project      string `json:"project_id"`
	Task         string `json:"task_id,omitempty"`
	Type         Type   `json:"segment_type"`
	Tool         string `json:"source_tool,omitempty"`
	Path         string `json:"path,omitempty"`
	FirstLine    int    `json:"start_line,omitempty"`
	LastLine     int    `json:"end_line,omitempty"`
	Tokens       int    `json:"tokens"`
	Bytes        int    `json:"bytes"`
	Created      string `json:"created_at"`
	Pinned       bool   `json:"pinned"`
	Tier         Tier   `json:"tier"`
	SupersededBy string `json:"superseded_by,omitempty"`
}

func info(s Segment) SegmentInfo {
	return SegmentInfo{
		ID: s.ID, Project: s.Project, Task: s.Task, Type: s.Type, Tool: s.Tool, Path: s.Path, FirstLine: s.FirstLine,
		LastLine: s.LastLine, Tokens: s.Tokens, Bytes: s.Bytes, Created: s.Created.UTC().Format(time.RFC3339), Pinned: s.Pinned,
		Tier: s.Tier, SupersededBy: s.SupersededBy,
	}
}

func searchSchema(t Toolset) json.RawMessage {
	kinds := make([]string, 0, len(types()))
	for _, kind := range types() {
		kinds = append(kinds, string(kind))
	}
	return object([]string{"project_id"}, map[string]*property{
		"project_id": t.project(),
		"query":      text("Words that must all occur."),
		"task_id":    id("Only of this task."),
		"type":       choice("Only of this type.", kinds...),
		"tier":       choice("Only in this tier.", string(Working), string(Stashed)),
		"path":       text("Only of this file."),
		"tags":       ids("Only with all of these tags."),
		"limit":      number("At most this many (default 20).", 1, 1000),
	})
}

func (t Toolset) searchCall(a arguments) (tools.Call, []tools.Issue) {
	q := Query{
		Project: a.text("project_id"), Text: a.text("query"), Task: a.text("task_id"), Type: Type(a.text("type")),
		Tier: Tier(a.text("tier")), Path: a.text("path"), Tags: a.texts("tags"), Limit: a.number("limit"),
	}
	return call{tool: "context_search", run: func(ctx context.Context) (output, error) {
		result, err := t.search(ctx, q)
		return output{fields: result}, err
	}}, nil
}

// Found is the result of context_search.
type Found struct {
	Segments []FoundSegment `json:"segments"`
	Total    int            `json:"total_matches"`
	Query    string         `json:"query"`
	Message  string         `json:"message,omitempty"`
}

// FoundSegment is one segment in the result of context_search.
type FoundSegment struct {
	SegmentInfo
	Line    int    `json:"line"` // line number of the excerpt
	Excerpt string `json:"excerpt"`
}

// search finds segments by the words of their texts.
func (t Toolset) search(ctx context.Context, q Query) (Found, error) {
	hits, total, err := t.Store.Search(ctx, q)
	result := Found{Segments: []FoundSegment{}, Total: total, Query: q.Text}
	for _, h := range hits {
		result.Segments = append(result.Segments, FoundSegment{info(h.Segment), h.Line, h.Excerpt})
	}
	if total == 0 {
		result.Message = "no segments match"
	}
	return result, err
}
