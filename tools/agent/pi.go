package agent

import (
	_ "embed"
	"encoding/json"
	"path/filepath"
	"regexp"
	"sync"
)

// Pi is pi, a coding agent without MCP of its own. docs/clients/pi.md has what was measured.
var Pi = Client{
	Name:  "pi",
	Title: "pi",
	Files: Files{
		Folder: Folder{Variable: "PI_CODING_AGENT_DIR", Default: ".pi/agent"},
		Hooks:  File{Name: "extensions/mcp-pruner.js"},
	},
	Transcripts: Transcripts{Folder: "sessions", Head: piHead, Steps: piSteps},
	Results:     Results{Limits: map[string]Limit{AnyTool: {Lines: 2000, Bytes: 50_000}}},
	Hooks:       &piHooks,
	Prefix:      &piPrefix,
}

//go:embed pi.js
var piPlugin string

// piHooks: our extension sends the data of a call, and replaces the result by the output of the answer.
var piHooks = Hooks{
	Plugin: piPlugin,
	Read: func(m Message, _ func(string) string) (Call, Occasion) {
		c := Call{
			Session: m.Text("session"), Folder: m.Text("directory"), Transcript: m.Text("transcript"), ID: m.Text("call"),
			Tool: m.Text("tool"), Args: m.Child("args"), Text: m.Text("output"),
		}
		if c.Text == "" {
			return c, Unconcerned
		}
		return c, ToolEnded
	},
	Answer: func(_ Message, _ string, r Replacement) any { return map[string]any{"output": r.Text} },
}

type piLine struct {
	Type      string `json:"type"`
	Version   int    `json:"version"`
	ID        string `json:"id"`
	Timestamp string `json:"timestamp"`
	Cwd       string `json:"cwd"`
	Message   struct {
		Role       string          `json:"role"`
		Content    json.RawMessage `json:"content"` // a text or blocks
		Model      string          `json:"model"`
		ToolCallID string          `json:"toolCallId"`
		ToolName   string          `json:"toolName"`
		IsError    bool            `json:"isError"`
		Usage      *struct {
			Input, Output, CacheRead, CacheWrite int

			CacheWrite1h int // the part of CacheWrite that is kept for an hour
		} `json:"usage"`
	} `json:"message"`
}

type piBlock struct {
	Type      string         `json:"type"`
	Text      string         `json:"text"`
	Thinking  string         `json:"thinking"`
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments"`
}

func piHead(line []byte) (Head, bool) {
	var l piLine
	if json.Unmarshal(line, &l) != nil || l.Type != "session" || l.Version == 0 {
		return Head{}, false
	}
	return Head{ID: l.ID, Project: l.Cwd, Begun: l.Timestamp}, true
}

func piSteps(line []byte) []Step {
	var l piLine
	if json.Unmarshal(line, &l) != nil {
		return nil
	}
	if l.Type == "compaction" {
		return []Step{{Kind: Compact}}
	}
	var blocks []piBlock
	if json.Unmarshal(l.Message.Content, &blocks) != nil {
		var text string
		_ = json.Unmarshal(l.Message.Content, &text) // neither: no text
		blocks = []piBlock{{Type: "text", Text: text}}
	}
	switch l.Message.Role {
	case "user":
		return []Step{{Kind: User, Text: piText(blocks)}}
	case "toolResult":
		return []Step{{Kind: Result, ID: l.Message.ToolCallID, Tool: l.Message.ToolName, Out: piText(blocks), Err: l.Message.IsError}}
	case "assistant":
		turn := Step{Kind: Turn, Model: l.Message.Model, Stamp: l.Timestamp}
		if u := l.Message.Usage; u != nil {
			turn.Usage = &Usage{Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Output: u.Output, Hour: max(min(u.CacheWrite1h, u.CacheWrite), 0)}
		}
		return append([]Step{turn}, piSaid(blocks)...)
	}
	return nil
}

func piSaid(blocks []piBlock) (steps []Step) {
	for _, b := range blocks {
		switch b.Type {
		case "text":
			steps = append(steps, Step{Kind: Say, Text: b.Text})
		case "thinking":
			steps = append(steps, Step{Kind: Say, Think: b.Thinking})
		case "toolCall":
			steps = append(steps, Step{Kind: Use, ID: b.ID, Tool: b.Name, Args: b.Arguments})
		}
	}
	return steps
}

func piText(blocks []piBlock) (text string) {
	for _, b := range blocks {
		text += b.Text
	}
	return text
}

// piPrefix: pi is started with a folder of its own, which has the stand-in as its only provider, and links to all else but the
// user's keys, models and sessions.
var piPrefix = Prefix{
	Turn: []string{"bash", "read"},
	Start: func(o Occurrence) Launch {
		l := Launch{
			Args: []string{"--provider", "stand_in", "--model", "stand-in", "--no-session", "-p", o.Prompt},
			Env:  map[string]string{"PI_CODING_AGENT_DIR": o.Path("agent"), "PI_OFFLINE": "1", "PI_TELEMETRY": "0"},
			Files: map[string]any{"agent/models.json": map[string]any{"providers": map[string]any{"stand_in": map[string]any{
				"baseUrl": o.URL + "/v1", "api": "openai-completions", "apiKey": NoKey, "models": []any{map[string]any{"id": "stand-in"}},
			}}}},
			Links: map[string]string{},
			For:   map[string]string{o.Path("agent"): o.Dir},
		}
		for _, name := range o.Entries {
			if name != "models.json" && name != "auth.json" && name != "sessions" {
				l.Links["agent/"+name] = filepath.Join(o.Dir, name)
			}
		}
		return l
	},
	Shared:   []string{".pi"},
	Started:  []string{"packages"},
	Switch:   func(Thing) *Switch { return nil }, // it has none
	Tokens:   1_100,
	Listings: piListings,
}

var piListings = sync.OnceValue(func() []Listing {
	return []Listing{{"skill", regexp.MustCompile(skillList), regexp.MustCompile(skillItem)}}
})
