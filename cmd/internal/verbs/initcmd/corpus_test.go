package initcmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
)

// odd returns settings as users and other programs write them.
func odd() []string {
	var large bytes.Buffer
	large.WriteString("{\"allowed\": {")
	for i := range 18000 {
		fmt.Fprintf(&large, "\n  \"key %d\": [%d, \"value of a key that makes the file large\"],", i, i)
	}
	large.WriteString("\n  \"last\": null}}\n")
	return []string{
		"", " \n", "{}", "{}\n", "[]", "null", "\"x\"", "{", "{\"a\":1}", "{\n  \"a\": 1\n}", "{\r\n\t\"a\": 1,\r\n\t\"b\": {}\r\n}\r\n",
		"{\n    \"hooks\": {},\n    \"mcpServers\": {}, \"mcp\": {}\n}", "{\"hooks\":{\"PostToolUse\":[],\"AfterTool\":[]}}",
		"{\"hooks\":null}", "{\"hooks\":[]}", "{\"mcpServers\":3,\"mcp\":3,\"env\":3}",
		"{\"a\":1,\"a\":2}", "{\"hooks\":{\"PostToolUse\":[1]},\"hooks\":{\"PostToolUse\":[{\"hooks\":[]}]}}",
		"{\"env\":{\"A\":\"1\"},\"env\":{\"B\":\"2\"}}",
		"{\"mcpServers\":{\"x\":{}},\"mcpServers\":{\"y\":{}}}", "{\"caf\u00e9\": \"\u2028 \U0001f600 \\ud83d\\ude00 \\ud800\"}",
		"{\"n\": 1e400, \"m\": 12345678901234567890123, \"z\": -0.0}",
		"// c\n{\"a\": 1}", "{\n  \"a\": 1, // c\n  /* d */ \"b\": \"// no comment\"\n}\n", "{\"a\": [1,],}", "{\n  \"a\": 1,\n}\n",
		"\ufeff{}", "{\"a\": \"\xff\"}", "{\"a\": 1}\x00", "{\"a\":\t\"b\tc\"}",
		"{\"description\": \"mine\",\n \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"bell\"}]}]}}\n",
		strings.Repeat("{\"a\":", 200) + "1" + strings.Repeat("}", 200), large.String(),
		"model = \"x\"", "a = 1 # c\r\n[mcp_servers.other]\r\ncommand = \"x\"\r\n", "mcp_servers = {}",
		"mcp_servers.o.command = \"x\"\n", "[mcp_servers]\no = { command = \"x\" }",
		"[[mcp_servers]]\na = 1\n", "mcp_servers = 3\n", "[a]\nmcp_servers = {}\n[mcp_servers.x]\ncommand = \"y\"\n",
		"a = '''\n[mcp_servers]\n'''\n", "a = 1\na = 2\n", "[mcp_servers.pruner]\ncommand = \"theirs\"\n",
	}
}

// setups are the command lines that change a file, with the file.
var setups = []struct {
	args []string
	file func(setup.Files) setup.File
}{
	{[]string{"claude"}, hooksFile}, {[]string{"claude", "--hooks", "--proxy"}, hooksFile}, {[]string{"claude", "--mcp"}, serversFile},
	{[]string{"codex"}, hooksFile}, {[]string{"codex", "--mcp"}, serversFile}, {[]string{"gemini", "--hooks", "--mcp"}, hooksFile},
	{[]string{"opencode", "--mcp", "--proxy"}, serversFile},
}

func hooksFile(f setup.Files) setup.File   { return f.Hooks }
func serversFile(f setup.Files) setup.File { return f.Servers }

// tryOut runs init and its undoing on a file. Either init refuses and the bytes stay, or the client can read what is
// there then, with everything that was there before, and gets the same bytes back.
func tryOut(t *testing.T, args []string, file func(setup.Files) setup.File, text []byte) {
	t.Helper()
	dir := t.TempDir()
	p := command.Process{Env: []string{"HOME=" + dir}}
	found, err := setup.Home{Lookup: p.Lookup}.Files(args[0])
	require.NoError(t, err)
	f := file(found)
	require.NoError(t, os.MkdirAll(filepath.Dir(f.Path), 0o700))
	require.NoError(t, os.WriteFile(f.Path, text, 0o600))
	was := filesBelow(t, dir)

	code, _, stderr := verb(t, dir, args...)
	if code != 0 {
		require.Equal(t, 1, code)
		require.Contains(t, stderr, f.Path+": ")
		require.Equal(t, was, filesBelow(t, dir), stderr)
		return
	}
	now, err := os.ReadFile(f.Path)
	require.NoError(t, err)
	before, err := f.Syntax.Decode(text)
	require.NoError(t, err)
	after, err := f.Syntax.Decode(now)
	require.NoError(t, err, "%s", now)
	require.NoError(t, lost(before, after), "%s", now)
	require.NotEqual(t, string(text), string(now))

	code, _, stderr = verb(t, dir, args[0], "--uninstall")
	require.Zero(t, code, stderr)
	require.Equal(t, was, filesBelow(t, dir))
}

// lost returns an error for a value that was there before and is not there any more.
func lost(before, after any) error {
	switch b := before.(type) {
	case nil:
		return nil
	case map[string]any:
		a, ok := after.(map[string]any)
		if !ok {
			return fmt.Errorf("%v became %v", before, after)
		}
		for name, value := range b {
			if err := lost(value, a[name]); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return nil
	case []any:
		a, ok := after.([]any)
		if !ok || len(a) < len(b) {
			return fmt.Errorf("%v became %v", before, after)
		}
		for i := range b {
			if err := lost(b[i], a[i]); err != nil {
				return err
			}
		}
		return nil
	}
	was, _ := json.Marshal(before)
	is, _ := json.Marshal(after)
	if !bytes.Equal(was, is) {
		return fmt.Errorf("%s became %s", was, is)
	}
	return nil
}

// largeOdd is the size in bytes from which an odd text takes too long for a fuzzing engine, which ends what takes ten seconds.
const largeOdd = 1 << 16

func TestInitOnLargeFiles(t *testing.T) {
	for _, text := range odd() {
		if len(text) >= largeOdd {
			tryOut(t, setups[0].args, setups[0].file, []byte(text))
		}
	}
}

// FuzzInit runs init on every other odd text as each client's file; without fuzzing, too.
func FuzzInit(f *testing.F) {
	for i := range setups {
		for _, text := range odd() {
			if len(text) < largeOdd {
				f.Add(i, []byte(text))
			}
		}
	}
	f.Fuzz(func(t *testing.T, setup int, text []byte) {
		s := setups[uint(setup)%uint(len(setups))]
		tryOut(t, s.args, s.file, text)
	})
}
