package runnerfsm

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Claude is Claude Code, run as "claude -p".
type Claude struct{}

// Name is what --provider calls it.
func (Claude) Name() string { return "claude" }

// Program is the client's executable.
func (Claude) Program() string { return "claude" }

// Dir is the directory Claude works in: the one it is started in.
func (Claude) Dir(_ []string, dir string) string { return dir }

// Args asks for the event stream, whatever the user asked for: it is the only
// output that tells what became of the server. Options that take several values
// are given with "=", or they would swallow what follows them.
func (Claude) Args(l Launch) []string {
	if len(l.Servers) == 0 {
		return withPrompt(append([]string{"-p"}, l.Options...), l.Prompt)
	}
	formats, options := cutOption(l.Options, formatOption)
	if !slices.Contains(claudeFormats, last(formats)) {
		options = l.Options // for Claude to refuse
	}
	args := []string{"-p", formatOption, "stream-json", "--verbose", "--mcp-config=" + cmp.Or(l.ConfigFile, l.Servers.JSON())}
	for _, name := range l.Servers.names() {
		args = append(args, ClaudeTools(name, l.Tools)...)
	}
	return withPrompt(append(args, options...), l.Prompt)
}

// ClaudeTools lets Claude use exactly the given tools of a server without asking.
// Without bash among them it is taken away: a user's own rules could allow it.
func ClaudeTools(server string, tools []string) []string {
	var args []string
	for _, tool := range tools {
		args = append(args, "--allowedTools="+claudeTool(server, tool))
	}
	if !slices.Contains(tools, shellTool) {
		args = append(args, "--disallowedTools="+claudeTool(server, shellTool))
	}
	return args
}

func claudeTool(server, tool string) string { return "mcp__" + server + "__" + tool }

const formatOption = "--output-format"

// claudeFormats are what Claude knows of it; without it, text.
var claudeFormats = []string{"", "text", "json", "stream-json"}

// Env sets how long Claude waits for its servers, when the user says so. By
// itself Claude waits 30 s, and what is set here holds for all its servers.
func (Claude) Env(l Launch) []string {
	if l.StartTimeout == 0 {
		return nil
	}
	return []string{"MCP_TIMEOUT=" + strconv.FormatInt(l.StartTimeout.Milliseconds(), 10)}
}

// Read follows "claude -p --output-format stream-json".
func (Claude) Read(l Launch, out Output) Reader {
	formats, _ := cutOption(l.Options, formatOption)
	verbose, _ := cutFlag(l.Options, "--verbose")
	r := &claudeReader{out: out, format: last(formats), calls: make(map[string]bool)}
	r.listed = r.format == "json" && verbose
	return r
}

type claudeReader struct {
	out    Output
	format string // what the user asked for: "", "text", "json", "stream-json"
	listed bool   // as a list of all events
	events [][]byte
	done   bool // a result came
	ready  bool
	calls  map[string]bool // our tool calls under way, by id
}

// claudeLine is what is read of a line of the stream.
type claudeLine struct {
	Type       string   `json:"type"`
	Subtype    string   `json:"subtype"`
	Tools      []string `json:"tools"`
	MCPServers []struct {
		Name   string `json:"name"`
		Status string `json:"status"`
	} `json:"mcp_servers"`
	Message struct {
		Content json.RawMessage `json:"content"` // blocks, or one string
	} `json:"message"`
	ToolUseResult json.RawMessage `json:"tool_use_result"`
	Result        string          `json:"result"`
}

type claudeBlock struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	ToolUseID string          `json:"tool_use_id"`
	IsError   bool            `json:"is_error"`
	Content   json.RawMessage `json:"content"`
}

func (r *claudeReader) Raw() bool { return r.format == "stream-json" }

func (r *claudeReader) Stderr([]byte) {}

func (r *claudeReader) Stdout(line []byte) {
	var l claudeLine
	if !decode(line, &l) || l.Type == "" {
		r.print(line)
		return
	}
	if r.listed {
		r.events = append(r.events, bytes.Clone(line))
	}
	var blocks []claudeBlock
	_ = json.Unmarshal(l.Message.Content, &blocks) // a plain string has none
	switch l.Type {
	case "system":
		if l.Subtype == "init" {
			r.initialized(l)
		}
	case "assistant":
		r.called(blocks)
	case "user":
		r.returned(blocks, l.ToolUseResult)
	case "result":
		r.result(l, line)
	}
}

// initialized reads the list of servers, which Claude prints once all of them
// connected or took too long. One that dies after its handshake is "connected"
// and has no tools.
func (r *claudeReader) initialized(l claudeLine) {
	status := "not listed"
	for _, s := range l.MCPServers {
		if s.Name == ServerName {
			status = s.Status
		}
	}
	ours := func(tool string) bool { return strings.HasPrefix(tool, claudeToolPrefix) }
	connected := status == "connected" && slices.ContainsFunc(l.Tools, ours)
	switch {
	case connected:
		r.ready = true
		r.out.Report(Report{News: Ready})
	case r.ready:
		r.out.Report(Report{News: Failed, Reason: exited})
	case status == "connected":
		r.out.Report(Report{News: NotReady, Message: "claude reports it connected, but without tools"})
	default:
		r.out.Report(Report{News: NotReady, Message: "claude reports it " + status})
	}
}

const claudeToolPrefix = "mcp__" + ServerName + "__"

func (r *claudeReader) called(blocks []claudeBlock) {
	for _, b := range blocks {
		if r.ready && b.Type == "tool_use" && strings.HasPrefix(b.Name, claudeToolPrefix) {
			r.calls[b.ID] = true
		}
	}
}

func (r *claudeReader) returned(blocks []claudeBlock, whole json.RawMessage) {
	for _, b := range blocks {
		if b.Type != "tool_result" || !r.calls[b.ToolUseID] {
			continue
		}
		delete(r.calls, b.ToolUseID)
		var result resultMeta
		if len(blocks) == 1 {
			_ = json.Unmarshal(whole, &result) // an error's is a string
		}
		r.out.Report(Report{News: CallEnded, Pruning: result.Meta.Pruning})
		if reason := claudeFailure(b); reason != "" {
			r.out.Report(Report{News: Failed, Reason: reason})
		}
	}
}

// claudeFailure tells a failed server from a failed call by Claude's own words,
// which stand alone. The server's words begin with "Error (" or are a JSON-RPC
// message, and none of them reads like these.
func claudeFailure(b claudeBlock) string {
	var text string
	if !b.IsError || json.Unmarshal(b.Content, &text) != nil {
		return ""
	}
	server := `MCP server "` + ServerName + `" `
	switch {
	case text == "Connection closed", text == server+"is not connected":
		return exited
	case strings.HasPrefix(text, server+"tool ") && strings.Contains(text, " timed out after "):
		return unreachable
	}
	return ""
}

// result prints the answer the way the user asked for it.
func (r *claudeReader) result(l claudeLine, line []byte) {
	r.done = true
	switch {
	case r.listed: // at the end
	case r.format == "json":
		r.print(line)
	case l.Result != "":
		r.print([]byte(l.Result))
	case l.Subtype != "success":
		r.print([]byte("Error: " + strings.ReplaceAll(strings.TrimPrefix(l.Subtype, "error_"), "_", " ")))
	}
}

// End prints the list, which Claude does not before all of it is there.
func (r *claudeReader) End() {
	if r.listed && r.done {
		r.print(slices.Concat([]byte("["), bytes.Join(r.events, []byte(",")), []byte("]")))
	}
}

func (r *claudeReader) print(line []byte) {
	if !r.Raw() {
		fmt.Fprintf(r.out.Stdout, "%s\n", bytes.TrimSuffix(line, []byte("\n")))
	}
}
