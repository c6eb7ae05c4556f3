package runnerfsm

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// codexStartTimeout is how long Codex may wait for the server when the user
	// sets nothing: a server that hangs delays the run by this.
	codexStartTimeout = 10 * time.Second
	// codexToolTimeout is above the server's own limits (300 s for a command and
	// 300 s for the pruner), so that it is the server that answers.
	codexToolTimeout = 660 * time.Second
)

// Codex is the Codex CLI, run as "codex exec".
type Codex struct{}

// Name is what --provider calls it.
func (Codex) Name() string { return "codex" }

// Program is the client's executable.
func (Codex) Program() string { return "codex" }

// Dir is the directory Codex works in, which its options can change.
func (Codex) Dir(options []string, dir string) string {
	for _, name := range []string{"-C", "--cd"} {
		if value, _ := cutOption(options, name); value != "" {
			if filepath.IsAbs(value) {
				return value
			}
			return filepath.Join(dir, value)
		}
	}
	return dir
}

// Args asks for the event stream, whatever the user asked for: it is the only
// output that tells what became of the server. What is injected comes first, so
// that the user's own --config wins.
func (Codex) Args(l Launch) []string {
	if len(l.Servers) == 0 {
		return withPrompt(append([]string{"exec"}, l.Options...), l.Prompt)
	}
	args := []string{"exec", "--json"}
	for _, setting := range CodexConfig(l) {
		args = append(args, "--config", setting)
	}
	_, options := cutFlag(l.Options, "--json")
	return withPrompt(append(args, options...), l.Prompt)
}

// CodexConfig is the servers as arguments of --config. A server that Codex starts
// is required: only then does Codex say whether it started. Its tools are approved,
// and nothing else is.
func CodexConfig(l Launch) []string {
	var settings []string
	for _, name := range l.Servers.names() {
		server, key := l.Servers[name], "mcp_servers."+name+"."
		if server.URL != "" {
			settings = append(settings, key+"url="+tomlString(server.URL))
			settings = append(settings, codexLimits(key, l)...)
			continue
		}
		settings = append(settings, key+"command="+tomlString(server.Command))
		if len(server.Args) > 0 {
			settings = append(settings, key+"args="+tomlArray(server.Args))
		}
		for _, k := range slices.Sorted(maps.Keys(server.Env)) {
			settings = append(settings, key+"env."+k+"="+tomlString(server.Env[k]))
		}
		if len(l.Passed) > 0 {
			settings = append(settings, key+"env_vars="+tomlArray(l.Passed))
		}
		settings = append(settings, key+"required=true")
		settings = append(settings, codexLimits(key, l)...)
	}
	return settings
}

// codexLimits is what every kind of server gets.
func codexLimits(key string, l Launch) []string {
	return []string{
		key + "startup_timeout_sec=" + seconds(l.StartTimeout, codexStartTimeout),
		key + "tool_timeout_sec=" + seconds(0, codexToolTimeout),
		key + `default_tools_approval_mode="approve"`,
	}
}

func seconds(d, otherwise time.Duration) string {
	if d == 0 {
		d = otherwise
	}
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64)
}

// Env is nothing: what the server is to see is named in its entry.
func (Codex) Env(Launch) []string { return nil }

// Read follows "codex exec --json".
func (Codex) Read(l Launch, out Output) Reader {
	raw, _ := cutFlag(l.Options, "--json")
	return &codexReader{out: out, raw: raw}
}

type codexReader struct {
	out    Output
	raw    bool // the user asked for the event stream
	ready  bool
	answer string // the agent's latest message: the last one is the result
}

// codexLine is what is read of a line of the stream.
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
	case "thread.started": // comes only after every required server is ready
		r.ready = true
		r.out.Report(Report{News: Ready})
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

// Stderr looks for the one line in which Codex says that it ends because a
// required server is not there.
func (r *codexReader) Stderr(line []byte) {
	_, failures, found := strings.Cut(string(line), "required MCP servers failed to initialize: ")
	if !found || r.ready {
		return
	}
	if _, why, ours := strings.Cut(" "+failures, " "+ServerName+": "); ours {
		r.out.Report(Report{News: GaveUp, Message: why})
	}
}

func (r *codexReader) completed(item codexItem) {
	switch item.Type {
	case "mcp_tool_call":
		if item.Server == ServerName && r.ready {
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
	r.out.Report(Report{News: CallEnded, Pruning: item.Result.Meta.Pruning})
	// What the server itself says of a call follows "Mcp error:"; these two come
	// from the connection.
	switch message := item.Error.Message; {
	case item.Status != "failed":
	case strings.Contains(message, "Caused by:\n    Transport closed"):
		r.out.Report(Report{News: Failed, Reason: exited})
	case strings.Contains(message, "timed out awaiting tools/call"):
		r.out.Report(Report{News: Failed, Reason: unreachable})
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

// progress goes where Codex tells a person what it does.
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
