//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestReadmeCommands runs the commands of the README. One that is not known here
// fails the test: it has to be added with the way it is run.
func TestReadmeCommands(t *testing.T) {
	ways := map[string]func(*testing.T, string){
		"make demo":    demoShowsBeforeAndAfter,
		"make test":    ciRuns,
		"make install": installs,
		"claude mcp add pruner -e PRUNER_URL=embedded -- mcp-pruner":   servesWithEmbeddedPruner,
		"codex mcp add pruner --env PRUNER_URL=embedded -- mcp-pruner": servesWithEmbeddedPruner,
	}
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	assert.Less(t, strings.Count(string(readme), "\n"), 70, "the README is one screen")
	var found []string
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(readme), -1) {
		for _, line := range strings.Split(strings.TrimSpace(block[1]), "\n") {
			command, _, _ := strings.Cut(line, "#")
			command = strings.TrimSpace(command)
			found = append(found, command)
			run, known := ways[command]
			require.True(t, known, "no test runs the README's %q", command)
			t.Run(command, func(t *testing.T) { run(t, command) })
		}
	}
	assert.Len(t, found, len(ways), "a command is no longer in the README")
	assert.Equal(t, []string{"make demo", "make test"}, found[:2])
}

func makeTarget(t *testing.T, target string, env ...string) string {
	t.Helper()
	cmd := exec.Command("make", target)
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

func demoShowsBeforeAndAfter(t *testing.T, _ string) {
	out := makeTarget(t, "demo")
	assert.Regexp(t, `--- read \S+: \d+ lines, \d+ bytes`, out)
	assert.Regexp(t, `asking "`, out)
	assert.Regexp(t, `--- \d+ bytes became \d+: [1-9]\d % saved`, out)
}

// ciRuns: running every test from within a test would never end; that .ci/run
// does it is what can be seen here.
func ciRuns(t *testing.T, command string) {
	ci, err := os.ReadFile("../../.ci/run")
	require.NoError(t, err)
	assert.Contains(t, string(ci), command)
}

func installs(t *testing.T, _ string) {
	bin := t.TempDir()
	makeTarget(t, "install", "GOBIN="+bin)
	out, err := exec.Command(filepath.Join(bin, "mcp-pruner"), "version").Output()
	require.NoError(t, err)
	assert.Contains(t, string(out), "mcp-pruner ")
}

// servesWithEmbeddedPruner starts what the client would start, and sees it prune.
func servesWithEmbeddedPruner(t *testing.T, command string) {
	_, started, _ := strings.Cut(command, " -- ")
	require.Equal(t, "mcp-pruner", started)
	env := regexp.MustCompile(`[A-Z_]+=\S+`).FindString(command)
	s := start(t, env)
	s.send(bash(1, "seq 1 300; echo 'the retry limit is 3'; seq 301 900"))
	require.NotEmpty(t, s.next().text())
	s.send(call(2, "bash", map[string]any{
		"command":                "seq 1 300; echo 'the retry limit is 3'; seq 301 900",
		"context_focus_question": "what is the retry limit",
	}))
	text := s.next().text()
	assert.Contains(t, text, "the retry limit is 3")
	assert.Less(t, len(text), 1000)
}
