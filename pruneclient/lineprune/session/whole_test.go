package session_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"
)

const (
	names  = "a list of names or counts"
	around = "a search for what stands around its matches"
	ranged = "a range that the call chose"
)

// TestWhatACommandAsksForAsAWhole has commands, what they ask for as a whole, and why.
func TestWhatACommandAsksForAsAWhole(t *testing.T) {
	for command, want := range map[string]string{
		"find . -name '*.go' -path '*tools*'":                names,
		"find . -type f | grep -v vendor | sort":             names,
		"find . -name '*.go' -exec grep -l oldName {} +":     names,
		"find . -name '*.go' -exec grep -n oldName {} +":     "",
		"find . -name '*.go' | xargs grep -n oldName":        "",
		"find . -name '*.go' -print0 | xargs -0 grep -l old": names,
		"find . -name '*.go' | xargs wc -l":                  names,
		"cd /shop && rg -l oldName":                          names,
		"rg -l 'old<T>|old->x' src 2>/dev/null":              names,
		"rg -tgo oldName":                                    "", // go is a type, -o is no option here
		"rg -e color oldName":                                "",
		"grep -rn oldName .":                                 "",
		"grep -rlE 'a|b' .":                                  names,
		"grep -rc oldName src":                               names,
		"grep -ohE 'old[A-Z]+' src/*.go | sort | uniq -c":    names,
		"cat access.log | awk '{print $7}' | sort | uniq -c": names,
		"git grep --name-only oldName":                       names,
		"git grep -n oldName":                                "",
		"git -C /shop --no-pager branch -vv":                 names,
		"git diff --name-status main":                        names,
		"git diff main":                                      "",
		"git ls-files 'src/*.ts'":                            names,
		"git log --oneline":                                  "",
		"git log --oneline -20":                              ranged,
		"git log -p -20":                                     "",
		"git log -1 --format=%ci v1":                         ranged,
		"sed -n 700,900p a.go":                               ranged,
		"git ls-remote --tags origin":                        names,
		"git tag; echo; git log --oneline -n 20 | cat":       ranged,
		"git status --short; git tag | head -5; cat a.go":    "",
		"ls -laR src; ls -la test":                           names,
		"ls -la && cat package.json":                         "",
		"sudo wc -l /var/log/*.log":                          names,
		"npm ls --all":                                       names,
		"npm outdated":                                       names,
		"npm test":                                           "",
		"go test ./...":                                      "",
		"for f in *.go; do grep -c x $f; done":               "",
		"wc -l $(git ls-files)":                              names,
		"head -n $(cat count) a.go":                          "", // what the inner command prints is not known
		"ls > files.txt":                                     "",
		`grep -A 30 "func.*find" store.go`:                   around,
		"grep -nA30 'func find' store.go":                    around,
		"rg --context=12 oldName":                            around,
		"grep -15 oldName store.go":                          around,
		"grep -n -B 1 -A 3 HandleTurnEnd turn.go":            "",
		"git grep -C 20 oldName | head -500":                 around,
		"go test ./... 2>&1 | tail -100":                     ranged,
		"go test ./... | tail -n 300":                        "",
		"go test ./... | tail -n +20":                        "",
		"make 2>&1 | head":                                   ranged,
		"make 2>&1 | head -c 9000":                           "",
		"sed -n '10,150p' a.go":                              ranged,
		"sed -n '10,150p;300,380p' a.go":                     "",
		"sed -n 1,90p a.go; sed -n 1,90p b.go":               ranged,
		"sed -n '10,$p' a.go":                                "",
		"sed 's/a/b/' a.go":                                  "",
		"cat a.go | sed -n '1,100p'":                         ranged,
		"grep -n -m 40 oldName a.go":                         ranged,
		"rg --max-count=5 oldName":                           ranged,
		"head -n 50 a.go b.go && echo done":                  ranged,
		"Get-Content app.log -Tail 80":                       ranged,
		"cat a.go":                                           "",
		"echo ls":                                            "",
		"":                                                   "",
	} {
		require.Equal(t, want, session.Origin{Tool: "bash", Args: map[string]any{"command": command}}.Whole(100), command)
	}
}

// TestWhatACallAsksForAsAWhole has calls of clients' own tools.
func TestWhatACallAsksForAsAWhole(t *testing.T) {
	for _, c := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"Glob", map[string]any{"pattern": "**/*.go"}, names},
		{"Grep", map[string]any{"pattern": "x", "output_mode": "files_with_matches"}, names},
		{"grep", map[string]any{"pattern": "x", "output_mode": "count"}, names},
		{"Grep", map[string]any{"pattern": "x", "output_mode": "content"}, ""},
		{"Grep", map[string]any{"pattern": "x", "output_mode": "content", "-A": 46.0}, around},
		{"Grep", map[string]any{"pattern": "x", "output_mode": "content", "-C": "3"}, ""},
		{"grep", map[string]any{"pattern": "x", "context_lines": 10}, around},
		{"Grep", map[string]any{"pattern": "x", "head_limit": 50.0}, ranged},
		{"Read", map[string]any{"file_path": "a.go", "offset": 300.0, "limit": 200.0}, ranged},
		{"list_issues", map[string]any{"repo": "a/b", "limit": 50.0}, ""},
		{"other", map[string]any{"path": "/p", "limit": 50.0}, ""},
		{"Read", map[string]any{"file_path": "a.go", "offset": 300.0, "limit": 2000.0}, ""},
		{"read", map[string]any{"file_path": "a.go", "start_line": 300, "end_line": 420}, ranged},
		{"view", map[string]any{"path": "a.go", "view_range": []any{1.0, 150.0}}, ranged},
		{"view", map[string]any{"path": "a.go", "view_range": []any{1.0, -1.0}}, ""},
		{"Read", map[string]any{"file_path": "a.go"}, ""},
	} {
		require.Equal(t, c.want, session.Origin{Tool: c.tool, Args: c.args}.Whole(100), "%s %v", c.tool, c.args)
	}
	require.Empty(t, session.Origin{Args: map[string]any{"command": "rg -m 5 oldName"}}.Whole(900), "the bound was for each file")
}

// TestPartsOfACommandThatAreAskedForAsAWhole has a command that prints a heading before each of its parts.
func TestPartsOfACommandThatAreAskedForAsAWhole(t *testing.T) {
	lines := strings.Split("== tags ==\nv2\nv1\n== code ==\npackage a\n\nfunc a() {}\n== last ==\nx", "\n")
	parts := func(command string) [][2]int {
		return session.Origin{Args: map[string]any{"command": command}}.WholeParts(lines)
	}
	const command = "echo '== tags =='; git tag | head -5; echo; echo == code == && cat a.go; printf '== last ==\\n'; tail -1 b"
	require.Equal(t, [][2]int{{1, 3}, {8, 9}}, parts(command))
	require.Nil(t, parts("git tag | head -5; cat a.go"), "without a heading nothing says which lines are the tags")
	require.Nil(t, parts("echo \"== $X ==\"; git tag; echo == code ==; cat a.go"), "what the shell puts in is not known")
	require.Nil(t, session.Origin{}.WholeParts(lines))
}
