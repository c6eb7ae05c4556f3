package sessions

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// claudeEntry is one line of a Claude Code transcript.
type claudeEntry struct {
	Type        string `json:"type"`
	Subtype     string `json:"subtype"`
	SessionID   string `json:"sessionId"`
	AgentID     string `json:"agentId"`
	Folder      string `json:"cwd"`
	Version     string `json:"version"`
	Time        string `json:"timestamp"`
	Sidechain   bool   `json:"isSidechain"`
	Meta        bool   `json:"isMeta"`
	Summary     bool   `json:"isCompactSummary"`
	APIErrorMsg bool   `json:"isApiErrorMessage"`
	Message     *struct {
		ID      string    `json:"id"`
		Role    string    `json:"role"`
		Model   string    `json:"model"`
		Usage   *apiUsage `json:"usage"`
		Content any       `json:"content"`
	} `json:"message"`
	Attachment any `json:"attachment"`
}

// claudeFormat is how Claude Code writes its transcripts.
var claudeFormat = format{
	decode: func(line []byte) (any, error) {
		var e claudeEntry
		err := json.Unmarshal(line, &e)
		return e, err
	},
	reader: func(sub string) reader {
		return &claudeReader{session: Session{Source: agent.Claude.Name}, agent: sub, uses: map[string]Step{}}
	},
	mayBePrompt: func(line []byte) bool {
		if !bytes.Contains(line, []byte(`"user"`)) {
			return false
		}
		message := line[:until(line, beforeUnused, 'U')]
		return until(message, []byte(`"text"`), 'x') < len(message) || !bytes.Contains(message, []byte(`"tool_result"`))
	},
}

// until returns the offset at which a part begins in a line, or the length of the line. It searches for rare, the byte of the part
// that is rarest in such lines: bytes.Index searches for the first byte, and stops at every quote of a line of JSON.
func until(line, part []byte, rare byte) int {
	before := bytes.IndexByte(part, rare)
	for i := before; i < len(line); i++ {
		next := bytes.IndexByte(line[i:], rare)
		if next < 0 {
			break
		}
		i += next
		if bytes.HasPrefix(line[i-before:], part) {
			return i - before
		}
	}
	return len(line)
}

// claudeReader converts the lines of a Claude Code transcript into steps.
type claudeReader struct {
	session Session

	// agent selects the sub-agent with that id, whose entries may be in the main transcript; "" selects the
	// main thread.
	agent string

	message string          // id of the model's current answer
	uses    map[string]Step // by id, for the results
	side    int             // number of entries skipped because they belong to sub-agents
}

func (r *claudeReader) read() *Session { return &r.session }

func (r *claudeReader) entry(line any) {
	e, _ := line.(claudeEntry)
	if e.Sidechain && e.AgentID != "" && e.AgentID != r.agent || e.Sidechain != (r.agent != "") && e.AgentID == "" {
		r.side++
		return
	}
	if r.session.ID == "" && e.SessionID != "" {
		r.session.ID = e.SessionID
		if r.agent != "" {
			r.session.ID += "/" + r.agent
		}
	}
	r.session.begin(e.Folder, e.Version, e.Time)
	switch {
	case e.Type == "system" && e.Subtype == "compact_boundary":
		r.add(Step{Kind: Compact})
		r.message = ""
	case e.Type == "attachment":
		r.attached(e.Attachment)
	case e.Message == nil || e.APIErrorMsg:
	case e.Type == "assistant":
		r.assistant(e)
	case e.Type == "user":
		r.user(e)
	}
}

func (r *claudeReader) add(s Step) { r.session.Steps = append(r.session.Steps, s) }

func (r *claudeReader) assistant(e claudeEntry) {
	if e.Message.ID == "" || e.Message.ID != r.message {
		r.message = e.Message.ID
		r.add(Step{Kind: Call, Usage: e.Message.Usage.usage(), Model: e.Message.Model, At: r.session.since(e.Time)})
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

// attached adds what the client put into the prompt by itself: a list of skills, a file that changed. Each type has a form
// of its own; the texts in it are what the model sees, nearly.
func (r *claudeReader) attached(attachment any) {
	members, _ := attachment.(map[string]any)
	kind := str(members["type"])
	if kind == "" || notSent[kind] {
		return
	}
	shown := members[shownMembers[kind]]
	if shown == nil {
		members = maps.Clone(members)
		delete(members, "type")
		shown = members
	}
	r.add(Step{Kind: Attach, Type: kind, Text: strings.Join(texts(shown), "\n")})
}

// shownMembers are the members that the model sees, of attachments that have others beside it, such as the names in a listing.
var shownMembers = map[string]string{
	"skill_listing": "content", "agent_listing_delta": "addedLines", "deferred_tools_delta": "addedLines", "mcp_instructions_delta": "addedBlocks",
}

// notSent are the attachments that Claude Code writes into its transcript only.
var notSent = map[string]bool{"hook_success": true}

// texts returns the strings in a JSON value, those of an object in the order of its keys.
func texts(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var all []string
		for _, item := range v {
			all = append(all, texts(item)...)
		}
		return all
	case map[string]any:
		var all []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			all = append(all, texts(v[name])...)
		}
		return all
	}
	return nil
}

// refreshUsage updates the usage from later lines of the same answer, whose output count is the final one.
func (r *claudeReader) refreshUsage(u *apiUsage) {
	if u == nil {
		return
	}
	for i := len(r.session.Steps) - 1; i >= 0; i-- {
		if r.session.Steps[i].Kind == Call {
			r.session.Steps[i].Usage = u.usage()
			return
		}
	}
}

func (r *claudeReader) use(s Step) {
	r.uses[s.ID] = s
	r.add(s)
}

func (r *claudeReader) user(e claudeEntry) {
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
