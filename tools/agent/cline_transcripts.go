package agent

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// clineTranscripts: a session is ID.messages.json, and ID.json beside it says where and when it was.
var clineTranscripts = Transcripts{Folder: "data/sessions", Document: &Document{Suffix: ".messages.json", About: ".json", Read: clineSession}}

type clineDocument struct {
	SessionID string `json:"sessionId"`
	Origin    struct {
		Version string `json:"version"`
	} `json:"origin"`
	Messages []clineMessage `json:"messages"`
}

type clineMessage struct {
	Role      string       `json:"role"`
	Content   []clineBlock `json:"content"`
	TS        int64        `json:"ts"` // ms
	ModelInfo struct {
		ID string `json:"id"`
	} `json:"modelInfo"`
	Metrics *struct {
		Input      int `json:"inputTokens"`
		Output     int `json:"outputTokens"`
		CacheRead  int `json:"cacheReadTokens"`
		CacheWrite int `json:"cacheWriteTokens"`
	} `json:"metrics"`
}

type clineBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     map[string]any  `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
}

// clinePart is a part of a result: of a call that runs several commands, reads several files or makes several searches.
type clinePart struct {
	Result  any  `json:"result"`
	Success bool `json:"success"`
}

func clineSession(text, about []byte) (Head, []Step, bool) {
	var d clineDocument
	if json.Unmarshal(text, &d) != nil || d.SessionID == "" {
		return Head{}, nil, false
	}
	var session struct {
		Cwd       string `json:"cwd"`
		StartedAt string `json:"started_at"`
	}
	_ = json.Unmarshal(about, &session) // without it the project is not known
	h := Head{ID: d.SessionID, Project: session.Cwd, Version: d.Origin.Version, Begun: session.StartedAt}
	var steps []Step
	for _, m := range d.Messages {
		steps = append(steps, m.steps()...)
	}
	return h, steps, true
}

func (m clineMessage) steps() (steps []Step) {
	said := User
	if m.Role == "assistant" {
		said = Say
		turn := Step{Kind: Turn, Model: m.ModelInfo.ID, Stamp: time.UnixMilli(m.TS).UTC().Format(time.RFC3339Nano)}
		if u := m.Metrics; u != nil {
			turn.Usage = &Usage{Input: max(u.Input-u.CacheRead-u.CacheWrite, 0), CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Output: u.Output}
		}
		steps = append(steps, turn)
	}
	for _, b := range m.Content {
		switch b.Type {
		case "text":
			steps = append(steps, Step{Kind: said, Text: clinePrompt(b.Text)})
		case "thinking":
			steps = append(steps, Step{Kind: Say, Think: b.Thinking})
		case "tool_use":
			steps = append(steps, b.uses()...)
		case "tool_result":
			steps = append(steps, b.results()...)
		}
	}
	return steps
}

// clinePrompt takes what Cline puts around the user's words off them.
func clinePrompt(text string) string {
	rest, wrapped := strings.CutPrefix(text, "<user_input")
	_, rest, closed := strings.Cut(rest, ">")
	if !wrapped || !closed {
		return text
	}
	return strings.TrimSuffix(rest, "</user_input>")
}

// uses returns a call for each part of one: the plugin prunes each part by itself.
func (b clineBlock) uses() (steps []Step) {
	for i, args := range clineParts(b.Input) {
		steps = append(steps, Step{Kind: Use, ID: clinePartID(b.ID, i), Tool: b.Name, Args: args})
	}
	return steps
}

func clinePartID(id string, part int) string {
	if part == 0 {
		return id
	}
	return id + "/" + strconv.Itoa(part)
}

// clineParts returns the arguments of each part, as the plugin sends them.
func clineParts(input map[string]any) (parts []map[string]any) {
	for _, a := range []struct{ list, each string }{{"commands", "command"}, {"files", "path"}, {"queries", "pattern"}} {
		list, _ := input[a.list].([]any)
		for _, one := range list {
			if args, ok := one.(map[string]any); ok {
				parts = append(parts, args)
				continue
			}
			parts = append(parts, map[string]any{a.each: one})
		}
	}
	if parts == nil {
		return []map[string]any{input}
	}
	return parts
}

func (b clineBlock) results() (steps []Step) {
	var parts []clinePart
	if json.Unmarshal(b.Content, &parts) != nil || len(parts) == 0 {
		return []Step{{Kind: Result, ID: b.ToolUseID, Tool: b.Name, Out: clineText(b.Content)}}
	}
	for i, p := range parts {
		out, isText := p.Result.(string)
		if !isText {
			encoded, _ := json.Marshal(p.Result) // decoded from JSON
			out = string(encoded)
		}
		steps = append(steps, Step{Kind: Result, ID: clinePartID(b.ToolUseID, i), Tool: b.Name, Out: out, Err: !p.Success})
	}
	return steps
}

// clineText returns a text, or anything else as the model is sent it.
func clineText(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	return string(content)
}
