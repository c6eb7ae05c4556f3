//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/e2e/mockmodel"
)

// codexModel is a model that Codex lists.
type codexModel struct {
	Slug string `json:"slug"`
	Mode string `json:"tool_mode"`
}

// codexModels asks the real Codex for its models.
func codexModels(t *testing.T) []codexModel {
	if missing != nil {
		t.Skip("the clients are not installed: see the top")
	}
	cmd := exec.Command(installed(both()[1].program), "debug", "models")
	cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=/usr/bin:/bin"}
	out, err := cmd.Output()
	require.NoError(t, err)
	var list struct{ Models []codexModel }
	require.NoError(t, json.Unmarshal(out, &list))
	require.NotEmpty(t, list.Models)
	return list.Models
}

// TestCodexAtItsDefaults proves for each model that the real Codex lists, and for its default, that "init codex" sets up what works
// with it: Codex starts the proxy itself, old results are cleared and come back whole, the exit status is true; hooks cut where the
// model calls its tools itself, and are left out elsewhere; doctor says the same; and the undo leaves the configuration as it was.
func TestCodexAtItsDefaults(t *testing.T) {
	for _, m := range append([]codexModel{{"", "code_mode_only"}}, codexModels(t)...) {
		require.Contains(t, []string{"", "code_mode_only"}, m.Mode, "%s calls tools in a new way", m.Slug)
		t.Run("model "+m.Slug, func(t *testing.T) {
			direct := m.Mode == ""
			turns := []mockmodel.Turn{{Calls: []mockmodel.Call{codexCall(direct, testLog+"; exit 3")}}}
			for i := range 24 {
				turns = append(turns, mockmodel.Turn{Calls: []mockmodel.Call{codexCall(direct, fmt.Sprintf("seq -f 'line %%g of the output of call %d' 1 300", i))}})
			}
			w, b := codexLogin(t, withKey, append(turns, done)...)
			w.withState()
			config := filepath.Join(w.home, "config.toml")
			before := quietCodex
			if m.Slug != "" {
				before = fmt.Sprintf("model = %q\n", m.Slug) + quietCodex
				w.write(config, before, 0o600)
			}
			began := time.Now()
			said := w.ours("init", "codex")
			hooks, err := os.ReadFile(filepath.Join(w.home, "hooks.json"))
			require.NoError(t, err)
			if direct {
				assert.Contains(t, said, "model "+m.Slug+" calls its tools itself: hooks, and the proxy")
				assert.Contains(t, string(hooks), "hook codex")
			} else {
				assert.Regexp(t, "model "+m.Slug+".* calls tools from code, .*: the proxy, .* and no hooks", said)
				assert.NotContains(t, string(hooks), "hook codex")
			}
			port := w.otherPort(config)
			w.endProxy(port)
			run := exec.Command(installed(w.client.program), "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust", "which test failed?")
			run.Dir, run.Env = w.dir, w.env
			out, err := run.CombinedOutput()
			require.NoError(t, err, string(out))
			assert.Contains(t, string(out), "three times")
			assert.Less(t, time.Since(began), soon, "the first benefit")
			w.checkCodexModel(b, direct)
			state := w.doctorSays()
			assert.Regexp(t, `proxy at http://127.0.0.1:`+port+` answers \(policy gc, [1-9]\d+ requests, \d+ results replaced\)`, state)
			if direct {
				assert.Contains(t, state, "Codex: hooks on, last cut ", "this run was told not to ask for trust")
			} else {
				assert.Regexp(t, "Codex: proxy on; hooks do nothing with its model "+m.Slug+".*, which calls tools from code", state)
			}
			assert.Contains(t, w.ours("init", "codex", "--uninstall"), "the proxy at http://127.0.0.1:"+port+" has ended")
			text, err := os.ReadFile(config)
			require.NoError(t, err)
			assert.Equal(t, before, string(text))
			assert.NoFileExists(t, filepath.Join(w.home, "hooks.json"))
		})
	}
}

// codexCall is a command, called by the model itself or from its code.
func codexCall(direct bool, command string) mockmodel.Call {
	if direct {
		return mockmodel.Call{Tool: "exec_command", Args: map[string]any{"cmd": command}}
	}
	return mockmodel.Call{Tool: "exec", Code: "const r = await tools.exec_command({cmd: " + fmt.Sprintf("%q", command) + "}); text(`exit code ${r.exit_code}\n${r.output}`)"}
}

// checkCodexModel checks what the model was sent: the failed command with its status, first whole or cut, and results that were cleared.
func (w *world) checkCodexModel(b *backends, direct bool) {
	calls := b.modelCalls()
	require.Greater(w.t, len(calls), 20)
	first, last := string(calls[1].body), string(calls[len(calls)-1].body)
	assert.NotContains(w.t, first, "Script error")
	if direct {
		assert.Contains(w.t, first, "of 324 lines; rest: `")
		assert.Contains(w.t, first, "exited with code 3")
		assert.NotContains(w.t, first, "PASS: TestMore40")
	} else {
		assert.Contains(w.t, first, "exit code 3")
		assert.Contains(w.t, first, "PASS: TestMore40", "whole: the model's code reads it")
		assert.Contains(w.t, last, "[cleared ")
	}
	ids := regexp.MustCompile(`recover (prn_[0-9a-f]+)`).FindAllStringSubmatch(last, -1)
	require.NotEmpty(w.t, ids)
	whole := ""
	for _, id := range ids {
		whole += w.ours("recover", id[1])
	}
	assert.Contains(w.t, whole, "line 150 of the output of call 1\n")
}

// otherPort gives the proxy of Codex's configuration a free port, which no other test has.
func (w *world) otherPort(config string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(w.t, err)
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(w.t, err)
	require.NoError(w.t, l.Close())
	for path, of := range map[string]string{config: ":%s/", filepath.Join(w.home, "hooks.json"): "--port %s"} {
		text, err := os.ReadFile(path)
		require.NoError(w.t, err)
		w.write(path, strings.ReplaceAll(string(text), fmt.Sprintf(of, "8787"), fmt.Sprintf(of, port)), 0o600)
	}
	return port
}

// endProxy ends the proxy at a port after the test.
func (w *world) endProxy(port string) {
	w.t.Cleanup(func() {
		for _, line := range w.left() {
			if pid, rest, _ := strings.Cut(line, " "); strings.Contains(rest, " proxy --port "+port) {
				_ = exec.Command("kill", "-9", pid).Run()
			}
		}
	})
}

// doctorSays returns what doctor prints, whatever its exit code.
func (w *world) doctorSays() string {
	out, _, _ := w.verb("doctor")
	return out
}
