package verbs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/gateway"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/upstream"
)

// scribe is a made-up client. What a real one costs is this value, in a file of tools/agent, and its place in agent.Clients:
// two product files.
var scribe = agent.Client{
	Name: "scribe", Title: "Scribe", Announces: "scribe-mcp",
	Files: agent.Files{
		Folder:  agent.Folder{Variable: "SCRIBE_HOME", Default: ".scribe"},
		Hooks:   agent.File{Name: "scribe.json", As: agent.JSONC},
		Servers: agent.File{Name: "scribe.json", As: agent.JSONC},
	},
	Results:       agent.Results{Limits: map[string]agent.Limit{agent.AnyTool: {Bytes: 10_000}}, OnlyStructured: true},
	SearchesTools: true,
	Transcripts:   agent.Transcripts{Folder: "logs", Steps: scribeSteps},
	Hooks: &agent.Hooks{
		Events: []agent.Event{{Name: "Finished", Matcher: "shell", Timeout: 5}},
		Read: func(m agent.Message, _ func(string) string) (agent.Call, agent.Occasion) {
			return agent.Call{Session: m.Text("talk"), Transcript: m.Text("log"), ID: m.Text("n"), Tool: m.Text("verb"), Args: m.Child("with"), Text: m.Text("out")}, agent.ToolEnded
		},
		Answer: func(_ agent.Message, _ string, r agent.Replacement) any { return map[string]any{"write": r.Text} },
	},
	Servers: agent.ServerList{Member: "helpers", Entry: func(program string, env map[string]any) map[string]any {
		return map[string]any{"command": program, "env": env}
	}},
	Proxy: &agent.Proxy{URL: []string{"model", "url"}, Headers: []string{"model", "headers"}},
	Rule: &agent.Rule{
		Path: []string{"may"}, List: true, Asks: "Scribe asks",
		Line:    func(program string) string { return "run " + program + " recover" },
		Pattern: regexp.MustCompile(`^run (.*mcp-pruner) recover$`),
	},
}

// scribeSteps reads a line such as {"who": "me", "says": "..."}.
func scribeSteps(line []byte) []agent.Step {
	var l struct {
		Who, Says, N, Verb, Out string
		With                    map[string]any
	}
	if json.Unmarshal(line, &l) != nil {
		return nil
	}
	switch {
	case l.Who == "user":
		return []agent.Step{{Kind: agent.User, Text: l.Says}}
	case l.Who == "model" && l.Verb != "":
		return []agent.Step{{Kind: agent.Turn}, {Kind: agent.Say, Text: l.Says}, {Kind: agent.Use, ID: l.N, Tool: l.Verb, Args: l.With}}
	case l.Who == "tool":
		return []agent.Step{{Kind: agent.Result, ID: l.N, Out: l.Out}}
	}
	return nil
}

// home is a home folder of a user of the made-up client.
type home struct {
	t   *testing.T
	dir string
}

// anyCode is for a verb whose exit code depends on the machine.
const anyCode = -1

// run runs a verb of the program and returns what it printed.
func (h home) run(want int, stdin string, args ...string) string {
	h.t.Helper()
	var out bytes.Buffer
	p := command.Process{Args: args, Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &out, Env: []string{
		"HOME=" + h.dir, "USERPROFILE=" + h.dir, "XDG_STATE_HOME=" + filepath.Join(h.dir, "state"), "PATH=" + os.Getenv("PATH"),
		"PRUNER_URL=embedded", "MCP_PRUNER_CWD=" + h.dir,
	}}
	if code := Run(p); want != anyCode {
		assert.Equal(h.t, want, code, "%v: %s", args, out.String())
	}
	return out.String()
}

func (h home) settings() string {
	h.t.Helper()
	text, err := os.ReadFile(filepath.Join(h.dir, ".scribe", "scribe.json"))
	require.NoError(h.t, err)
	return string(text)
}

// log writes a transcript in which the agent says what it looks for in the output of a command, and returns its path.
func (h home) log(output string) string {
	h.t.Helper()
	path := filepath.Join(h.dir, ".scribe", "logs", "one.jsonl")
	require.NoError(h.t, os.MkdirAll(filepath.Dir(path), 0o700))
	var text strings.Builder
	for _, line := range []map[string]any{
		{"who": "user", "says": "why does the connection to the ledger fail?"},
		{"who": "model", "says": "I look where openLedger counts retries.", "n": "1", "verb": "shell", "with": map[string]any{"command": "make test"}},
		{"who": "tool", "n": "1", "out": output},
		{"who": "model", "says": "Found.", "n": "2", "verb": "shell", "with": map[string]any{"command": "true"}},
	} {
		b, err := json.Marshal(line)
		require.NoError(h.t, err)
		text.Write(append(b, '\n'))
	}
	require.NoError(h.t, os.WriteFile(path, []byte(text.String()), 0o600))
	return path
}

// TestANewClientIsOneValue adds a made-up client and has it served by init, hook, replay, doctor and the gateway.
func TestANewClientIsOneValue(t *testing.T) {
	before := agent.Clients
	agent.Clients = append(slices.Clone(before), &scribe)
	t.Cleanup(func() { agent.Clients = before })
	h := home{t, t.TempDir()}
	const own = "{\n  // mine\n  \"never\": [\"mcp__mail__send\"],\n  \"helpers\": {\"files\": {\"command\": \"files-server\"}, \"mail\": {\"command\": \"mail-server\"}},\n}\n"
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "AppData"} { // where the gateway keeps the servers
		t.Setenv(name, filepath.Join(h.dir, "config"))
	}
	require.NoError(t, os.MkdirAll(filepath.Join(h.dir, ".scribe"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(h.dir, ".scribe", "scribe.json"), []byte(own), 0o600))

	t.Run("init", func(t *testing.T) {
		assert.Contains(t, h.run(0, "", "init", "--help"), "|scribe")
		assert.Contains(t, h.run(0, "", "init", "scribe", "--hooks", "--mcp", "--proxy", "--allow-recover"), "hooks: installed")
		for _, part := range []string{"// mine", "hook scribe", `"matcher":"shell"`, `"helpers"`, `"url":"http://127.0.0.1:8787"`, ` recover"`} {
			assert.Contains(t, strings.ReplaceAll(h.settings(), `": `, `":`), part)
		}
		assert.Contains(t, h.run(0, "", "init", "scribe", "--show"), "hooks  installed")
		assert.Contains(t, h.run(0, "", "init", "scribe"), "was there already")
	})
	t.Run("doctor", func(t *testing.T) {
		said := h.run(anyCode, "", "doctor")
		assert.Contains(t, said, "hooks in "+filepath.Join(h.dir, ".scribe", "scribe.json"))
		assert.Regexp(t, `pruner in [^ ]*scribe.json`, said)
	})
	lines := make([]string, 0, 400)
	for i := range 400 {
		lines = append(lines, fmt.Sprintf("worker %d: stored block %d of the archive in %d ms", i%7, i, i*13%101))
	}
	lines[200] = "openLedger: counts retries: 3 retries, then the connection was refused"
	output := strings.Join(lines, "\n")
	path := h.log(output)

	t.Run("hook", func(t *testing.T) {
		message, err := json.Marshal(map[string]any{"talk": "t", "log": path, "n": "1", "verb": "shell", "with": map[string]any{"command": "make test"}, "out": output})
		require.NoError(t, err)
		var answer struct{ Write string }
		require.NoError(t, json.Unmarshal([]byte(h.run(0, string(message), "hook", "scribe")), &answer))
		assert.Contains(t, answer.Write, lines[200])
		assert.Less(t, len(answer.Write), len(output)/2)
		assert.Contains(t, answer.Write, "recover ")
	})
	t.Run("replay", func(t *testing.T) {
		var report struct{ Sessions, Calls int }
		require.NoError(t, json.Unmarshal([]byte(h.run(0, "", "replay", "--json", "--policy", "hook")), &report))
		assert.Equal(t, 1, report.Sessions)
	})
	t.Run("gateway", func(t *testing.T) {
		assert.Equal(t, upstream.Trimmed, new(gateway.Gateway).ModeFor("scribe-mcp"), "it searches its tools by itself")
		assert.Contains(t, h.run(0, "", "init", "scribe", "--uninstall"), "taken out of")
		assert.Equal(t, own, h.settings(), "init leaves what was there")
		assert.Contains(t, h.run(0, "", "gateway", "init", "scribe"), "files stays as it is: it cannot be asked for its tools (the command files-server is not found")
		assert.Equal(t, own, h.settings(), "a server that cannot be asked stays")
		shown := h.run(0, "", "gateway", "init", "--yes", "--show", "scribe")
		assert.Contains(t, shown, "files: wrapped; what that brings is not known")
		assert.Equal(t, own, h.settings(), "and --show changes nothing")
		said := h.run(0, "", "gateway", "init", "--yes", "scribe")
		assert.Contains(t, said, "\"mcp-pruner gateway init --uninstall scribe\" takes that back.\n")
		assert.Contains(t, h.settings(), `"gateway", "--wrap", "--", "files-server"`)
		assert.Contains(t, h.run(0, "", "gateway", "init", "scribe", "--uninstall"), "Scribe starts files, mail itself again.")
		assert.Equal(t, own, h.settings(), "and so does the gateway")
	})
}
