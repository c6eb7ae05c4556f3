//go:build unix

package calls

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/exact"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs"
)

var update = flag.Bool("update", false, "write docs/evidence/CALLS.md")

// one is a call and its result.
type one struct {
	Call
	before, after int // o200k tokens of the result, without and with the question
	missing       []string
}

// Limits for all calls together. A change of the ranking may make single calls worse.
const (
	leastFound  = 57   // smallest number of calls, of 60, whose result has everything that the answer needs
	gapTokens   = 6    // largest size of a marker
	noteTokens  = 30   // largest size of the note that says why a text came back whole
	mostPercent = 15.0 // largest size of all results with the question, in per cent of the tokens without
)

// gaps matches the markers of omitted lines, notes why a text came back whole.
var (
	gaps  = regexp.MustCompile(`(?m)^\.\.\. ?\d+(?:-\d+)?$`)
	notes = regexp.MustCompile(`not pruned: .*?(?:; cut |; total_lines|\]|\n|$)`)
)

// TestCalls makes every call with and without its question, in a session whose client is named claude-code.
func TestCalls(t *testing.T) {
	all := cases(t)
	server := start(t)
	var before, after int
	var missed []string
	for _, c := range all {
		c.before = exact.Count(server.call(c.Tool, c.whole()))
		text := server.call(c.Tool, c.Asked())
		c.after, c.missing = exact.Count(text), c.Missing(text)
		for _, gap := range gaps.FindAllString(text, -1) {
			assert.LessOrEqual(t, exact.Count(gap), gapTokens, "%s: %q", c.About, gap)
		}
		for _, note := range notes.FindAllString(text, -1) {
			assert.LessOrEqual(t, exact.Count(note), noteTokens, "%s: %q", c.About, note)
		}
		before, after = before+c.before, after+c.after
		t.Logf("%-40s %7d %7d %q", c.About, c.before, c.after, c.missing)
		if c.missing != nil {
			missed = append(missed, c.About)
		}
		assert.LessOrEqual(t, c.after, max(c.before+60, 300), "%s: no dearer than without a question, but for a note", c.About)
	}
	assert.GreaterOrEqual(t, len(all)-len(missed), leastFound, "without what was needed: %q", missed)
	assert.LessOrEqual(t, 100*float64(after)/float64(before), mostPercent, "%d of %d tokens", after, before)
	const page = "../../../docs/evidence/CALLS.md"
	if *update {
		clients, err := os.ReadFile("../../../testdata/calls/clients.md")
		require.NoError(t, err)
		long, err := os.ReadFile("../../../testdata/calls/long.md")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(page, []byte(document(all)+"\n"+string(clients)+"\n"+string(long)), 0o644))
	}
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	for _, c := range all { // ids and folder names change the number of tokens a little from run to run
		row := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(c.About) + ` \| .* \| (\d+) \| (?:yes|\*\*no\*\*) \|$`).FindStringSubmatch(string(text))
		require.NotNil(t, row, "%s: go -C cmd/dev test ./calls -update", c.About)
		after, err := strconv.Atoi(row[1])
		require.NoError(t, err)
		assert.InDelta(t, c.after, after, 25+float64(after)/20, "%s: go -C cmd/dev test ./calls -update", c.About)
	}
}

func cases(t *testing.T) (all []*one) {
	read, err := Read("../../../testdata/calls/calls.jsonl")
	require.NoError(t, err)
	for _, c := range read {
		require.NotEmpty(t, c.Needs, c.About)
		all = append(all, &one{Call: c})
	}
	return all
}

// whole returns the arguments of the call without the question, and with limits that cut nothing.
func (c *one) whole() map[string]any {
	args := maps.Clone(c.Args)
	args["max_output_bytes"] = 10 << 20
	if c.Tool == "grep" {
		args["max_matches"] = 5000
	}
	return args
}

// client is an MCP client of a server in this process.
type client struct {
	t    *testing.T
	to   io.Writer
	from *bufio.Reader
	id   int
}

// start writes the inputs and starts the server in their folder, with their commands on its PATH.
func start(t *testing.T) *client {
	root := t.TempDir()
	require.NoError(t, Write(root))
	in, to := io.Pipe()
	from, out := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- verbs.Run(command.Process{
			Env: []string{"PRUNER_URL=embedded", "MCP_PRUNER_CWD=" + root, "MCP_PRUNER_LOG_LEVEL=error", "HOME=" + root,
				"PATH=" + filepath.Join(root, "bin") + ":" + os.Getenv("PATH")},
			Stdin: in, Stdout: out, Stderr: io.Discard,
		})
	}()
	t.Cleanup(func() {
		_ = to.Close()
		assert.Equal(t, command.OK, <-ended)
	})
	c := &client{t: t, to: to, from: bufio.NewReader(from)}
	c.ask("initialize", map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "claude-code", "version": "1"}})
	return c
}

// ask sends a request and returns its result.
func (c *client) ask(method string, params any) json.RawMessage {
	c.t.Helper()
	c.id++
	request, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.id, "method": method, "params": params})
	require.NoError(c.t, err)
	_, err = c.to.Write(append(request, '\n'))
	require.NoError(c.t, err)
	for {
		line, err := c.from.ReadBytes('\n')
		require.NoError(c.t, err)
		var answer struct {
			ID            int
			Result, Error json.RawMessage
		}
		require.NoError(c.t, json.Unmarshal(line, &answer), string(line))
		if answer.ID == c.id {
			require.Nil(c.t, answer.Error, string(line))
			return answer.Result
		}
	}
}

// call calls a tool and returns the text of its result.
func (c *client) call(tool string, args map[string]any) string {
	c.t.Helper()
	var result struct{ Content []struct{ Text string } }
	require.NoError(c.t, json.Unmarshal(c.ask("tools/call", map[string]any{"name": tool, "arguments": args}), &result))
	var texts []string
	for _, part := range result.Content {
		texts = append(texts, part.Text)
	}
	return strings.Join(texts, "\n")
}

const head = `# Realistic calls

Written by ` + "`go -C cmd/dev test ./calls -update`" + `; not to be edited.

What a model gets for a question, by the cases of ` + "`testdata/calls/calls.jsonl`" + `: through the whole server, embedded pruner, as Claude Code. "Without" is
the same call without a question and without a cut. The last column says whether what the answer needs is in the result: the lines themselves, or, where lines
cannot answer (a count, a single line of 60 kB), how to get there. The files are made by ` + "`cmd/dev/calls`" + `, whose test holds floors under the sums.
Tokens are o200k, notes and gap marks included.

| call | tool | question | tokens without | with | there |
|---|---|---|---|---|---|
`

// document returns docs/evidence/CALLS.md up to the results of the clients.
func document(all []*one) string {
	var b strings.Builder
	b.WriteString(head)
	var before, after, found int
	for _, c := range all {
		there := "yes"
		if c.missing != nil {
			there = "**no**"
		} else {
			found++
		}
		before, after = before+c.before, after+c.after
		fmt.Fprintf(&b, "| %s | `%s` | %s | %d | %d | %s |\n", c.About, c.Tool, c.Question, c.before, c.after, there)
	}
	fmt.Fprintf(&b, "\nAll: %d tokens without, %d with (%.1f %%); what is needed is there in %d of %d calls.\n", before, after, 100*float64(after)/float64(before), found, len(all))
	return b.String()
}
