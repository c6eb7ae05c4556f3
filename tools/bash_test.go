//go:build unix

package tools

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// bashTool runs commands in a shell that reads no profile of the machine's.
func bashTool(t *testing.T, s Settings) (Tool, string) {
	t.Helper()
	if s.Root == "" {
		s.Root = t.TempDir()
	}
	if s.Env == nil {
		env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
		s.Env = func() []string { return env }
	}
	return newTools(t, s)["bash"], s.Root
}

func command(line string, more ...string) string {
	return `{"command":` + quote(line) + strings.Join(more, "") + `}`
}

func TestBashResult(t *testing.T) {
	bash, root := bashTool(t, Settings{})
	require.NoError(t, os.Mkdir(filepath.Join(root, "sub"), 0o755))
	out := run(t, bash, command("pwd; echo oops >&2; echo $X; read line || echo no input", `,"cwd":"sub","env":{"X":"ü"}`))
	got := structured(t, out)
	delete(got, "duration_ms")
	assert.Equal(t, map[string]any{
		"tool": "bash", "command": got["command"], "cwd": filepath.Join(root, "sub"),
		"stdout": filepath.Join(root, "sub") + "\nü\nno input\n", "stderr": "oops\n",
		"exit_code": 0., "timed_out": false, "truncated": false, "pruning": map[string]any{},
	}, got)
	assert.Equal(t, got["stdout"].(string)+"[stderr]\noops\n", out.Text())
	assert.Equal(t, got["stdout"], out.Code())
}

func TestBashPrunesOneStream(t *testing.T) {
	bash, _ := bashTool(t, Settings{})
	for _, c := range []struct{ command, code, text string }{
		{"echo out; echo err >&2", "out\n", "less\n[stderr]\nerr\n"},
		{"echo err >&2", "err\n", "less"},
	} {
		out := run(t, bash, command(c.command))
		assert.Equal(t, c.code, out.Code())
		pruned := prunedTo(t, out, "less")
		assert.Equal(t, c.text, pruned.Text())
	}
}

// TestBashStderrAlone: the mark tells two streams apart; one needs none.
func TestBashStderrAlone(t *testing.T) {
	bash, _ := bashTool(t, Settings{})
	out := run(t, bash, command("echo err >&2"))
	assert.Equal(t, "err\n", out.Text())
	_, err := call(t, bash, command("echo err >&2; exit 3"))
	assert.Equal(t, "Error (nonzero_exit): command exited with code 3\nerr\n", failure(t, err, "nonzero_exit").Text())
}

// TestBashPrunedToNothing: that a pruner kept nothing is not that nothing was
// printed, and a stream that stays is still marked as what it is.
func TestBashPrunedToNothing(t *testing.T) {
	bash, _ := bashTool(t, Settings{})
	for _, c := range []struct{ command, pruned, text, notice string }{
		{"echo out", "", "", "the pruner kept none of stdout"},
		{"echo out", " \n", " \n", "the pruner kept none of stdout"},
		{"echo err >&2", "", "", "the pruner kept none of stderr"},
		{"echo out; echo err >&2", "", "[stderr]\nerr\n", "the pruner kept none of stdout"},
	} {
		out := run(t, bash, command(c.command))
		pruned := prunedTo(t, out, c.pruned)
		assert.Equal(t, c.text, pruned.Text(), c.command)
		assert.Equal(t, c.notice, pruned.(Noticer).Notice(), "nobody is told to run it again")
		stored := pruned.(Keeper).WithOriginal("prn_12345678").(Noticer).Notice()
		assert.Equal(t, c.notice+"; read file_path=prn_12345678 shows it", stored)
	}
	out := run(t, bash, command("true"))
	assert.Equal(t, "no output", out.(Noticer).Notice())
}

func TestBashFailures(t *testing.T) {
	bash, root := bashTool(t, Settings{})
	write(t, root, "file", "")
	require.NoError(t, os.Symlink("/", filepath.Join(root, "out")))
	e := fails(t, bash, command("echo out; echo err >&2; exit 3"), "nonzero_exit")
	assert.Equal(t, 3, *e.ExitCode)
	assert.Equal(t, "Error (nonzero_exit): command exited with code 3\nout\n[stderr]\nerr\n", e.Text())
	assert.Equal(t, 137, *fails(t, bash, command("exec kill -9 $$"), "nonzero_exit").ExitCode)
	assert.Equal(t, 127, *fails(t, bash, command("-x"), "nonzero_exit").ExitCode)
	for _, cwd := range []string{"missing", "file", "out", "file/x"} {
		fails(t, bash, command("true", `,"cwd":"`+cwd+`"`), "invalid_cwd")
	}
}

func TestBashNonzeroExitAsOutput(t *testing.T) {
	bash, _ := bashTool(t, Settings{NonzeroExitAsOutput: true})
	out := run(t, bash, command("echo out; exit 3"))
	assert.EqualValues(t, 3, structured(t, out)["exit_code"])
	assert.Equal(t, "exit code 3", out.(interface{ Notice() string }).Notice())
}

func TestBashFallsBackToSh(t *testing.T) {
	bash, _ := bashTool(t, Settings{LookPath: without("bash")})
	out := run(t, bash, command(`echo "[$BASH_VERSION] -x"`))
	if sh, _ := filepath.EvalSymlinks("/bin/sh"); !strings.Contains(sh, "bash") {
		assert.Equal(t, "[] -x\n", out.Code())
	}
	bash, _ = bashTool(t, Settings{LookPath: without("bash", "sh")})
	fails(t, bash, command("true"), "spawn_error")

	// A bash that is there and cannot be run is no bash either.
	dir := t.TempDir()
	broken := filepath.Join(dir, "bash")
	require.NoError(t, os.WriteFile(broken, []byte("#!/no/such/interpreter\n"), 0o755))
	bash, _ = bashTool(t, Settings{LookPath: func(name string) (string, error) {
		if name == "bash" {
			return broken, nil
		}
		return exec.LookPath(name)
	}})
	out = run(t, bash, command("echo fine"))
	assert.Equal(t, "fine\n", out.Code())
}

func TestBashEnvironment(t *testing.T) {
	secrets := []string{
		"PRUNER_URL", "MCP_PRUNER_CWD", "JEEVES_X", "DEEPINFRA_API_KEY", "ANTHROPIC_API_KEY",
		"CLAUDE_CODE_TOKEN", "CODEX_HOME", "OPENAI_API_KEY",
	}
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=/nowhere", "OPENAI_BASE=seen", "CLAUDE_PROJECT_DIR=seen", "LET=seen"}
	for _, name := range append(secrets, "CODEX_LET") {
		env = append(env, name+"=secret")
	}
	bash, _ := bashTool(t, Settings{Env: func() []string { return env }, PassEnv: []string{"CODEX_LET"}})
	out := run(t, bash, command("env", `,"env":{"LET":"mine","PRUNER_URL":"given"}`))
	seen := strings.Split(out.Code(), "\n")
	for _, name := range secrets {
		assert.NotContains(t, seen, name+"=secret")
	}
	for _, want := range []string{"OPENAI_BASE=seen", "CLAUDE_PROJECT_DIR=seen", "CODEX_LET=secret", "LET=mine", "PRUNER_URL=given"} {
		assert.Contains(t, seen, want)
	}
}

// TestTheDatabasesPassword: what opens the server's database is hidden from commands; without one it is the user's.
func TestTheDatabasesPassword(t *testing.T) {
	names := []string{"PGPASSWORD", "PGPASSFILE", "PGSERVICEFILE", "PGSSLKEY", "PGSSLPASSWORD"}
	for store, seen := range map[string]bool{"": true, "sqlite:/a": true, "postgres://db/x": false, "postgresql://db/x": false} {
		env := []string{"PATH=" + os.Getenv("PATH"), "MCP_PRUNER_STORE=" + store, "PGHOST=db"}
		for _, name := range names {
			env = append(env, name+"=secret")
		}
		bash, _ := bashTool(t, Settings{Env: func() []string { return env }})
		out := run(t, bash, command("env"))
		assert.Contains(t, out.Code(), "PGHOST=db")
		for _, name := range names {
			assert.Equal(t, seen, strings.Contains(out.Code(), name+"=secret"), "%s with %q", name, store)
		}
		assert.Equal(t, !seen, Hidden(env)("PGPASSWORD"))
	}
}

// TestBashKeepsThePath: what is first on the server's PATH is first in commands,
// whatever the login profile sets.
func TestBashKeepsThePath(t *testing.T) {
	home := t.TempDir()
	write(t, home, ".bash_profile", "export PATH=/from/profile:/usr/bin:/bin MCP_PROFILE=read\n")
	write(t, home, "venv/python", "#!/bin/sh\necho ours\n")
	require.NoError(t, os.Chmod(filepath.Join(home, "venv/python"), 0o755))
	path := filepath.Join(home, "venv") + ":" + os.Getenv("PATH")
	bash, _ := bashTool(t, Settings{Env: func() []string { return []string{"HOME=" + home, "PATH=" + path} }})
	out, err := call(t, bash, command(`python; echo $MCP_PROFILE; echo "$PATH"; env | grep -c MCP_PRUNER_`))
	failed := failure(t, err, "nonzero_exit") // of grep, which finds none
	lines := strings.Split(*failed.Stdout, "\n")
	assert.Nil(t, out)
	assert.Equal(t, []string{"ours", "read"}, lines[:2])
	assert.True(t, strings.HasPrefix(lines[2], path+":"), lines[2])
	assert.Contains(t, lines[2], "/from/profile")
	assert.Equal(t, "0", lines[3])

	out, err = call(t, bash, command("python", `,"env":{"PATH":"/usr/bin:/bin:/nowhere"}`))
	assert.Nil(t, out)
	assert.Equal(t, 127, *failure(t, err, "nonzero_exit").ExitCode, "a call's own PATH wins")

	failed = fails(t, bash, command("echo (oops"), "nonzero_exit")
	assert.Contains(t, *failed.Stderr, "line 1")
	assert.NotContains(t, *failed.Stderr, "MCP_PRUNER")
}

// TestBashWithoutAPath: without PATH the shell is where it always is.
func TestBashWithoutAPath(t *testing.T) {
	root := t.TempDir()
	t.Setenv("PATH", "")
	list, err := New(Settings{Root: root, Env: func() []string { return []string{"HOME=" + root} }})
	require.NoError(t, err)
	out := run(t, list[1], command("echo fine"))
	assert.Equal(t, "fine\n", out.Code())
}

func TestBashTimeoutSettings(t *testing.T) {
	bash, _ := bashTool(t, Settings{BashTimeout: 600_000, BashMaxTimeout: 3_600_000})
	assert.Contains(t, string(bash.InputSchema), `"maximum":3600000,"default":600000`)
	assert.Equal(t, 600_000, checked(t, bash, command("true")).(*bashCall).timeout)
	assert.Equal(t, 3_600_000, checked(t, bash, command("true", `,"timeout_ms":3600000`)).(*bashCall).timeout)
	bash, _ = bashTool(t, Settings{BashMaxTimeout: 10_000})
	assert.Equal(t, 10_000, checked(t, bash, command("true")).(*bashCall).timeout, "the most bounds the default")
}

func TestBashSharesTheCap(t *testing.T) {
	bash, _ := bashTool(t, Settings{})
	for _, c := range []struct {
		command        string
		stdout, stderr int
		truncated      bool
	}{
		{"printf %1024d 0", 1024, 0, false},
		{"printf %1025d 0", 1024, 0, true},
		{"printf %2000d 0; printf %2000d 0 >&2", 768, 256, true},
		{"printf %2000d 0; printf %100d 0 >&2", 924, 100, true},
		{"printf %100d 0; printf %2000d 0 >&2", 100, 924, true},
		{"printf %1023d 0; printf é", 1023, 0, true},
		{"printf %1024d 0 >&2", 0, 1024, false},
		{"printf %1025d 0 >&2", 0, 1024, true},
		{"printf %700d 0; printf %400d 0 >&2", 700, 324, true},
		{"printf %900d 0; printf %200d 0 >&2", 824, 200, true},
		{"printf '\\377\\376'", 6, 0, false},
	} {
		out := run(t, bash, command(c.command, `,"max_output_bytes":1024`))
		got := structured(t, out)
		assert.Len(t, got["stdout"], c.stdout, c.command)
		assert.Len(t, got["stderr"], c.stderr, c.command)
		assert.Equal(t, c.truncated, got["truncated"], c.command)
	}
}

// TestBashOutputIsBounded: a command that prints without end is neither kept in
// memory nor blocked or killed by it.
func TestBashOutputIsBounded(t *testing.T) {
	bash, _ := bashTool(t, Settings{})
	peak := peakHeap(t, func() {
		out := run(t, bash, command("head -c 300000000 /dev/zero | tr '\\0' x && echo done >&2", `,"max_output_bytes":65536`))
		got := structured(t, out)
		assert.Equal(t, "done\n", got["stderr"])
		assert.Len(t, got["stdout"], 65536-len("done\n"))
	})
	assert.Less(t, peak>>20, uint64(8))
}

func TestBashTimeout(t *testing.T) {
	for about, line := range map[string]string{
		"plain":            "echo before; sleep 600",
		"pipeline":         "echo before; sleep 600 | cat",
		"background":       "echo before; sleep 600 & wait",
		"ignores SIGTERM":  "trap '' TERM; echo before; while :; do sleep 600; done",
		"stopped":          "echo before; kill -STOP $$",
		"output closed":    "echo before; exec >&- 2>&-; sleep 600",
		"prints for ever":  "echo before; yes",
		"orphans ignoring": "echo before; (trap '' TERM; echo $BASHPID >orphan; while :; do sleep 600; done) & sleep 600",
	} {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			bash, root := bashTool(t, Settings{})
			_, err := call(t, bash, command("echo $$ >group; "+line, `,"timeout_ms":4000,"max_output_bytes":1024`)) // time to start, on any machine
			e := failure(t, err, "timeout")
			assert.Equal(t, 4000, e.TimeoutMS)
			assert.True(t, strings.HasPrefix(*e.Stdout, "before\n"), *e.Stdout)
			group := pidIn(t, filepath.Join(root, "group"))
			require.Eventually(t, func() bool { return !running(-group) }, time.Minute, 10*time.Millisecond)
		})
	}
}

func TestBashCancelKillsTheGroup(t *testing.T) {
	bash, root := bashTool(t, Settings{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(filepath.Join(root, "ready")); err == nil {
				cancel()
			}
		}
	}()
	_, err := checked(t, bash, command("echo $$ >group; sleep 600 & touch ready; wait")).Run(ctx)
	require.True(t, errors.Is(err, context.Canceled), "%v", err)
	group := pidIn(t, filepath.Join(root, "group"))
	require.Eventually(t, func() bool { return !running(-group) }, time.Minute, 10*time.Millisecond)
}

// TestBashLeavesDaemonsAlone: what a command starts in the background cannot
// hold up the call, keeps running, and survives printing to the call's pipe.
func TestBashLeavesDaemonsAlone(t *testing.T) {
	setsid := "setsid "
	if _, err := exec.LookPath("setsid"); err != nil {
		setsid = ""
	}
	for _, start := range []string{"", setsid, "nohup "} {
		bash, root := bashTool(t, Settings{})
		begin := time.Now()
		daemon := `bash -c 'echo $$ >daemon; while [ ! -e go ]; do sleep 0.02; done; echo a; echo b; echo c; touch survived; exec sleep 600'`
		out := run(t, bash, command(start+daemon+" & until [ -s daemon ]; do sleep 0.01; done; echo started"))
		assert.Contains(t, out.Code(), "started\n")
		assert.Less(t, time.Since(begin), time.Minute)
		pid := pidIn(t, filepath.Join(root, "daemon"))
		t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
		write(t, root, "go", "")
		require.Eventually(t, func() bool {
			_, err := os.Stat(filepath.Join(root, "survived"))
			return err == nil
		}, 10*time.Second, 10*time.Millisecond)
		assert.True(t, running(pid))
	}
}

// TestBashKeepsWhatWasPrintedBeforeTheEnd: with a pipe that stays open, the last
// output still arrives whole.
func TestBashKeepsWhatWasPrintedBeforeTheEnd(t *testing.T) {
	bash, _ := bashTool(t, Settings{})
	for range 10 {
		out := run(t, bash, command("sleep 3 & head -c 60000 /dev/zero | tr '\\0' x"))
		require.Len(t, out.Code(), 60000)
	}
}

func TestBashLongCommandLine(t *testing.T) {
	bash, _ := bashTool(t, Settings{})
	out := run(t, bash, command(": "+strings.Repeat("x", 49_900)+"; echo fine"))
	assert.Equal(t, "fine\n", out.Code())
}

func pidIn(t *testing.T, file string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	return pid
}

// running says whether a process, or any of a group, is more than a zombie.
func running(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	flag := "-p"
	if pid < 0 {
		flag, pid = "-g", -pid
	}
	states, _ := exec.Command("ps", "-o", "stat=", flag, strconv.Itoa(pid)).Output()
	for state := range strings.FieldsSeq(string(states)) {
		if state[0] != 'Z' {
			return true
		}
	}
	return false
}
