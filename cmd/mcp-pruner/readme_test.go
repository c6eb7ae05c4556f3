//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs/initcmd"
)

// TestReadmeCommands runs the commands of the README. One that is not known here
// fails the test: it has to be added with the way it is run.
func TestReadmeCommands(t *testing.T) {
	ways := map[string]func(*testing.T, string){
		"make install": installs,
		`go run ./cmd/mcp-pruner prune -q "what happens when a handler panics" states/pipeline.go`: prunesAFile,
		"make test":            ciRuns,
		"mcp-pruner init":      setsUpAll,
		"mcp-pruner try":       saysWhatIsMissing,
		"mcp-pruner gain":      saysWhatIsMissing,
		"mcp-pruner uninstall": setsUp,
	}
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	assert.Less(t, strings.Count(string(readme), "\n"), 85, "the README is short")
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
	t.Run("make demo", demoPrunes)
	assert.Contains(t, strings.ReplaceAll(string(readme), "\n> ", " "), initcmd.TrySentence)
}

// TestReadmeFigures proves that the README states the savings of docs/evidence/BILL.md.
func TestReadmeFigures(t *testing.T) {
	cells := func(page, row string) string {
		text, err := os.ReadFile("../../" + page)
		require.NoError(t, err)
		found := regexp.MustCompile(`(?m)^\| \*\*` + row + `\*\*.*?(( \| [+-]\d+\.\d){3}) \|$`).FindStringSubmatch(string(text))
		require.NotNil(t, found, "%s has a row %s", page, row)
		return found[1]
	}
	for _, row := range []string{"Clearing", "Prefix", "Hooks"} {
		assert.Equal(t, cells("docs/evidence/BILL.md", row), cells("README.md", row), row)
	}
	bill, err := os.ReadFile("../../docs/evidence/BILL.md")
	require.NoError(t, err)
	_, today, _ := strings.Cut(string(bill), "## The same at the prices of today's default models")
	var clearing []any
	for _, set := range []string{"claude-code-3", "codex-2", "opencode-2"} {
		found := regexp.MustCompile(`\| ` + set + ` \|(?:[^|]*\|){5} ([+-]\S+) \|`).FindStringSubmatch(today)
		require.NotNil(t, found, set)
		clearing = append(clearing, found[1])
	}
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	assert.Contains(t, string(readme), fmt.Sprintf("clearing would save %s, %s and %s.", clearing...))
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

func demoPrunes(t *testing.T) {
	assert.Contains(t, makeTarget(t, "demo"), "recover()")

	// The README's picture and its description are of the same log.
	picture, err := os.ReadFile("../../docs/pictures/before-after.svg")
	require.NoError(t, err)
	all := regexp.MustCompile(`([\d,]+) lines, [\d,]+ bytes; green: kept`).FindSubmatch(picture)
	read := regexp.MustCompile(`What the agent reads: (\d+) lines`).FindSubmatch(picture)
	require.True(t, len(all) == 2 && len(read) == 2)
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	assert.Contains(t, string(readme), fmt.Sprintf("A log of %s lines, and the %s lines that the agent reads", all[1], read[1]))
}

// ciRuns: running every test from within a test would never end; that .ci/run
// does it is what can be seen here.
func ciRuns(t *testing.T, _ string) {
	ci, err := os.ReadFile("../../.ci/run")
	require.NoError(t, err)
	assert.Regexp(t, `(?m)^\tstep make test$`, string(ci))
	assert.Regexp(t, `(?m)^\tstep make test-long$`, string(ci), "what make test leaves out")
}

func installs(t *testing.T, _ string) {
	bin := t.TempDir()
	said := makeTarget(t, "install", "GOBIN="+bin)
	assert.Contains(t, said, filepath.Join(bin, "mcp-pruner"))
	assert.Contains(t, said, "PATH does not have "+bin)
	out, err := exec.Command(filepath.Join(bin, "mcp-pruner"), "version").Output()
	require.NoError(t, err)
	assert.Contains(t, string(out), "mcp-pruner ")
}

// prunesAFile: the README's first command.
func prunesAFile(t *testing.T, command string) {
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = "../.."
	out, err := cmd.Output()
	require.NoError(t, err)
	assert.Contains(t, string(out), "recover()")
	assert.Regexp(t, `(?m)^.*filtered|left out|\.\.\.`, string(out))
}

// setsUpAll: on a terminal it asks, here it is told to set up all.
func setsUpAll(t *testing.T, command string) {
	home := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(home, ".claude"), 0o700))
	assert.Contains(t, inHome(t, command+" --yes", home), "On now: Claude Code (hooks).")
}

// saysWhatIsMissing: without a session there is nothing to say, which is an error in words.
func saysWhatIsMissing(t *testing.T, command string) {
	words := strings.Fields(command)
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	assert.Regexp(t, "no sessions of Claude Code|nothing has been cut or cleared yet", string(out))
}

// setsUp runs a command in a home of its own, where it has to succeed.
func setsUp(t *testing.T, command string) { inHome(t, command, t.TempDir()) }

func inHome(t *testing.T, command, home string) string {
	t.Helper()
	words := strings.Fields(command)
	path, err := exec.LookPath(words[0])
	require.NoError(t, err)
	cmd := exec.Command(path, words[1:]...)
	cmd.Dir = home
	cmd.Env = []string{"HOME=" + home, "PATH=" + home + ":/usr/bin:/bin"}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}
