package sessions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// codexEntry is one line of a Codex rollout file.
type codexEntry struct {
	Time    string    `json:"timestamp"`
	Type    string    `json:"type"`
	Payload codexItem `json:"payload"`
}

// codexItem is a response item or an event message.
type codexItem struct {
	Type      string          `json:"type"`
	Folder    string          `json:"cwd"`         // session_meta
	Version   string          `json:"cli_version"` // session_meta
	Time      string          `json:"timestamp"`   // session_meta
	Model     string          `json:"model"`       // turn_context
	ID        string          `json:"id"`
	Role      string          `json:"role"`
	Name      string          `json:"name"`
	Namespace string          `json:"namespace"`
	CallID    string          `json:"call_id"`
	Arguments string          `json:"arguments"`
	Input     string          `json:"input"`
	Content   any             `json:"content"`
	Summary   any             `json:"summary"`
	Output    json.RawMessage `json:"output"`
	Action    struct {
		Command []any `json:"command"`
	} `json:"action"`
	ExitCode *int     `json:"exit_code"` // event exec_command_end, of older versions
	Item     struct { // event item_completed
		Type     string `json:"type"`
		ID       string `json:"id"`
		ExitCode *int   `json:"exit_code"`
	} `json:"item"`
	Info *struct {
		Last  codexUsage `json:"last_token_usage"`
		Total codexUsage `json:"total_token_usage"`
	} `json:"info"`
	Limits struct {
		Plan string `json:"plan_type"` // none with an API key
	} `json:"rate_limits"`
}

type codexUsage struct {
	Input  int `json:"input_tokens"`
	Cached int `json:"cached_input_tokens"`
	Output int `json:"output_tokens"`
}

// codexFormat is how Codex writes its rollout files.
var codexFormat = format{
	decode: func(line []byte) (any, error) {
		var e codexEntry
		err := json.Unmarshal(line, &e)
		return e, err
	},
	reader: func(string) reader {
		return &codexReader{session: Session{Source: agent.Codex.Name}, uses: map[string]Step{}, running: map[string]any{}}
	},
	mayBePrompt: func(line []byte) bool { return bytes.Contains(line, []byte(`"user"`)) },
}

// codexReader converts the lines of a Codex rollout file into steps. A model call begins with the first
// item of an answer and ends with the token count, or with the first result where that comes earlier.
type codexReader struct {
	session Session
	open    int // index of the current call plus one; 0: none
	latest  int // the same of the latest call that began
	total   codexUsage
	uses    map[string]Step
	running map[string]any // commands that go on, by Codex's number for them
	model   string
	now     string // time stamp of the line
}

func (r *codexReader) read() *Session { return &r.session }

func (r *codexReader) entry(line any) {
	e, _ := line.(codexEntry)
	item := e.Payload
	r.now = e.Time
	switch e.Type {
	case "session_meta":
		if r.session.ID == "" {
			r.session.ID = item.ID
		}
		r.session.begin(item.Folder, item.Version, item.Time)
	case "turn_context":
		r.model = item.Model
	case "compacted":
		r.add(Step{Kind: Compact})
		r.open = 0
	case "response_item":
		r.item(item)
	case "event_msg":
		r.event(item)
	}
}

func (r *codexReader) add(s Step) { r.session.Steps = append(r.session.Steps, s) }

func (r *codexReader) event(item codexItem) {
	switch {
	case item.Type == "item_completed" && item.Item.Type == "CommandExecution":
		r.exited(item.Item.ID, item.Item.ExitCode)
	case item.Type == "exec_command_end":
		r.exited(item.CallID, item.ExitCode)
	}
	r.session.Plan = r.session.Plan || item.Limits.Plan != ""
	if item.Type == "token_count" && item.Info != nil {
		r.counted(item.Info.Last, item.Info.Total)
	}
}

// counted records the usage of the latest call. A count is repeated, with the same total, when limits of the account change.
func (r *codexReader) counted(last, total codexUsage) {
	if r.latest == 0 || total == r.total && total != (codexUsage{}) {
		return
	}
	r.total, r.open = total, 0
	r.session.Steps[r.latest-1].Usage = &Usage{Input: max(last.Input-last.Cached, 0), CacheRead: last.Cached, Output: last.Output}
}

// exited records the exit status of a call's command. It is in the transcript before Codex runs its hooks.
func (r *codexReader) exited(id string, status *int) {
	if status == nil {
		return
	}
	if r.session.Exits == nil {
		r.session.Exits = map[string]int{}
	}
	r.session.Exits[id] = *status
}

func (r *codexReader) item(item codexItem) {
	switch item.Type {
	case "message":
		r.message(item)
	case "reasoning":
		r.answer(Step{Kind: Say, Think: plainText(item.Summary)})
	case "function_call", "custom_tool_call", "local_shell_call":
		r.use(item)
	case "web_search_call", "image_generation_call": // the API's own tools, of which it records no result
		r.answer(Step{Kind: Use, Tool: strings.TrimSuffix(item.Type, "_call")})
	case "function_call_output", "custom_tool_call_output":
		use := r.uses[item.CallID]
		out := codexOutput(item.Output)
		r.open = 0
		r.process(use, out)
		if status, ok := agent.CodexExit(out); ok {
			r.exited(item.CallID, &status)
		}
		r.add(Step{Kind: Result, ID: item.CallID, Tool: use.Tool, Args: use.Args, Out: out})
	}
}

func (r *codexReader) message(item codexItem) {
	text := plainText(item.Content)
	switch {
	case item.Role == "assistant":
		r.answer(Step{Kind: Say, Text: text})
	case item.Role == "user" && !strings.HasPrefix(text, "<environment_context>") && !strings.HasPrefix(text, "# AGENTS.md"):
		r.open = 0
		r.add(Step{Kind: User, Text: text})
	}
}

// answer adds a step of the model's answer, preceded by the call if it is the first.
func (r *codexReader) answer(s Step) {
	if r.open == 0 {
		r.add(Step{Kind: Call, Model: r.model, At: r.session.since(r.now)})
		r.open = len(r.session.Steps)
		r.latest = r.open
	}
	r.add(s)
}

func (r *codexReader) use(item codexItem) {
	args := map[string]any{}
	switch {
	case item.Type == "local_shell_call":
		item.Name, args["command"] = "local_shell", item.Action.Command
	case item.Arguments != "":
		if json.Unmarshal([]byte(item.Arguments), &args) != nil {
			args = map[string]any{"input": item.Arguments}
		}
	default:
		args["input"] = item.Input
	}
	if item.Namespace != "" && !strings.HasPrefix(item.Name, item.Namespace) {
		item.Name = strings.TrimSuffix(item.Namespace, "__") + "__" + item.Name
	}
	step := Step{Kind: Use, ID: item.CallID, Tool: item.Name, Args: args}
	r.uses[item.CallID] = step
	r.answer(step)
}

// process connects the calls that wait for a command with the one that started it: the call that sees its end gets the
// command among its arguments.
func (r *codexReader) process(use Step, out string) {
	number, ended := agent.CodexProcess(out)
	switch {
	case use.Tool == agent.CodexWaits && ended:
		if start, ok := r.running[fmt.Sprint(use.Args["session_id"])]; ok {
			use.Args["cmd"] = start
		}
	case use.Tool != agent.CodexWaits && number != "":
		r.running[number] = use.Args["cmd"]
	}
}

// codexOutput returns the text of a result: a string, a list of content blocks, or an object that contains
// one of these.
func codexOutput(raw json.RawMessage) string {
	var out any
	if json.Unmarshal(raw, &out) != nil {
		return ""
	}
	if object, ok := out.(map[string]any); ok {
		for _, name := range []string{"content", "output", "body"} {
			if text := plainText(object[name]); text != "" {
				return text
			}
		}
	}
	return plainText(out)
}
