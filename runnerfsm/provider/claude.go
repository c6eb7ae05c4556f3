package provider

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/inject"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// Claude is Claude Code, run as "claude -p".
type Claude struct{}

// Name returns the value of --provider.
func (Claude) Name() string { return agent.Claude.Name }

// Dir returns the directory in which Claude works: the one in which it is started.
func (Claude) Dir(_ []string, dir string) string { return dir }

// Args requests the event stream, whatever format the user requested, because only that
// output reports the state of the server. Options with several values are given with "=",
// since they would otherwise take the next arguments as values.
func (Claude) Args(l Launch) []string {
	if len(l.Servers) == 0 {
		return withPrompt(append([]string{"-p"}, l.Options...), l.Prompt)
	}
	formats, options := cutOption(l.Options, formatOption)
	if !slices.Contains(claudeFormats, last(formats)) {
		options = l.Options // Claude itself reports the invalid option
	}
	args := []string{"-p", formatOption, "stream-json", "--verbose", "--mcp-config=" + cmp.Or(l.ConfigFile, l.Servers.JSON())}
	for _, name := range l.Servers.Names() {
		args = append(args, claudeToolFlags(name, l.Tools)...)
	}
	return withPrompt(append(args, options...), l.Prompt)
}

// claudeToolFlags lets Claude use exactly the given tools of a server without asking. Without
// bash among them, bash is denied, since the user's own rules could allow it.
func claudeToolFlags(server string, tools []string) []string {
	var args []string
	for _, tool := range tools {
		args = append(args, "--allowedTools="+claudeTool(server, tool))
	}
	if !slices.Contains(tools, inject.ShellTool) {
		args = append(args, "--disallowedTools="+claudeTool(server, inject.ShellTool))
	}
	return args
}

func claudeTool(server, tool string) string { return "mcp__" + server + "__" + tool }

const formatOption = "--output-format"

// claudeFormats are the output formats that Claude accepts; "" means text.
var claudeFormats = []string{"", "text", "json", "stream-json"}

// Env sets how long Claude waits for its servers, if the user set a limit. Claude's default
// is 30 s, and the value applies to all its servers.
func (Claude) Env(l Launch) []string {
	if l.StartTimeout == 0 {
		return nil
	}
	return []string{"MCP_TIMEOUT=" + strconv.FormatInt(l.StartTimeout.Milliseconds(), 10)}
}

// Read parses the output of "claude -p --output-format stream-json".
func (Claude) Read(l Launch, out Output) Reader {
	formats, _ := cutOption(l.Options, formatOption)
	verbose, _ := cutFlag(l.Options, "--verbose")
	r := &claudeReader{out: out, format: last(formats), calls: make(map[string]bool)}
	r.listed = r.format == "json" && verbose
	return r
}

type claudeReader struct {
	out    Output
	format string // format requested by the user: "", "text", "json", "stream-json"
	listed bool   // print all events as one list
	events [][]byte
	done   bool // a result was received
	ready  bool
	calls  map[string]bool // our tool calls in progress, by id
}

// claudeLine holds the fields read from a line of the stream.
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

// initialized reads the list of servers, which Claude prints once all of them have
// connected or timed out. A server that dies after its handshake is "connected" but has no
// tools.
func (r *claudeReader) initialized(l claudeLine) {
	status := "not listed"
	for _, s := range l.MCPServers {
		if s.Name == inject.ServerName {
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
		r.out.Report(Report{News: Failed, Reason: Exited})
	case status == "connected":
		r.out.Report(Report{News: NotReady, Message: "claude reports it connected, but without tools"})
	default:
		r.out.Report(Report{News: NotReady, Message: "claude reports it " + status})
	}
}

const claudeToolPrefix = "mcp__" + inject.ServerName + "__"

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

// claudeFailure distinguishes a failed server from a failed call by Claude's own messages,
// which stand alone. Messages from the server begin with "Error (" or are a JSON-RPC
// message, so they cannot be confused with these.
func claudeFailure(b claudeBlock) string {
	var text string
	if !b.IsError || json.Unmarshal(b.Content, &text) != nil {
		return ""
	}
	server := `MCP server "` + inject.ServerName + `" `
	switch {
	case text == "Connection closed", text == server+"is not connected":
		return Exited
	case strings.HasPrefix(text, server+"tool ") && strings.Contains(text, " timed out after "):
		return Unreachable
	}
	return ""
}

// result prints the answer in the format that the user requested.
func (r *claudeReader) result(l claudeLine, line []byte) {
	r.done = true
	switch {
	case r.listed: // printed by End
	case r.format == "json":
		r.print(line)
	case l.Result != "":
		r.print([]byte(l.Result))
	case l.Subtype != "success":
		r.print([]byte("Error: " + strings.ReplaceAll(strings.TrimPrefix(l.Subtype, "error_"), "_", " ")))
	}
}

// End prints the list of events: like Claude, it does so only when the list is complete.
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
