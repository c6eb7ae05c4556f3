package sessions

import (
	"encoding/json"
	"strings"
)

// claudeEntry is one line of a Claude Code transcript.
type claudeEntry struct {
	Type        string `json:"type"`
	Subtype     string `json:"subtype"`
	SessionID   string `json:"sessionId"`
	AgentID     string `json:"agentId"`
	Sidechain   bool   `json:"isSidechain"`
	Meta        bool   `json:"isMeta"`
	Summary     bool   `json:"isCompactSummary"`
	APIErrorMsg bool   `json:"isApiErrorMessage"`
	Message     *struct {
		ID      string    `json:"id"`
		Role    string    `json:"role"`
		Usage   *apiUsage `json:"usage"`
		Content any       `json:"content"`
	} `json:"message"`
}

// ClaudeReader converts the lines of a Claude Code transcript into steps.
type ClaudeReader struct {
	Session Session

	// Agent selects the sub-agent with that id, whose entries may be in the main transcript; "" selects the
	// main thread.
	Agent string

	message string          // id of the model's current answer
	uses    map[string]Step // by id, for the results
	side    int             // number of entries skipped because they belong to sub-agents
}

// Line adds one line. It skips an invalid line, because the last line of a running session may be
// incomplete.
func (r *ClaudeReader) Line(line []byte) {
	var e claudeEntry
	if json.Unmarshal(line, &e) == nil {
		r.entry(e)
	}
}

func (r *ClaudeReader) entry(e claudeEntry) {
	if e.Sidechain && e.AgentID != "" && e.AgentID != r.Agent || e.Sidechain != (r.Agent != "") && e.AgentID == "" {
		r.side++
		return
	}
	if r.Session.ID == "" && e.SessionID != "" {
		r.Session.ID = e.SessionID
		if r.Agent != "" {
			r.Session.ID += "/" + r.Agent
		}
	}
	switch {
	case e.Type == "system" && e.Subtype == "compact_boundary":
		r.add(Step{Kind: Compact})
		r.message = ""
	case e.Message == nil || e.APIErrorMsg:
	case e.Type == "assistant":
		r.assistant(e)
	case e.Type == "user":
		r.user(e)
	}
}

func (r *ClaudeReader) add(s Step) { r.Session.Steps = append(r.Session.Steps, s) }

func (r *ClaudeReader) assistant(e claudeEntry) {
	if e.Message.ID == "" || e.Message.ID != r.message {
		r.message = e.Message.ID
		r.add(Step{Kind: Call, Usage: e.Message.Usage.usage()})
	} else {
		r.refreshUsage(e.Message.Usage)
	}
	if text, ok := e.Message.Content.(string); ok {
		r.add(Step{Kind: Say, Text: text})
		return
	}
	blocks, _ := e.Message.Content.([]any)
	for _, item := range blocks {
		block, _ := item.(map[string]any)
		switch block["type"] {
		case "text":
			r.add(Step{Kind: Say, Text: str(block["text"])})
		case "thinking":
			r.add(Step{Kind: Say, Think: str(block["thinking"])})
		case "tool_use":
			args, _ := block["input"].(map[string]any)
			r.use(Step{Kind: Use, ID: str(block["id"]), Tool: str(block["name"]), Args: args})
		}
	}
}

// refreshUsage updates the usage from later lines of the same answer, whose output count is the final one.
func (r *ClaudeReader) refreshUsage(u *apiUsage) {
	if u == nil {
		return
	}
	for i := len(r.Session.Steps) - 1; i >= 0; i-- {
		if r.Session.Steps[i].Kind == Call {
			r.Session.Steps[i].Usage = u.usage()
			return
		}
	}
}

func (r *ClaudeReader) use(s Step) {
	if r.uses == nil {
		r.uses = map[string]Step{}
	}
	r.uses[s.ID] = s
	r.add(s)
}

func (r *ClaudeReader) user(e claudeEntry) {
	blocks, isList := e.Message.Content.([]any)
	if !isList {
		if text := plainText(e.Message.Content); text != "" && !e.Meta && !e.Summary {
			r.add(Step{Kind: User, Text: text})
		}
		return
	}
	for _, item := range blocks {
		block, _ := item.(map[string]any)
		switch block["type"] {
		case "tool_result":
			use := r.uses[str(block["tool_use_id"])]
			failed, _ := block["is_error"].(bool)
			r.add(Step{Kind: Result, ID: use.ID, Tool: use.Tool, Args: use.Args, Out: plainText(block["content"]), Err: failed})
		case "text":
			text := str(block["text"])
			if !e.Meta && !e.Summary && !strings.HasPrefix(text, "<system-reminder>") {
				r.add(Step{Kind: User, Text: text})
			}
		}
	}
}

func str(v any) string {
	s, _ := v.(string)
	return s
}
