package conformance

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs"
)

var (
	code = regexp.MustCompile("(?ms)^```[a-z]*\n(.*?)^```|`([^`\n]+)`|^    (\\S.*)$")
	ours = regexp.MustCompile(`(?:^|[\s|(])mcp-pruner ([a-z].*)`)
)

// TestCommandsInPagesExist proves that all verbs and flags of mcp-pruner that the pages show exist.
func TestCommandsInPagesExist(t *testing.T) {
	seen := 0
	for _, page := range pages(t) {
		if strings.Contains(page, "/testdata/") || strings.HasSuffix(page, "CHANGELOG.md") {
			continue
		}
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, m := range code.FindAllStringSubmatch(string(text), -1) {
			for line := range strings.Lines(strings.ReplaceAll(m[1]+m[2]+m[3], "\\\n", " ")) {
				if shown := ours.FindStringSubmatch(line); shown != nil {
					seen++
					assert.Empty(t, unknownIn(t, shown[1]), "%s shows: mcp-pruner %s", page, shown[1])
				}
			}
		}
	}
	assert.Greater(t, seen, 100)
	assert.Equal(t, []string{"frobnicate"}, unknownIn(t, "frobnicate --show"))
	assert.Equal(t, []string{"--frobnicate"}, unknownIn(t, "init claude --frobnicate # and --this is a comment"))
}

// unknownIn returns the verbs and flags of a command line that do not exist.
func unknownIn(t *testing.T, line string) (unknown []string) {
	t.Helper()
	line, _, _ = strings.Cut(line, " #")
	line, _, _ = strings.Cut(line, " | ")
	line, _, _ = strings.Cut(line, " -- ") // the rest is the client's command
	words := strings.Fields(line)
	root := verbs.Root(command.Process{Stdin: &bytes.Buffer{}, Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}})
	root.InitDefaultCompletionCmd()
	verb, _, err := root.Find(words)
	if err != nil || verb == root {
		return words[:1]
	}
	for _, word := range words {
		name, _, _ := strings.Cut(strings.Trim(word, "[],;"), "=")
		long, isFlag := strings.CutPrefix(name, "--")
		if isFlag && long != "help" && verb.Flag(long) == nil && !verb.DisableFlagParsing {
			unknown = append(unknown, name)
		}
	}
	return unknown
}
