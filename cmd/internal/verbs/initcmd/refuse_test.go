//go:build unix

package initcmd

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
)

// refusal is a home in which init must change nothing.
type refusal struct {
	name, client string
	args         []string
	file, text   string                          // below the home folder
	spoil        func(t *testing.T, path string) // instead of text
	want         string                          // in the message, after the file's path
	readable     bool                            // the client can read it, so that doctor has only a note
}

func refusals() []refusal {
	link := func(to string) func(*testing.T, string) {
		return func(t *testing.T, path string) { require.NoError(t, os.Symlink(to, path)) }
	}
	mode := func(mode os.FileMode) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(path, []byte("{}"), 0o600))
			require.NoError(t, os.Chmod(path, mode))
		}
	}
	const settings = ".claude/settings.json"
	return []refusal{
		{name: "comment", client: "claude", file: settings, text: "{\n  // mine\n  \"model\": \"opus\"\n}\n",
			want: "cannot be read by Claude Code: line 2: a comment"},
		{name: "comment at the end", client: "claude", file: settings, text: "{\"a\": 1\n} /* x */\n", want: "line 2: a comment"},
		{name: "trailing comma", client: "claude", file: settings, text: "{\n  \"a\": [1],\n\n}\n", want: "line 2: a comma"},
		{name: "no JSON", client: "claude", file: settings, text: "{\n  \"a\": 1\n  \"b\": 2\n}\n",
			want: "line 3: invalid character '\"' after object key:value pair"},
		{name: "cut off", client: "claude", file: settings, text: "{\n  \"a\": 1\n", want: "line 2: unexpected end of JSON input"},
		{name: "list", client: "claude", file: settings, text: "\n[]\n", want: "line 2: want an object"},
		{name: "null", client: "claude", file: settings, text: "null", want: "line 1: want an object"},
		{name: "byte order mark", client: "claude", file: settings, text: "\ufeff{}\n", want: "line 1: a byte order mark"},
		{name: "state with a comment", client: "claude", args: []string{"--mcp"}, file: ".claude.json", text: "{}\n//\n",
			want: "line 2: a comment"},
		{name: "hooks are a list", client: "claude", file: settings, text: `{"hooks": []}`, want: "hooks is not an object", readable: true},
		{name: "folder", client: "claude", file: settings, spoil: func(t *testing.T, path string) { require.NoError(t, os.Mkdir(path, 0o700)) },
			want: "it is a folder, not a file"},
		{name: "named pipe", client: "claude", file: settings, spoil: func(t *testing.T, path string) { require.NoError(t, syscall.Mkfifo(path, 0o600)) },
			want: "it is a named pipe, not a file"},
		{name: "dangling link", client: "claude", file: settings, spoil: link("/nowhere/settings.json"),
			want: "it is a link to /nowhere/settings.json, which cannot be followed: "},
		{name: "link to itself", client: "claude", file: settings, spoil: link("settings.json"),
			want: "it is a link to settings.json, which cannot be followed: "},
		{name: "read-only", client: "claude", file: settings, spoil: mode(0o444), want: "it is read-only", readable: true},
		{name: "written by others", client: "claude", file: settings, spoil: mode(0o666),
			want: "every user of this machine may write it", readable: true},
		{name: "hard link", client: "claude", file: settings, spoil: func(t *testing.T, path string) {
			mode(0o600)(t, path)
			require.NoError(t, os.Link(path, path+".second"))
		}, want: "it has a second name", readable: true},
		{name: "inline table", client: "codex", args: []string{"--mcp"}, file: ".codex/config.toml", text: "mcp_servers = { o = { command = \"x\" } }\n",
			want: "line 1: mcp_servers is an inline table, to which nothing can be added", readable: true},
		{name: "inline table in another form", client: "codex", args: []string{"--mcp"}, file: ".codex/config.toml", text: "'mcp_servers' = {}\n",
			want: "line 1: mcp_servers is an inline table", readable: true},
		{name: "TOML", client: "codex", args: []string{"--mcp"}, file: ".codex/config.toml", text: "a = 1\na = 2\n",
			want: "cannot be read by Codex: line 2: "},
		{name: "unknown member", client: "codex", file: ".codex/hooks.json", text: "{\"hooks\": {},\n\"mine\": 1}",
			want: `cannot be read by Codex: line 2: "mine", but only`},
		{name: "twice", client: "codex", file: ".codex/hooks.json", text: "{\"hooks\": {\"Stop\": [],\n\"Stop\": []}}",
			want: `cannot be read by Codex: line 2: "Stop" a second time`},
		{name: "latin", client: "codex", file: ".codex/hooks.json", text: "{\"description\":\n\"caf\xe9\"}",
			want: "cannot be read by Codex: line 2: it is not UTF-8"},
		{name: "trailing comma", client: "gemini", args: []string{"--mcp"}, file: ".gemini/settings.json", text: "{\n\"a\": 1, // last\n}\n",
			want: "cannot be read by Gemini CLI: line 2: a comma after which nothing follows"},
		{name: "no JSON", client: "opencode", args: []string{"--mcp"}, file: ".config/opencode/opencode.json", text: "{\n  'a': 1\n}",
			want: "cannot be read by opencode: line 2: "},
	}
}

// A file that the client cannot read, or that is not safe to change, is named with the reason and stays as it is. doctor
// says the same.
func TestRefusedFilesStay(t *testing.T) {
	for _, r := range refusals() {
		t.Run(r.client+" "+r.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, r.file)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			if r.spoil == nil {
				write(t, path, r.text)
			} else {
				r.spoil(t, path)
			}
			before := state(t, dir)
			code, _, stderr := verb(t, dir, append([]string{r.client}, r.args...)...)
			assert.Equal(t, 1, code)
			assert.Contains(t, stderr, path+": ")
			assert.Contains(t, stderr, r.want)
			assert.Equal(t, before, state(t, dir))

			listed := Refusals(command.Process{Env: []string{"HOME=" + dir}})
			if r.text != "" && r.readable {
				require.Empty(t, listed, "the file itself has no fault")
				return
			}
			require.Len(t, listed, 1)
			assert.Equal(t, path, listed[0].File)
			assert.Equal(t, !r.readable, listed[0].Broken)
			assert.ErrorContains(t, listed[0].Err, r.want)
			if !r.readable {
				code, _, _ = verb(t, dir, r.client, "--show")
				assert.Equal(t, 1, code)
				assert.Empty(t, AllHooked(command.Process{Env: []string{"HOME=" + dir}}))
			}
			assert.Equal(t, before, state(t, dir))
		})
	}
}

// state returns what is below a folder, without opening anything but files.
func state(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		all[path] = info.Mode().String()
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			all[path] += string(text)
		}
		return nil
	}))
	return all
}

// One file that is refused keeps all others as they are.
func TestNothingIsWrittenIfOneFileIsRefused(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, ".claude.json"), "{} // mine\n")
	before := filesBelow(t, dir)
	code, stdout, stderr := verb(t, dir, "claude", "--hooks", "--mcp")
	require.Equal(t, 1, code)
	assert.Empty(t, stdout)
	assert.Contains(t, stderr, ".claude.json: cannot be read by Claude Code: line 1: a comment")
	assert.Equal(t, before, filesBelow(t, dir))
}

// A link to a file stays a link, and the file keeps its mode.
func TestLinkedFileIsChangedWhereItIs(t *testing.T) {
	dir := t.TempDir()
	real, path := filepath.Join(dir, "dotfiles", "claude.json"), filepath.Join(dir, ".claude", "settings.json")
	write(t, real, "{\"model\": \"opus\"}\n")
	require.NoError(t, os.Chmod(real, 0o640))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.Symlink("../dotfiles/claude.json", path))
	before := state(t, dir)
	code, _, stderr := verb(t, dir, "claude")
	require.Zero(t, code, stderr)
	text, err := os.ReadFile(real)
	require.NoError(t, err)
	require.Contains(t, string(text), " hook claude")
	code, _, stderr = verb(t, dir, "claude", "--uninstall")
	require.Zero(t, code, stderr)
	require.Equal(t, before, state(t, dir))
}

// Without a home folder, or with one that is another in each directory, nothing is written.
func TestHomeMustBeKnown(t *testing.T) {
	for _, c := range []struct {
		client string
		env    []string
		want   string
	}{
		{"claude", nil, "HOME is not set, so the configuration of the client cannot be found: set it to your home folder"},
		{"codex", []string{"HOME="}, "HOME is not set"},
		{"opencode", []string{"HOME=home"}, `HOME is "home", so the configuration of the client cannot be found`},
		{"claude", []string{"HOME=/tmp", "CLAUDE_CONFIG_DIR=.claude"}, `CLAUDE_CONFIG_DIR is ".claude", so`},
		{"codex", []string{"HOME=/tmp", "CODEX_HOME=~/.codex"}, `CODEX_HOME is "~/.codex", so`},
		{"gemini", []string{"HOME=/tmp", "GEMINI_CLI_HOME=."}, `GEMINI_CLI_HOME is ".", so`},
		{"opencode", []string{"HOME=/tmp", "XDG_CONFIG_HOME=../x"}, `XDG_CONFIG_HOME is "../x", so`},
	} {
		t.Chdir(t.TempDir())
		var out, stderr strings.Builder
		p := command.Process{Args: []string{c.client, "--hooks"}, Env: c.env, Stdout: &out, Stderr: &stderr}
		code := command.Verb(t.Context(), Command(p, nil), p)
		assert.Equal(t, 1, code, c.env)
		assert.Empty(t, out.String())
		assert.Contains(t, stderr.String(), c.want)
		assert.Empty(t, filesBelow(t, "."))
		assert.NotEmpty(t, Refusals(p))
	}
}
