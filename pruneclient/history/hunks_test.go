package history

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each file of testdata/hunks has the calls of a session, the diff that a command then printed, and the lines of its hunks that
// are the agent's own edits. "commands" are further ones for which the same holds, "others" those for which no hunk is.
func TestOwnHunks(t *testing.T) {
	files, err := filepath.Glob("testdata/hunks/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		require.NoError(t, err)
		section := map[string]string{}
		for _, f := range archive.Files {
			require.Contains(t, []string{"calls", "commands", "others", "diff", "own"}, f.Name, file)
			section[f.Name] = strings.TrimSuffix(string(f.Data), "\n")
		}
		var log Log
		for _, call := range strings.Split(section["calls"], "\n") {
			if call == "compact" {
				log.Compact()
				continue
			}
			log.Use(parsed(t, call))
		}
		own := func(command string) string {
			var out []string
			for _, h := range log.OwnHunks(ToolCall{Kind: Bash, Command: command}, strings.Split(section["diff"], "\n")) {
				out = append(out, fmt.Sprintf("%d-%d", h[0], h[1]))
			}
			return strings.Join(out, "\n")
		}
		for _, command := range strings.Split(strings.TrimSpace("git diff\n"+section["commands"]), "\n") {
			assert.Equal(t, section["own"], own(command), "%s: %s", file, command)
		}
		for _, command := range strings.Split(section["others"], "\n") {
			assert.Empty(t, own(command), "%s: %s", file, command)
		}
	}
}

// Edits may be anywhere in a session, but not before a compaction.
func TestADiffNeedsTheEditsBefore(t *testing.T) {
	var log Log
	diff := ToolCall{Kind: Bash, Command: "git status && git diff"}
	require.True(t, log.NeedsEdits(diff))
	require.False(t, log.NeedsEdits(ToolCall{Kind: Bash, Command: "go test ./..."}))
	log.Compact()
	require.False(t, log.NeedsEdits(diff))
}
