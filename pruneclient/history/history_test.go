package history

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"
)

func TestParseCall(t *testing.T) {
	args := map[string]any{"file_path": "a.go", "offset": 10.0, "limit": 5.0}
	require.Equal(t, ToolCall{Kind: Read, Tool: "Read", File: "a.go", Offset: 10, Limit: 5, args: args}, ParseCall("Read", args))
	zero := ParseCall("read_file", map[string]any{"file_path": "a.go", "offset": 300.0, "limit": 5.0})
	require.Equal(t, []int{301, 5}, []int{zero.Offset, zero.Limit}, "Qwen Code counts from 0")
	require.Zero(t, ParseCall("read_file", map[string]any{"file_path": "a.go", "offset": 0.0}).Offset)
	require.Equal(t, []any{Bash, "ls -l"}, []any{ParseCall("shell_command", map[string]any{"command": "ls -l"}).Kind, ParseCall("shell_command", map[string]any{"command": "ls -l"}).Command})
	require.Equal(t, "ls -l", ParseCall("shell", map[string]any{"command": []any{"bash", "-lc", "ls -l"}}).Command)
	require.Equal(t, Other, ParseCall("mcp__github__read", nil).Kind, "another server's tool")
	require.Equal(t, Read, ParseCall("mcp__pruner__read", nil).Kind)
	file, from, to := ParseCall("Bash", map[string]any{"command": "cd /r && sed -n '10,20p' a/b.go"}).FileRead()
	require.Equal(t, []any{"a/b.go", 10, 20}, []any{file, from, to})
	for _, c := range []ToolCall{ // lines that no file has, and no column of a database
		ParseCall("Bash", map[string]any{"command": "sed -n '99999999999,99999999999999999999p' a"}), ParseCall("Read", map[string]any{"file_path": "a", "offset": "99999999999", "limit": 1e9}),
	} {
		_, from, to = c.FileRead()
		require.Equal(t, []any{lastLine, lastLine}, []any{from, to})
	}
	file, _, _ = ParseCall("Bash", map[string]any{"command": "go test ./..."}).FileRead()
	require.Empty(t, file)
	require.True(t, Same("/repo/a/b.go", "a/b.go"))
	require.False(t, Same("/repo/xa/b.go", "a/b.go"))
}

func TestQuestionIsTheAgentsLastWords(t *testing.T) {
	var l Log
	l.User("please fix the upload")
	read := ParseCall("Read", map[string]any{"file_path": "upload.go"})
	require.Equal(t, "please fix the upload", l.Question(read))
	l.Turn()
	l.Think("maybe the retry counter overflows")
	require.Equal(t, "maybe the retry counter overflows", l.Question(read))
	l.Say("Great! Let me look where retries are counted.")
	require.Equal(t, "look where retries are counted.", l.Question(read))
	require.Equal(t, "Run tests", l.Question(ParseCall("Bash", map[string]any{"command": "go test", "description": "Run tests"})))
	require.Contains(t, l.Question(ParseCall("Grep", map[string]any{"pattern": "maxRetries"})), "maxRetries")
}

func TestContextIsMostRecentFirst(t *testing.T) {
	var l Log
	l.User("one")
	l.Use(ParseCall("Grep", map[string]any{"pattern": "two", "path": "src"}))
	l.Use(ParseCall("Edit", map[string]any{"file_path": "f.go", "old_string": "a", "new_string": "b"}))
	require.Equal(t, []pruneclient.Event{
		{Kind: session.Edit, Text: "a\nb", File: "f.go"}, {Kind: session.Search, Text: "two", File: "src"}, {Kind: session.Say, Text: "one"},
	}, l.Context())
}

func TestDecide(t *testing.T) {
	read := ParseCall("Read", map[string]any{"file_path": "/r/upload.go"})
	var l Log
	l.Say("look where retries are counted")
	require.True(t, l.Decide(read, 5000, nil).Prune)
	require.Equal(t, "small", l.Decide(read, MinTokens-1, nil).Why)
	for _, file := range []string{"/r/.claude/skills/release/SKILL.md", `C:\r\Agents.md`, "CLAUDE.md", ".github/copilot-instructions.md"} {
		require.Equal(t, Decision{Why: "instructions for agents"}, l.Decide(ParseCall("Read", map[string]any{"file_path": file}), 5000, nil), file)
	}
	require.True(t, l.Decide(ParseCall("Read", map[string]any{"file_path": "/r/docs/skills.md"}), 5000, nil).Prune)
	require.Equal(t, "a narrow range", l.Decide(ParseCall("Read", map[string]any{"file_path": "x", "offset": 1.0, "limit": 20.0}), 5000, nil).Why)
	l.Use(ParseCall("Edit", map[string]any{"file_path": "upload.go", "old_string": "a", "new_string": "b"}))
	require.Equal(t, Decision{Prune: true, Careful: true, Why: "edited before"}, l.Decide(read, 5000, nil))

	var m Log
	m.Say("Now I update upload.go to count retries")
	require.Equal(t, Decision{Prune: true, Careful: true, Why: "named to be changed"}, m.Decide(read, 5000, nil))
}

func TestWhatIsLeftToClearing(t *testing.T) {
	calls := map[string]ToolCall{
		"read": ParseCall("Read", map[string]any{"file_path": "a.go"}), "cat": ParseCall("Bash", map[string]any{"command": "cat a.go b.go"}),
		"log": ParseCall("Bash", map[string]any{"command": "go test ./..."}), "matches": ParseCall("Grep", map[string]any{"pattern": "x"}),
		"other": ParseCall("mcp__ci__log", nil),
	}
	for name, file := range map[string]bool{"read": true, "cat": true, "log": false, "matches": false, "other": false} {
		for count, late := range map[int]bool{0: false, 1: false, earlyCalls - 1: false, earlyCalls: true, 500: true} {
			require.Equal(t, file && late, calls[name].LeftToClearing(count), "%s after %d calls", name, count)
		}
	}
}

// TestResultsOfOtherToolsStayWhole checks that the results of other servers' tools are pruned only if the user names
// them, and that this program's own server is not pruned once more, whatever is named.
func TestResultsOfOtherToolsStayWhole(t *testing.T) {
	for _, c := range []struct {
		tool   string
		others OtherTools
		prune  bool
	}{
		{"mcp__github__list_issues", nil, false},
		{"mcp__github__list_issues", OtherTools{"browser"}, false},
		{"mcp__github__list_issues", OtherTools{"browser", "github"}, true},
		{"mcp__github__list_issues", OtherTools{"mcp__github__list_issues"}, true},
		{"mcp__github__list_issues", OtherTools{"git"}, false},
		{"mcp__github__list_issues", OtherTools{allTools}, true},
		{"github_list_issues", OtherTools{"github"}, true},
		{"mcp_github_list_issues", OtherTools{"GitHub"}, true},
		{"WebFetch", nil, false},
		{"WebFetch", OtherTools{"webfetch"}, true},
		{"mcp__pruner__read", OtherTools{allTools}, false},
		{"mcp__pruner__recover_text", OtherTools{allTools}, false},
		{"mcp__plugin_mcp-pruner-tools_pruner__bash", OtherTools{allTools}, false},
		{"pruner_read", OtherTools{allTools}, false},
		{"mcp_pruner_grep", OtherTools{allTools}, false},
		{"Bash", nil, true},
	} {
		var l Log
		l.SetReach(Reach{Commands: true})
		require.Equal(t, c.prune, l.Decide(ParseCall(c.tool, nil), 5000, c.others).Prune, "%s with %q", c.tool, c.others)
	}
}

// A patch of Codex or opencode is an edit of each of its files.
func TestPatches(t *testing.T) {
	const text = "*** Begin Patch\n*** Update File: /r/a.go\n@@ func a() {\n one\n-two\n+2\n@@\n\n-three\r\n*** Add File: b.go\n+new\n*** End Patch\n"
	want := []Replacement{{Old: "one\ntwo", New: "one\n2", File: "/r/a.go"}, {Old: "\nthree", New: "", File: "/r/a.go"}, {New: "new", File: "b.go"}}
	for _, name := range []string{"input", "patchText"} {
		c := ParseCall("apply_patch", map[string]any{name: text})
		require.Equal(t, ToolCall{Kind: Edit, Tool: "apply_patch", File: "/r/a.go", Replace: want}, c)
		var log Log
		log.Use(c)
		for _, file := range []string{"/r/a.go", "/r/b.go"} {
			_, edited := log.editedSince(file)
			require.True(t, edited, file)
		}
	}
	require.Empty(t, ParseCall("apply_patch", map[string]any{"input": "no patch"}).Replace)
}

func TestCommandsThatPrintFiles(t *testing.T) {
	bash := func(command string) ToolCall { return ParseCall("Bash", map[string]any{"command": command}) }
	for command, want := range map[string][]any{
		"nl -ba a/b.go | sed -n '10,20p'":     {"a/b.go", 10, 20},
		"cd /r && cat -n a.py":                {"a.py", 1, 0},
		`Get-Content -TotalCount 40 src\a.ts`: {`src\a.ts`, 1, 0},
		"git show HEAD~1:a.go":                {"", 0, 0},
		"cat a.go b.go":                       {"", 0, 0},
	} {
		file, from, to := bash(command).FileRead()
		require.Equal(t, want, []any{file, from, to}, command)
	}
	for command, want := range map[string]bool{
		"sed -n '1,9p' a.go && echo --- && sed -n '/x;y/,/z/p' b.go": true,
		"cat a.go 2>/dev/null | grep -C 20 'a|b'":                    true,
		"git show HEAD~1:a.go | head -300":                           true,
		"cat > a.go <<'EOF'\nx\nEOF":                                 false,
		"sed -i s/a/b/ a.go":                                         false,
		"cat a.go | python3 -":                                       false,
		"echo hello":                                                 false,
		"git show HEAD":                                              false,
		"cat $(ls)":                                                  false,
		"":                                                           false,
	} {
		require.Equal(t, want, bash(command).Prints(), command)
	}
	require.False(t, ParseCall("Read", map[string]any{"file_path": "a.go"}).Prints())
}
