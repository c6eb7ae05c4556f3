//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
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

// TestReadmeFigures proves that the README states the savings of docs/evidence/BILL.md, and none of a set whose figures are withdrawn.
func TestReadmeFigures(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	readme := string(text)
	text, err = os.ReadFile("../../docs/evidence/BILL.md")
	require.NoError(t, err)
	page := string(text)
	cells := func(text, start string) []string {
		row := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(start) + ` (.*) \|$`).FindStringSubmatch(text)
		require.Len(t, row, 2, "a row that begins with %q", start)
		return strings.Split(row[1], " | ")
	}
	const net, three, median, losing = 5, 9, 10, 13 // columns of a set after the policy
	sessions, stated := 0, 0
	for _, section := range regexp.MustCompile(`(?s)\n## [a-z0-9-]+: \d+ sessions`).FindAllStringIndex(page, -1) {
		name, count, _ := strings.Cut(strings.TrimSuffix(page[section[0]+4:section[1]], " sessions"), ": ")
		rest, _, _ := strings.Cut(page[section[1]:], "\n## ")
		if strings.Contains(rest, "**Withdrawn.**") {
			assert.NotRegexp(t, `(?m)^\| `+count+` `, readme, "README.md has figures that docs/evidence/BILL.md has withdrawn")
			continue
		}
		if !strings.Contains(readme, "\n| "+count+" ") {
			continue
		}
		n, err := strconv.Atoi(count)
		require.NoError(t, err)
		sessions, stated = sessions+n, stated+1
		hook, all, mcp := cells(rest, "| hook |"), cells(rest, "| all |"), cells(rest, "| mcp |")
		only := cells(page, "| "+name+" | the only tools | reads and searches |")
		want := []string{hook[net], hook[three], hook[median], hook[losing], strings.Trim(all[net], "*"), strings.Trim(mcp[net], "*"), only[3]}
		assert.Regexp(t, `(?m)^\| `+count+` [^|]+ \| `+regexp.QuoteMeta(strings.Join(want, " | "))+` \|$`, readme, "README.md is not what docs/evidence/BILL.md says")
	}
	assert.Equal(t, 5, stated, "the sets of README.md")
	assert.Contains(t, readme, strconv.Itoa(sessions)+" recorded sessions")
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
	kept := regexp.MustCompile(`\[(\d+) of \d+ lines; `).FindSubmatch(picture)
	require.True(t, len(all) == 2 && len(read) == 2 && len(kept) == 2)
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	assert.Contains(t, string(readme), fmt.Sprintf("On the left a log of %s lines, %s of them marked; on the right the %s lines that the agent reads", all[1], kept[1], read[1]))
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
