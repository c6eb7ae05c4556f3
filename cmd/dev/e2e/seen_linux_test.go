//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/e2e/mockmodel"
)

// shellTool returns the name by which a client's own shell is called.
func shellTool(c client) string {
	if c.name == "claude" {
		return "Bash"
	}
	return c.shell
}

// runs returns a turn that runs a command in the client's own shell.
func runs(c client, command string) mockmodel.Turn {
	return native("I run the tests to see which one fails and why.", shellTool(c), map[string]any{c.argument: command, "description": "which test failed and why"})
}

// TestPauseInASession: the command pause turns the hooks off in the session that runs it, says so if asked, and turns them on again.
func TestPauseInASession(t *testing.T) {
	for name, play := range map[string]func(*world) string{"claude": func(w *world) string { return w.claude() }, "codex": (*world).codex} {
		t.Run(name, func(t *testing.T) {
			c := only(name)
			w := hooked(t, c)
			w.onPath()
			w.model.Play(runs(c, testLog), runs(c, pruner+" pause"), runs(c, testLog), runs(c, pruner+" pause --show"), runs(c, pruner+" pause --end"), runs(c, testLog), done)
			out := play(w)
			results := w.results()
			require.Len(t, results, 6, out)
			assert.NotContains(t, results[0].text, "TestCase50 ")
			assert.Contains(t, results[1].text, "hooks are off for session ")
			assert.Contains(t, results[2].text, "TestCase50 ", "paused")
			assert.Contains(t, results[3].text, "hooks are off for session ")
			assert.Contains(t, results[4].text, "hooks are on for session ")
			assert.NotContains(t, results[5].text, "TestCase50 ", "on again")
		})
	}
}

// TestSlashCommandTurnsHooksOff: the plugin's command reaches the model only when the user types it, and its answer is the pause of that session.
func TestSlashCommandTurnsHooksOff(t *testing.T) {
	c := only("claude")
	w := newWorld(t, c)
	w.env = append(w.env, "XDG_STATE_HOME="+filepath.Join(w.home, "state"))
	w.onPath()
	repository, err := filepath.Abs("../../..")
	require.NoError(t, err)
	for _, args := range [][]string{{"marketplace", "add", repository}, {"install", "mcp-pruner@mcp-pruner"}} {
		w.play(append([]string{"plugin"}, args...)...)
	}
	w.write(filepath.Join(w.dir, "tests.sh"), testLog+"\n", 0o755)
	w.model.Play(native("", "Bash", map[string]any{"command": "mcp-pruner pause"}), runs(c, "sh tests.sh"), done)
	out := w.play("-p", "/mcp-pruner:off", "--output-format", "stream-json", "--verbose", "--setting-sources", "user", "--strict-mcp-config", "--allowedTools", "Bash(sh tests.sh)")
	results := w.results()
	require.Len(t, results, 2, out)
	assert.Contains(t, string(w.model.Requests()[0].Body), "mcp-pruner pause --end", "what the user typed is the command's text")
	assert.Contains(t, results[0].text, "hooks are off for session ", "the command brings its own rule")
	assert.Contains(t, results[1].text, "TestCase50 ")
}

// settled is a home of Claude Code in which it asks nothing before the first prompt.
func (w *world) settled() {
	w.env = append(w.env, "TERM=xterm-256color")
	w.write(filepath.Join(w.home, ".claude.json"), `{"hasCompletedOnboarding":true,"theme":"dark","numStartups":9,"customApiKeyResponses":{"approved":["sk-secret-anthropic"],"rejected":[]},`+
		`"projects":{"`+w.dir+`":{"hasTrustDialogAccepted":true,"hasCompletedProjectOnboarding":true}}}`, 0o600)
}

// TestStatusLineOnAScreen: Claude Code's own screen shows the user's line first and ours after it, as it stands during the session, and
// the message at the end of the turn.
func TestStatusLineOnAScreen(t *testing.T) {
	w := newWorld(t, only("claude"), runs(only("claude"), testLog), done)
	w.env = append(w.env, "XDG_STATE_HOME="+filepath.Join(w.home, "state"))
	w.settled()
	w.write(filepath.Join(w.home, "settings.json"), `{"statusLine": {"type": "command", "command": "echo my own line"}}`, 0o600)
	w.ours("init", "claude", "--hooks", "--statusline")
	cmd := exec.Command(installed(w.client.program), "--strict-mcp-config", "--setting-sources", "user", "--permission-mode", "default", "--allowedTools=Bash")
	cmd.Dir, cmd.Env = w.dir, w.env
	screen := onTerminal(t, cmd)
	screen.see("❯")
	screen.see("my own line")
	screen.keys("which test fails?\r")
	screen.see("three times")
	screen.see("mcp-pruner: 1 result cut,")
	for range 5 { // a busy client writes its transcript after the turn's end: then the net waits for the next turn
		if screen.shows("fresh input tokens", 5*time.Second) {
			break
		}
		screen.keys("and why?\r")
	}
	screen.see("fresh input tokens")
	screen.keys("/exit\r")
	assert.Zero(t, screen.exit())
}

// TestManagedStatusLine: a status line that an administrator set is left alone, and init says whose it is.
func TestManagedStatusLine(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs a name space of its own")
	}
	w := newWorld(t, only("claude"))
	const managed = `{"statusLine": {"type": "command", "command": "echo managed"}}`
	const script = `cp -a /etc "$1/etc" && mount --bind "$1/etc" /etc && mkdir -p /etc/claude-code && printf '%s\n' "$2" > /etc/claude-code/managed-settings.json && shift 2 && exec "$@"`
	cmd := exec.Command("unshare", "--mount", "sh", "-c", script, "sh", t.TempDir(), managed, pruner, "init", "claude", "--hooks", "--statusline")
	cmd.Dir, cmd.Env = w.dir, w.env
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "unshare failed") {
		t.Skip(string(out))
	}
	t.Logf("%v %s", err, out)
	assert.Contains(t, string(out), "an administrator's settings (/etc/claude-code/managed-settings.json) set the status line")
	text, _ := os.ReadFile(filepath.Join(w.home, "settings.json"))
	assert.NotContains(t, string(text), "statusLine")
}

// soon is how long a newcomer may wait for the first benefit, from the beginning of init. It takes seconds; opencode, which fetches a
// package once it has a plugin, finds it here.
const soon = 2 * time.Minute

// TestFirstCutInThreeClients: in a home with three clients and nothing of ours, one command sets all of them up, doctor and gain say
// that nothing was cut yet, each client's first result is cut soon, doctor and gain say that, and uninstall leaves the clients' files as
// they were.
func TestFirstCutInThreeClients(t *testing.T) {
	w := newWorld(t, only("claude"))
	w.env = append(w.env, "XDG_STATE_HOME="+filepath.Join(w.home, "state"))
	var worlds []*world
	for _, c := range []client{w.client, only("codex"), other("opencode")} {
		one := *w
		one.client = c
		one.model = mockmodel.Start(t, done)
		if c.name != w.client.name {
			require.NoError(t, os.Symlink(installed(c.program), filepath.Join(filepath.Dir(w.dir), "bin", c.name)))
			one.env = slices.Clone(w.env)
			c.setUp(&one)
			w.env = one.env
		}
		worlds = append(worlds, &one)
	}
	for _, one := range worlds {
		one.env = slices.Clone(w.env)
		one.point()
	}
	play := func(one *world) string {
		switch one.client.name {
		case "claude":
			return one.claude()
		case "codex":
			return one.codex()
		}
		text, _ := one.own("how often is it tried?").CombinedOutput()
		return string(text)
	}
	for _, one := range worlds { // as a user's clients are: what they fetch and unpack at their first start is theirs
		before := time.Now()
		out := play(one)
		require.NotEmpty(t, one.model.Requests(), out)
		t.Logf("%s: %.1f s without us, the first time", one.client.name, time.Since(before).Seconds())
		one.model = mockmodel.Start(t, runs(one.client, testLog), done)
		one.point()
	}
	before := w.setUpFiles()
	began := time.Now()
	said := w.ours("init", "--yes")
	assert.Contains(t, said, "On now: Claude Code (hooks); Codex (hooks); opencode (hooks).")
	setUp := time.Since(began)
	assert.Equal(t, 2, strings.Count(w.ours("doctor"), "hooks on, nothing cut yet"), "and Codex's are not trusted")
	out, _, err := w.verb("gain")
	assert.Error(t, err, out)
	for _, one := range worlds {
		began := time.Now()
		out := play(one)
		results := one.results()
		require.Len(t, results, 1, out)
		assert.Contains(t, results[0].text, "want 3 retries, got 4", one.client.name)
		assert.NotContains(t, results[0].text, "TestCase50 ", one.client.name)
		took := setUp + time.Since(began)
		t.Logf("%s: cut %.1f s after the command began", one.client.name, took.Seconds())
		assert.Less(t, took, soon, one.client.name)
	}
	assert.Equal(t, 3, strings.Count(w.ours("doctor"), "hooks on, last cut"))
	assert.Regexp(t, `(?s)in 3 sessions\.\n3 results cut: `, w.ours("gain"))
	w.ours("uninstall")
	assert.Equal(t, before, w.setUpFiles())
}

// setUpFiles returns the files that init changes in a home, by path.
func (w *world) setUpFiles() map[string]string {
	found := map[string]string{}
	for _, pattern := range []string{"settings.json", "config.toml", "hooks.json", ".config/opencode/opencode.json*", ".config/opencode/plugin*/*"} {
		paths, err := filepath.Glob(filepath.Join(w.home, pattern))
		require.NoError(w.t, err)
		for _, path := range paths {
			text, err := os.ReadFile(path)
			require.NoError(w.t, err)
			found[path] = strings.Replace(string(text), "  \"$schema\": \"https://opencode.ai/config.json\",\n", "", 1) // which opencode adds
		}
	}
	return found
}
