//go:build e2e

package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/e2e/mockmodel"
)

// byDefault is a client as its user has it who has chosen no model.
type byDefault struct {
	client
	title, page string
	home        func(t *testing.T, turns ...mockmodel.Turn) *world
	models      []string // arguments by which the client lists its models; nil: it does not
	read        string   // its name for our tool
	server      []string // arguments of a run in which the server's tools may be called, before the prompt
}

// defaults are the clients that "make e2e" runs, without a model in their settings.
func defaults() []byDefault {
	claude, codex, opencode, gemini := both()[0], both()[1], others()[0], others()[1]
	plain := func(c client) func(t *testing.T, turns ...mockmodel.Turn) *world {
		return func(t *testing.T, turns ...mockmodel.Turn) *world { return newWorld(t, c, turns...) }
	}
	opencode.config = func(w *world, url string) {
		w.write(filepath.Join(w.home, ".config", "opencode", "opencode.json"), fmt.Sprintf(`{"autoupdate": false, "share": "disabled", "permission": {"*": "allow"},
  "enabled_providers": ["anthropic"], "provider": {"anthropic": {"options": {"baseURL": "%s/v1", "apiKey": "sk-secret-anthropic"}}}}
`, url), 0o600)
	}
	gemini.direct = slices.DeleteFunc(slices.Clone(gemini.direct), func(arg string) bool { return arg == "-m" || arg == "gemini-2.5-pro" })
	codex.direct = []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"}
	claude.direct = []string{"--strict-mcp-config", "--setting-sources", "user", "--allowedTools=Bash", "-p"}
	return []byDefault{
		{client: claude, title: "Claude Code", page: "claude-code.md", home: plain(claude), read: "mcp__pruner__read",
			server: []string{"--setting-sources", "user", "--allowedTools=mcp__pruner__read", "-p"}},
		{client: codex, title: "Codex", page: "codex.md", read: "mcp__pruner__read", models: []string{"debug", "models"},
			home: func(t *testing.T, turns ...mockmodel.Turn) *world {
				w, _ := codexLogin(t, withKey, turns...)
				w.client.direct = codex.direct
				return w
			}},
		{client: opencode, title: "opencode", page: "opencode.md", home: plain(opencode), models: []string{"models"}, read: "pruner_read"},
		{client: gemini, title: "Gemini CLI", page: "gemini-cli.md", home: plain(gemini), read: "mcp_pruner_read"},
	}
}

// world returns a world in which the clients find the program and Node.
func (d byDefault) world(t *testing.T, turns ...mockmodel.Turn) *world {
	w := d.home(t, turns...)
	w.withState()
	w.wrapped()
	return w
}

// observed is what a client's default does.
type observed struct {
	Version, Model               string
	Hooks, Server, Proxy, Prefix string
	lines                        []string // the default, the models with their modes, and the names of the tools
}

// listed returns the models that a client lists, with the mode in which each calls tools, as far as it says that.
func (d byDefault) listed(w *world) (lines []string) {
	if d.models == nil {
		return nil
	}
	cmd := exec.Command(installed(d.program), d.models...)
	cmd.Dir, cmd.Env = w.dir, w.env
	out, err := cmd.Output()
	require.NoError(w.t, err)
	var catalog struct {
		Models []struct {
			Slug, Visibility string
			Mode             *string `json:"tool_mode"`
		}
	}
	if json.Unmarshal(out, &catalog) == nil {
		for _, m := range catalog.Models {
			mode := "direct"
			if m.Mode != nil {
				mode = *m.Mode
			}
			lines = append(lines, fmt.Sprintf("model %s %s %s", m.Slug, m.Visibility, mode))
		}
		return lines
	}
	for _, name := range strings.Fields(string(out)) {
		lines = append(lines, "model "+name)
	}
	return lines
}

// turn returns a call of a tool as the default model makes it.
func (d byDefault) turn(byCode bool, words, tool string, args map[string]any) mockmodel.Turn {
	if !byCode {
		return native(words, tool, args)
	}
	data, _ := json.Marshal(args) // texts
	code := "const r = await tools." + tool + "(" + string(data) + "); text(typeof r === 'string' ? r : r.output ?? JSON.stringify(r))"
	return mockmodel.Turn{Text: words, Calls: []mockmodel.Call{{Tool: "exec", Code: code}}}
}

// play runs the client with its own arguments and returns the last request to its model.
func (d byDefault) play(w *world, direct ...string) string {
	if direct != nil {
		w.client.direct = direct
	}
	out, err := w.own("how often is it tried?").CombinedOutput()
	require.NotEmpty(w.t, w.model.Requests(), "%s: %v", out, err)
	return string(w.lastRequest())
}

// observe asks a client for its models and tools, and runs its default.
func (d byDefault) observe(t *testing.T) (o observed) {
	w := d.world(t, done)
	context := w.context()
	o.lines = d.listed(w)
	for _, p := range context.Parts {
		if p.Kind == "tool" {
			o.lines = append(o.lines, "tool "+p.Name)
		}
	}
	d.play(w)
	o.Version, o.Model = context.Version, modelOf(t, w)
	o.lines = append(o.lines, "default "+o.Model)
	o.Prefix = fmt.Sprintf("%d tokens", context.Tokens)
	byCode := slices.Contains(o.lines, "tool exec")
	if byCode {
		o.Model += ", which calls tools from code"
	}
	return d.tried(t, o, byCode)
}

// modelOf returns the model of a turn: by its request, or, of Gemini's API, by the path.
func modelOf(t *testing.T, w *world) string {
	requests := w.model.Requests()
	last := requests[len(requests)-1]
	var body struct{ Model string }
	require.NoError(t, json.Unmarshal(last.Body, &body))
	name, _, _ := strings.Cut(filepath.Base(last.Path), ":")
	return cmp.Or(body.Model, name)
}

// tried tries our hooks, our server and the proxy with the default.
func (d byDefault) tried(t *testing.T, o observed, byCode bool) observed {
	shell := func(command string) mockmodel.Turn {
		return d.turn(byCode, "I run the tests to see which one fails and why.", d.shell, map[string]any{d.argument: command, "description": "which test failed and why"})
	}
	w := d.world(t, shell("sh tests.sh"), done)
	w.write(filepath.Join(w.dir, "tests.sh"), testLog+"\n", 0o755)
	d.hooks(w)
	seen := d.play(w)
	switch {
	case !strings.Contains(seen, "want 3 retries, got 4"):
		o.Hooks = "no result: " + seen
	case strings.Contains(seen, "TestCase50 "):
		o.Hooks = "leave results whole"
	default:
		o.Hooks = "cut"
	}

	w = d.world(t, d.turn(byCode, "", d.read, map[string]any{"file_path": "ledger.go", "context_focus_question": "where does openLedger count retries?"}), done)
	w.write(filepath.Join(w.dir, "ledger.go"), ledgerGo(), 0o644)
	w.ours("init", d.name, "--mcp")
	if seen = d.play(w, d.server...); strings.Contains(seen, "retries++") && !strings.Contains(seen, "handler7 answers") {
		o.Server = "answer, cut"
	} else {
		o.Server = "no answer: " + seen
	}

	var turns []mockmodel.Turn
	for i := range 40 {
		turns = append(turns, shell(fmt.Sprintf("seq -f 'line %%g of the output of call %d' 1 150", i)))
	}
	w = d.world(t, append(turns, done)...)
	out, err := w.underProxy(nil, append(slices.Clone(w.client.direct), "count the lines")...).CombinedOutput()
	require.NoError(t, err, string(out))
	o.Proxy = "clears nothing"
	if strings.Contains(string(w.lastRequest()), "[cleared ") {
		o.Proxy = "clears old results"
	}
	return o
}

// hooks sets hooks up. Where init decides by the model, Codex's settings say what init says for a model that calls tools itself.
func (d byDefault) hooks(w *world) {
	switch d.name {
	case "codex":
		w.write(filepath.Join(w.home, "hooks.json"), `{"hooks":{"PostToolUse":[{"matcher":"Bash|mcp__.*","hooks":[{"type":"command","command":"`+pruner+` hook codex","timeout":5}]}]}}`, 0o600)
	default:
		w.ours("init", d.name, "--hooks")
	}
}

// The page with the table, and its text around that, in which the line TABLE stands for it.
const tablePage, tableText = top + "/docs/clients/table.md", "testdata/defaults/table.md"

const tableHead = "| client | version | its default model | hooks | our tools | proxy | before the first word | seen |\n|---|---|---|---|---|---|---|---|\n"

func (o observed) row(d byDefault, day string) string {
	return fmt.Sprintf("| [%s](%s) | %s | %s | %s | %s | %s | %s | %s |\n", d.title, d.page, o.Version, o.Model, o.Hooks, o.Server, o.Proxy, o.Prefix, day)
}

// TestClientsAtTheirDefaults asks each client which models and tools it has, runs its default, and compares with testdata/defaults and
// the table of docs/clients/table.md: a newer version that has another default, another way to call tools or a tool of another name
// fails here, by that name. With -update both are written. "make e2e-newest" does it with the newest versions.
func TestClientsAtTheirDefaults(t *testing.T) {
	page, err := os.ReadFile(tablePage)
	require.NoError(t, err)
	around, err := os.ReadFile(tableText)
	require.NoError(t, err)
	rows := tableHead
	for _, d := range defaults() {
		row := regexp.MustCompile(`(?m)^\| \[` + d.title + `\]\(.* \d{4}-\d\d-\d\d \|\n`).FindString(string(page))
		t.Run(d.name, func(t *testing.T) { row = d.check(t, row) })
		rows += row
	}
	written := strings.Replace(string(around), "TABLE\n", rows, 1)
	if *update {
		require.NoError(t, os.WriteFile(tablePage, []byte(written), 0o644))
	} else {
		assert.Equal(t, written, string(page), "-update writes the page")
	}
}

// check compares what the client's default does with the files. It returns the row of the table, with today's date after -update.
func (d byDefault) check(t *testing.T, row string) string {
	o := d.observe(t)
	name := d.title + " " + o.Version
	sameLines(t, name, filepath.Join("testdata", "defaults", d.name+".txt"), o.lines)
	cells := strings.Split(row, " | ")
	newest := os.Getenv(newestEnv) != ""
	if len(cells) == 8 && (newest || closeTo(o.Prefix, cells[6])) {
		t.Logf("%s: %s, in the table %s", name, o.Prefix, cells[6])
		o.Prefix = cells[6]
	}
	if newest && len(cells) == 8 { // a newer version is no fault
		o.Version = cells[1]
	}
	if *update {
		return o.row(d, time.Now().UTC().Format(time.DateOnly))
	}
	assert.Equal(t, row, o.row(d, strings.TrimSuffix(cells[len(cells)-1], " |\n")), name)
	return row
}

// closeTo reports whether two numbers of tokens are the same but for the lengths of paths.
func closeTo(a, b string) bool {
	x, err := strconv.Atoi(strings.TrimSuffix(a, " tokens"))
	y, wrong := strconv.Atoi(strings.TrimSuffix(b, " tokens"))
	return err == nil && wrong == nil && 50*max(x-y, y-x) <= y
}

// sameLines compares lines in any order with those of a file, or writes them there. It names each that is new and each that is gone.
func sameLines(t *testing.T, name, file string, lines []string) {
	t.Helper()
	slices.Sort(lines)
	lines = slices.Compact(lines)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o644))
		return
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	known := strings.Split(strings.TrimSpace(string(text)), "\n")
	for _, line := range lines {
		assert.Contains(t, known, line, "%s has a new one: %s", name, line)
	}
	for _, line := range known {
		assert.Contains(t, lines, line, "%s has no %s any more", name, line)
	}
}

// newestEnv is the variable by which the newest versions of the clients are installed, in a folder of their own.
const newestEnv = "E2E_NEWEST"

// pinnedClients matches the pinned versions of the clients that have a default.
var pinnedClients = regexp.MustCompile(`("(?:@anthropic-ai/claude-code|@openai/codex|opencode-linux-x64|@google/gemini-cli)": )"[^"]*"`)
