//go:build e2e

package e2e

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/e2e/mockmodel"
)

// hookedClient is a client with hooks, as the cases below ask for it.
type hookedClient struct {
	client
	options []string // of init
	file    string   // with the hook, below the home folder
	run     func(w *world) string
	shell   func(command string) mockmodel.Turn // a turn with the client's own shell
	text    func(s seen) string                 // of a result; nil: the result's text

	// read has the client's own tool and its arguments, beside those with the file, for lines 300 to 899.
	read, path string
	ranged     map[string]any
	from       int  // the first line that the client shows for them
	within     bool // the range stands beside the path in the one element of a list

	command   string // in place of the tool that reads: what is run
	kept, cut string // of a result that was pruned
}

// hookedClients are the clients that "make e2e" drives. Codex has no tool that reads files: a command stands for it.
func hookedClients() (list []hookedClient) {
	for _, c := range append(both(), others()...) {
		by := hookedBy[c.name]
		h := hookedClient{client: c, options: by.options, run: by.run, from: 300, kept: "func openLedger", cut: "handler40 "}
		h.shell = func(command string) mockmodel.Turn {
			return c.shellTurn("I run the tests to see which one fails and why.", command)
		}
		switch c.name {
		case "claude":
			h.file, h.read, h.path, h.ranged = "settings.json", "Read", "file_path", map[string]any{"offset": 300, "limit": 600}
		case "codex":
			h.file, h.command = "hooks.json", "cat ledger.go"
		case "opencode":
			h.file, h.read, h.path, h.ranged = ".config/opencode/plugins/mcp-pruner.js", "read", "filePath", map[string]any{"offset": 300, "limit": 600}
		case "gemini": // files that it reads stay whole: the hook is not told what for
			h.file, h.command, h.kept, h.cut = ".gemini/settings.json", "sh tests.sh", "want 3 retries", "TestCase50 "
		}
		list = append(list, h)
	}
	return list
}

// TestNumbersAreTrue and TestNoHook: the cases, with each client.
func TestNumbersAreTrue(t *testing.T) {
	for _, c := range hookedClients() {
		t.Run(c.name, c.numbersAreTrue)
	}
}

func TestNoHook(t *testing.T) {
	for _, c := range hookedClients() {
		t.Run(c.name, c.noHook)
	}
}

// world returns a world with a source file and a test script, and the texts of the settings before init.
func (c hookedClient) world(t *testing.T) (w *world, before map[string]string) {
	w = newWorld(t, c.client)
	w.env = append(w.env, "XDG_STATE_HOME="+filepath.Join(w.home, "state"))
	w.write(filepath.Join(w.dir, "ledger.go"), ledgerGo(), 0o644)
	w.write(filepath.Join(w.dir, "tests.sh"), testLog+"\n", 0o755)
	if c.name == "claude" || c.name == "codex" {
		w.write(filepath.Join(w.home, c.file), "{\n\n\t\"hooks\" : { } }\n", 0o600)
	}
	before = w.files()
	w.ours(append([]string{"init", c.name}, c.options...)...)
	return w, before
}

func (c hookedClient) shown(s seen) string {
	if c.text == nil {
		return s.text
	}
	return c.text(s)
}

// numbersAreTrue proves that the numbers in a pruned part of a file are those in the file, before the lines or in the gaps,
// that the command of the way back takes them, and that after such a session uninstall leaves every file that init wrote as it was.
func (c hookedClient) numbersAreTrue(t *testing.T) {
	w, before := c.world(t)
	set := w.files()
	turn, source := c.shell(c.command), ledgerGo()
	if c.read != "" {
		args := map[string]any{c.path: filepath.Join(w.dir, "ledger.go")}
		for name, value := range c.ranged {
			args[name] = value
		}
		if c.within {
			args = map[string]any{"files": []any{args}}
		}
		turn = native("", c.read, args)
	}
	if c.kept == "func openLedger" {
		turn.Text = "I look where openLedger counts retries."
	}
	turns := []mockmodel.Turn{turn, done}
	if c.read != "" { // else no command has run that could bring anything back
		turns = slices.Insert(turns, 0, c.shell("echo ready"))
	}
	w.model.Play(turns...)
	out := c.run(w)
	require.Len(t, w.results(), len(turns)-1, out)
	text := c.shown(w.results()[len(turns)-2])
	id := prunedID.FindStringSubmatch(string(w.lastRequest()))
	require.NotNil(t, id, out)
	assert.Contains(t, text, c.kept)
	assert.NotContains(t, text, c.cut)
	if c.read == "" {
		source = w.ours("recover", id[1])
	}
	lines := strings.Split(source, "\n")
	numbers := w.trueNumbers(text, lines) + w.trueGaps(text, id[1], lines)
	assert.Positive(t, numbers, text)
	if c.read != "" {
		assert.Equal(t, lines[c.from-1]+"\n", w.ours("recover", id[1], "--lines", strconv.Itoa(c.from)+"-"+strconv.Itoa(c.from)), "the first line")
	}

	w.ours("init", c.name, "--uninstall")
	after, changed := w.files(), 0
	for path, text := range set {
		if text != before[path] {
			changed++
			assert.Equal(t, before[path], after[path], path)
		}
	}
	assert.Positive(t, changed, "init has written something")
}

var numberedLine = regexp.MustCompile(`(?m)^ *(\d+)(?:\t|→|: | \| )(.*)$`)

// trueNumbers compares the lines of a text that have a number with those of the file, and returns how many there are.
func (w *world) trueNumbers(text string, lines []string) int {
	found := numberedLine.FindAllStringSubmatch(text, -1)
	for _, m := range found {
		n, err := strconv.Atoi(m[1])
		require.NoError(w.t, err)
		require.Equal(w.t, lines[n-1], m[2], "line %d", n)
	}
	return len(found)
}

var numberedGap = regexp.MustCompile(`(?m)^\.\.\. (\d+)-(\d+)\b.*\n(.*)$`)

// trueGaps compares the line after each gap of a text, and what the way back returns for the gap, with the lines of the file.
func (w *world) trueGaps(text, id string, lines []string) int {
	found := numberedGap.FindAllStringSubmatch(text, -1)
	for _, m := range found {
		from, err := strconv.Atoi(m[1])
		require.NoError(w.t, err)
		to, err := strconv.Atoi(m[2])
		require.NoError(w.t, err)
		if to < len(lines) && m[3] != "" {
			require.Equal(w.t, lines[to], m[3], "after %s-%s", m[1], m[2])
		}
		require.Equal(w.t, strings.Join(lines[from-1:to], "\n")+"\n", w.ours("recover", id, "--lines", m[1]+"-"+m[2]))
	}
	return len(found)
}

// noHook proves that a result arrives whole if the hook is killed in the middle of its answer, and if its program is gone.
func (c hookedClient) noHook(t *testing.T) {
	w, _ := c.world(t)
	hook, ran := filepath.Join(w.home, "hook"), filepath.Join(w.home, "hook-ran")
	w.write(hook, "#!/bin/sh\ncat >>'"+ran+"'\nprintf '{\"output\": \"'\nkill -9 $$\n", 0o755)
	file := filepath.Join(w.home, c.file)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), pruner)
	w.write(file, strings.ReplaceAll(string(text), pruner, hook), 0o600)
	const part = "sh tests.sh | sed -n 60,260p" // which no client cuts
	gone := c.shell(part)
	gone.Before = func() { assert.NoError(t, os.Remove(hook)) }
	w.model.Play(c.shell(part), gone, done)
	out := c.run(w)
	results := w.results()
	require.Len(t, results, 2, out)
	asked, err := os.ReadFile(ran)
	require.NoError(t, err, "the hook was started")
	assert.Contains(t, string(asked), "TestCase50 ")
	for i, r := range results {
		assert.False(t, r.error)
		for _, line := range []string{"--- PASS: TestCase50 ", "want 3 retries, got 4", "--- PASS: TestMore40 "} {
			assert.Contains(t, c.shown(r), line, "result %d", i)
		}
	}
}

// files returns the text of each settings file and plugin in the home folder, by path.
func (w *world) files() map[string]string {
	found := map[string]string{}
	_ = filepath.WalkDir(w.home, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && (strings.HasSuffix(path, ".json") || strings.HasSuffix(path, ".js")) && !strings.Contains(path, "/state/") {
			text, _ := os.ReadFile(path)
			found[path] = string(text)
		}
		return nil
	})
	return found
}
