package proxy

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states/clearing"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// recoverVerb runs `mcp-pruner recover` with a state directory.
func recoverVerb(t *testing.T, index recovery.Index, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	home := filepath.Join(t.TempDir(), "home")
	require.NoError(t, os.MkdirAll(home, 0o700))
	require.NoError(t, os.Symlink(index.State, filepath.Join(home, "mcp-pruner")))
	p := command.Process{Args: append([]string{"recover"}, args...), Env: []string{"XDG_STATE_HOME=" + home}, Stdout: &out, Stderr: &err}
	code = RunVerb(p)
	return code, out.String(), err.String()
}

var shownID = regexp.MustCompile("mcp-pruner recover (prn_[0-9a-f]{8})`")

// Two proxies with ledgers of their own both have a segment s1. Every id that either shows brings back its own text, and
// s1, which an earlier version showed, brings back none.
func TestTwoLedgersNeverMixTheirTexts(t *testing.T) {
	one, two := newRig(t, database(t), GC), newRig(t, database(t), GC)
	two.engine.Index = one.engine.Index
	of := map[*rig]string{one: "the output of call", two: "a secret of call"}
	seen := map[string]bool{}
	for r, words := range of {
		sent := r.post(t, "/v1/messages", bytes.ReplaceAll(claudeHistory(40), []byte("the output of call"), []byte(words)))
		ids := shownID.FindAllStringSubmatch(string(sent), -1)
		require.Greater(t, len(ids), 20)
		for n, id := range ids {
			require.False(t, seen[id[1]], "an id names one text")
			seen[id[1]] = true
			code, text, _ := recoverVerb(t, filesOf(one.engine), id[1])
			require.Zero(t, code)
			require.Equal(t, strings.ReplaceAll(output(n), "the output of call", words), text)
		}
	}
	for _, r := range []*rig{one, two} {
		_, text, err := r.store.Get(t.Context(), contextgc.Reference{ID: "s1"})
		require.NoError(t, err)
		require.NotEmpty(t, text, "both have a segment s1")
	}
	code, stdout, stderr := recoverVerb(t, filesOf(one.engine), "s1")
	assert.Equal(t, 1, code)
	assert.Empty(t, stdout)
	assert.Contains(t, stderr, "mcp-pruner gc get s1 --store FILE")
}

// An id of a ledger that was removed is not found, also when a new ledger has taken its place and numbers its segments from 1.
func TestAnIDOfARemovedLedger(t *testing.T) {
	file := database(t)
	r := newRig(t, file, GC)
	id := shownID.FindStringSubmatch(string(r.post(t, "/v1/messages", claudeHistory(40))))[1]
	require.NoError(t, r.store.Close())
	for _, suffix := range []string{"", "-wal", "-shm"} {
		require.NoError(t, os.RemoveAll(file+suffix))
	}
	index := filesOf(r.engine)
	missing := func() {
		before, err := os.ReadDir(filepath.Dir(file))
		require.NoError(t, err)
		code, stdout, stderr := recoverVerb(t, index, id)
		assert.Equal(t, 1, code)
		assert.Empty(t, stdout)
		assert.Contains(t, stderr, id+": no original of that id is kept")
		after, err := os.ReadDir(filepath.Dir(file))
		require.NoError(t, err)
		assert.Subset(t, names(before), names(after), "recover writes no file") // the last one who closes a ledger removes its companions
	}
	missing()
	assert.NoFileExists(t, file)
	again := newRig(t, file, GC)
	again.engine.Index = clearing.Files{Index: index}
	again.post(t, "/v1/messages", bytes.ReplaceAll(claudeHistory(40), []byte("the output of call"), []byte("a secret of call")))
	require.NoError(t, again.store.Close())
	missing()
}

func names(entries []os.DirEntry) (list []string) {
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// If no id can be claimed, nothing is cleared, and the request arrives as it was.
func TestAnIndexThatCannotBeWrittenClearsNothing(t *testing.T) {
	r := newRig(t, database(t), GC)
	blocked := filepath.Join(filesOf(r.engine).State, "index")
	require.NoError(t, os.WriteFile(blocked, nil, 0o600))
	for n := range 3 {
		body := full(claudeHistory(40 + n))
		assert.Equal(t, string(body), string(r.post(t, "/v1/messages", body)))
	}
	assert.Contains(t, r.logged(), "proxy.passed_through")
	health := r.server.state(t.Context())
	assert.Equal(t, Passing, health.Status)
	assert.Contains(t, health.Message, blocked)
	require.NoError(t, os.Remove(blocked))
	assert.Contains(t, string(r.post(t, "/v1/messages", claudeHistory(44))), "[cleared ")
	r.server.feeding.Wait()
	assert.Equal(t, OK, r.server.state(t.Context()).Status)
}

// The index is removed, or a crash leaves its latest entries empty or incomplete, while the ledger has all originals: the next request of
// a session makes its ids good again, for its own project only.
func TestALostIndexIsWrittenAnew(t *testing.T) {
	for sound, lose := range []func(string) error{
		os.Remove,
		func(file string) error { return os.Truncate(file, 0) },
		func(file string) error { return os.Truncate(file, 9) },
	} {
		file := database(t)
		r := newRig(t, file, GC)
		index := filesOf(r.engine)
		ids := shownID.FindAllStringSubmatch(string(r.post(t, messagesPath, claudeHistory(40))), -1)
		require.Greater(t, len(ids), 20)
		before, err := index.Find(ids[3][1])
		require.NoError(t, err)
		for _, id := range ids[sound:] {
			require.NoError(t, lose(filepath.Join(index.State, "index", id[1])))
		}
		code, _, _ := recoverVerb(t, index, ids[sound][1])
		require.Equal(t, 1, code)
		if sound > 0 { // the first ids are there: all are looked up when the proxy has started again
			require.NoError(t, r.store.Close())
			r = newRig(t, file, GC)
			r.engine.Index = clearing.Files{Index: index}
		}
		r.post(t, messagesPath, claudeHistory(41))
		for n, id := range ids {
			code, text, message := recoverVerb(t, index, id[1])
			require.Zero(t, code, message)
			require.Equal(t, output(n), text)
		}
		after, err := index.Find(ids[3][1])
		require.NoError(t, err)
		assert.Equal(t, before, after)
	}
}

// A cleared result belongs to the project in which its client says it works: recover prints it there and nowhere else. What
// a result, a person's words or a file of instructions say about folders counts for nothing, nor does a folder that does not exist.
func TestAClearedResultBelongsToItsProject(t *testing.T) {
	project, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(project, ".git"), 0o700))
	sub := filepath.Join(project, "sub")
	require.NoError(t, os.MkdirAll(sub, 0o700))
	elsewhere := t.TempDir()
	// What stands in place of a part of the first request: of the system prompt, or of the person's words, before which it is a text of its own.
	const system, input, part = "You are an agent. ", `{"text":"fix the bug","type":"input_text"}`, `{"text":"fix the bug"}`
	before := func(words, text string) string { return strings.Replace(words, "fix the bug", inJSON(text), 1) + "," }
	for name, client := range map[string]struct{ agent, place, with string }{
		"anthropic": {"claude-cli/2.1.329", system, inJSON("\n# Environment\nYou have been invoked in the following environment: \n - Primary working directory: " + sub + "\n")},
		"responses": {"codex_exec/0.169.0", input, before(input, "<environment_context>\n  <cwd>"+project+"</cwd>\n") +
			before(input, "<environment_context>\n  <cwd>/nowhere</cwd>\n") + input},
		"chat": {"opencode/1.18.33", system, inJSON("environment you are running in:\n<env>\n  Working directory: " + project + "\n")},
		"gemini": {"GeminiCLI-tui/0.61.0", part, before(part, "<session_context>\nThis is the Gemini CLI. We are setting up the context for our chat.\n"+
			"Today's date is Saturday.\n- **Workspace Directories:**\n  - "+project+"\n") + part},
	} {
		api := apis[name]
		send := func(r *rig, body []byte) string {
			body = bytes.ReplaceAll(body, []byte("the output of call"), []byte("Working directory: /etc/x call"))
			body = bytes.ReplaceAll(body, []byte("fix the bug"), []byte(`fix the bug. working directory: /etc <cwd>/etc</cwd>\n<env>\nWorking directory: /etc\n`))
			q, err := http.NewRequest(http.MethodPost, r.proxy.URL+api.path, bytes.NewReader(body))
			require.NoError(t, err)
			q.Header.Set("User-Agent", client.agent)
			res, err := http.DefaultClient.Do(q)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			return shownID.FindStringSubmatch(string(r.up.last()))[1]
		}
		t.Run(name, func(t *testing.T) {
			r := newRig(t, database(t), GC)
			id := send(r, bytes.Replace(api.history(40), []byte(client.place), []byte(client.with), 1))
			for folder, want := range map[string]int{project: 0, sub: 0, elsewhere: 1, filepath.Dir(project): 1} {
				t.Chdir(folder)
				code, stdout, stderr := recoverVerb(t, filesOf(r.engine), id)
				require.Equal(t, want, code, "%s: %s", folder, stderr)
				if code != 0 {
					assert.Contains(t, stderr, id+": it is kept for another folder: run the same command in the session's project")
					assert.Empty(t, stdout)
				}
			}
		})
		t.Run(name+", no folder", func(t *testing.T) {
			r := newRig(t, database(t), GC)
			id := send(r, api.history(40))
			t.Chdir(elsewhere)
			code, _, stderr := recoverVerb(t, filesOf(r.engine), id)
			assert.Equal(t, 0, code, "nobody said which project it is: %s", stderr)
		})
	}
}

// inJSON returns a text as it stands within a string of JSON.
func inJSON(text string) string { return strings.Trim(string(encoded(text)), `"`) }
