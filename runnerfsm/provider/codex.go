package provider

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/inject"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// tokenVariable holds the token of an HTTP server.
const tokenVariable = "MCP_PRUNER_RUN_TOKEN"

// Codex is the Codex CLI, run as "codex exec".
type Codex struct{}

// Name returns the value of --provider.
func (Codex) Name() string { return agent.Codex.Name }

// Dir returns the directory in which Codex works, which its options can change.
func (Codex) Dir(options []string, dir string) string {
	values, _ := cutOption(options, "--cd", "-C")
	switch value := last(values); {
	case value == "":
		return dir
	case filepath.IsAbs(value):
		return value
	default:
		return filepath.Join(dir, value)
	}
}

// Args requests the event stream, whatever the user requested, because only that output
// reports the state of the server. Injected options come first, so that the user's own
// --config wins.
func (Codex) Args(l Launch) []string {
	if len(l.Servers) == 0 {
		options := l.Options
		if l.Lost {
			options = codexWithout(options, inject.ServerName)
		}
		return withPrompt(append([]string{"exec"}, options...), l.Prompt)
	}
	args := []string{"exec", "--json"}
	for _, setting := range CodexConfig(l) {
		args = append(args, "--config", setting)
	}
	_, options := cutFlag(l.Options, "--json")
	return withPrompt(append(args, options...), l.Prompt)
}

// Env returns the token of an HTTP server. Variables for a server that Codex starts are
// named in the server's entry.
func (Codex) Env(l Launch) []string {
	if token := l.Servers[inject.ServerName].Token; token != "" {
		return []string{tokenVariable + "=" + token}
	}
	return nil
}

// Read parses the output of "codex exec --json".
func (Codex) Read(l Launch, out Output) Reader {
	raw, _ := cutFlag(l.Options, "--json")
	return &codexReader{out: out, raw: raw, silent: codexSilent(l.Options)}
}

type codexReader struct {
	out    Output
	raw    bool        // the user requested the event stream
	silent bool        // Codex would not report a missing server
	ready  atomic.Bool // also read by the goroutine of standard error
	answer string      // the agent's latest message; the last one is the result
	refuse string      // why Codex cannot read its configuration, until it says where
}

// codexLine holds the fields read from a line of the stream.
type codexLine struct {
	Type    string     `json:"type"`
	Message string     `json:"message"`
	Error   codexError `json:"error"`
	Item    codexItem  `json:"item"`
}

type codexError struct {
	Message string `json:"message"`
}

type codexItem struct {
	Type     string     `json:"type"`
	Server   string     `json:"server"`
	Tool     string     `json:"tool"`
	Status   string     `json:"status"`
	Result   resultMeta `json:"result"`
	Error    codexError `json:"error"`
	Text     string     `json:"text"`
	Message  string     `json:"message"`
	Command  string     `json:"command"`
	ExitCode *int       `json:"exit_code"`
	Changes  []struct {
		Path string `json:"path"`
		Kind string `json:"kind"`
	} `json:"changes"`
}

func (r *codexReader) Raw() bool { return r.raw }

func (r *codexReader) Stdout(line []byte) {
	var l codexLine
	if !decode(line, &l) || l.Type == "" {
		r.show("%s", line)
		return
	}
	switch l.Type {
	case "thread.started": // printed only after every required server is ready
		if !r.silent {
			r.isReady()
		}
	case "item.completed":
		r.completed(l.Item)
	case "turn.completed":
		r.finish()
	case "turn.failed":
		r.progress("error: %s", l.Error.Message)
		r.finish()
	case "error":
		r.progress("error: %s", l.Message)
	}
}

// Stderr looks for the lines in which Codex reports that it ends because of our server: a
// required server is missing, or our entry conflicts with one of the same name in Codex's
// own configuration.
func (r *codexReader) Stderr(line []byte) {
	text := string(line)
	if _, why, found := strings.Cut(text, "Error loading config.toml: "); found {
		r.refuse = why
	}
	if r.refuse != "" && isOurEntry(text) {
		r.gaveUp(r.refuse + " " + text)
	}
	_, failures, _ := strings.Cut(text, "required MCP servers failed to initialize: ")
	if _, why, ours := strings.Cut(" "+failures, " "+inject.ServerName+": "); ours {
		r.gaveUp(why)
	}
}

// isOurEntry reports whether the line names our entry or a key of it.
func isOurEntry(line string) bool {
	rest, found := strings.CutPrefix(line, "in `"+codexServers+"."+inject.ServerName)
	return found && strings.IndexAny(rest, ".`") == 0
}

func (r *codexReader) gaveUp(why string) {
	if !r.ready.Load() {
		r.out.Report(Report{News: GaveUp, Message: why})
	}
}

func (r *codexReader) isReady() {
	r.ready.Store(true)
	r.out.Report(Report{News: Ready})
}

// End does nothing: an event marks the end of a turn.
func (r *codexReader) End() {}

func (r *codexReader) completed(item codexItem) {
	switch item.Type {
	case "mcp_tool_call":
		if item.Server == inject.ServerName {
			r.returned(item)
		}
		r.progress("mcp: %s/%s (%s)", item.Server, item.Tool, item.Status)
	case "agent_message":
		if r.answer != "" {
			r.progress("%s", r.answer)
		}
		r.answer = item.Text
	case "command_execution":
		r.progress("exec: %s%s", item.Command, exitNote(item.ExitCode))
	case "file_change":
		for _, c := range item.Changes {
			r.progress("file: %s (%s)", c.Path, c.Kind)
		}
	case "error":
		r.progress("warning: %s", item.Message)
	}
}

func (r *codexReader) returned(item codexItem) {
	if r.silent && !r.ready.Load() && item.Status == "completed" {
		r.isReady() // there is no other report of it
	}
	if !r.ready.Load() {
		return
	}
	r.out.Report(Report{News: CallEnded, Pruning: item.Result.Meta.Pruning})
	// Errors of the server itself follow "Mcp error:"; these two come from the connection.
	switch message := item.Error.Message; {
	case item.Status != "failed":
	case strings.Contains(message, "Caused by:\n    Transport closed"):
		r.out.Report(Report{News: Failed, Reason: Exited})
	case strings.Contains(message, "timed out awaiting tools/call"):
		r.out.Report(Report{News: Failed, Reason: Unreachable})
	}
}

// finish prints the last message of the turn, as "codex exec" does by itself.
func (r *codexReader) finish() {
	if r.answer != "" {
		r.show("%s", r.answer)
	}
	r.answer = ""
}

func (r *codexReader) show(format string, a any) {
	if !r.raw {
		fmt.Fprintf(r.out.Stdout, format+"\n", a)
	}
}

// progress prints where Codex reports its progress to the user.
func (r *codexReader) progress(format string, a ...any) {
	if !r.raw {
		fmt.Fprintf(r.out.Stderr, format+"\n", a...)
	}
}

func exitNote(code *int) string {
	if code == nil {
		return ""
	}
	return fmt.Sprintf(" (exit %d)", *code)
}
