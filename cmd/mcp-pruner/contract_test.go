package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs"
)

// Part J of the specification: verbs, flags, and the values of those that have a choice.
var contract = map[string]string{
	"replay": "policy=hook|mcp|proxy|gc|context|hook+gc|all json html explain", "hook": "", "recover": "lines pattern",
	"gc analyze": "project-id target-tokens store", "gc prune": "project-id segment-ids action confirm store",
	"gc pin": "project-id segment-ids store", "gc unpin": "project-id segment-ids store",
	"gc get": "project-id store", "gc search": "project-id store", "gc settings": "",
	"proxy":   "port upstream policy=gc|prune|both|off store",
	"gateway": "mode=auto|group|trim split-rw bare target map list report http port wrap prune-over", "gateway init": "show yes uninstall",
	"init":        "hooks mcp proxy show uninstall",
	"trace heads": "", "trace verify": "", "trace stats": "", "trace report": "", "prune": "batch",
}

// allVerbs lists the verbs that are shown, by their path, without the program's name.
func allVerbs(t *testing.T) map[string]*cobra.Command {
	t.Helper()
	all := make(map[string]*cobra.Command)
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Hidden {
			return
		}
		_, path, _ := strings.Cut(c.CommandPath(), " ")
		all[path] = c
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(verbs.Root(command.Process{Stdin: new(bytes.Buffer), Stdout: io.Discard, Stderr: io.Discard}))
	return all
}

func TestContract(t *testing.T) {
	all := allVerbs(t)
	for path, flags := range contract {
		require.Contains(t, all, path)
		for want := range strings.FieldsSeq(flags) {
			name, choice, limited := strings.Cut(want, "=")
			flag := all[path].Flag(name)
			if assert.NotNil(t, flag, "%s --%s", path, name) && limited {
				assert.Equal(t, choice, flag.Value.Type(), "%s --%s", path, name)
			}
		}
	}
	assert.Equal(t, "0", all["proxy"].Flag("port").DefValue)
	makefile, err := os.ReadFile("../../Makefile")
	require.NoError(t, err)
	for _, target := range []string{"train", "quality", "bench", "dist"} {
		assert.Contains(t, string(makefile), "\n"+target+":")
	}
}

// workplace is the working directory of a test, with files for every verb.
type workplace struct {
	t   *testing.T
	dir string
	env []string
}

func newWorkplace(t *testing.T) workplace {
	t.Helper()
	w := workplace{t: t, dir: t.TempDir()}
	t.Chdir(w.dir)
	w.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir, "USERPROFILE=" + w.dir, "SYSTEMROOT=" + os.Getenv("SYSTEMROOT"), "TEMP=" + w.dir,
		"PRUNER_URL=embedded", "MCP_PRUNER_LOG_LEVEL=error", "OTEL_EXPORTER_OTLP_HEADERS=api-key=a-secret"}
	path, err := exec.LookPath("mcp-pruner")
	require.NoError(t, err)
	servers, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"files": map[string]any{"command": path}}})
	require.NoError(t, err)
	for name, text := range map[string]string{
		"a.go": "package a\n" + strings.Repeat("// x marks a line\n", 200), "servers.json": string(servers),
		"sessions.jsonl": `{"id":"x","src":"t","steps":[{"k":"user","text":"go"},{"k":"call"},{"k":"use","id":"1","tool":"Read","args":{"file_path":"a.go"}},` +
			`{"k":"result","id":"1","tool":"Read","out":"package a"},{"k":"call"}]}` + "\n",
	} {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
	server := w.program()
	server.Env = append(server.Env, "MCP_PRUNER_TRACE=trace.jsonl", "MCP_PRUNER_TOOLSETS=core,gc")
	server.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{"file_path":"a.go"}}}` + "\n")
	require.NoError(t, server.Run())
	return w
}

// program prepares a process. Verbs that start this program themselves, and servers, need one.
func (w workplace) program(args ...string) *exec.Cmd {
	w.t.Helper()
	path, err := exec.LookPath("mcp-pruner")
	require.NoError(w.t, err)
	cmd := exec.CommandContext(w.t.Context(), path, args...)
	cmd.Env = w.env
	return cmd
}

// execute runs a verb in this process. " < " in the line is followed by the file that is its standard input.
func (w workplace) execute(line string, stdout io.Writer) (code int, stderr string) {
	w.t.Helper()
	line, file, _ := strings.Cut(line, " < ")
	var stdin, said bytes.Buffer
	if file != "" {
		text, err := os.ReadFile(file)
		require.NoError(w.t, err)
		stdin.Write(text)
	}
	p := command.Process{Args: strings.Fields(line), Env: w.env, Stdin: &stdin, Stdout: stdout, Stderr: &said}
	code = command.Execute(w.t.Context(), verbs.Root(p), p)
	assert.NotContains(w.t, said.String(), "a-secret", line)
	return code, said.String()
}

func (w workplace) run(line string) (code int, stdout, stderr string) {
	w.t.Helper()
	var out bytes.Buffer
	code, stderr = w.execute(line, &out)
	assert.NotContains(w.t, out.String(), "a-secret", line)
	return code, out.String(), stderr
}

// TestHelpAndUsage: of every verb, --help is on the standard output with exit code 0, and what is wrong with the command
// line is on the standard error with exit code 2.
func TestHelpAndUsage(t *testing.T) {
	w := newWorkplace(t)
	usage := func(line string) {
		code, stdout, stderr := w.run(line)
		assert.Equal(t, command.Usage, code, line)
		assert.Empty(t, stdout, line)
		assert.Regexp(t, `(?s)^mcp-pruner.*: .*\nTry 'mcp-pruner.* --help'\.\n$`, stderr, line)
	}
	takesAny := map[string]bool{"run": true, "install": true, "replay": true, "try": true, "view": true}
	for path, c := range allVerbs(t) {
		code, stdout, stderr := w.run(path + " --help")
		assert.Zero(t, code, path)
		assert.Contains(t, stdout, "Usage:", path)
		assert.Empty(t, stderr, path)
		if path != "run" { // it has the flags of its client
			usage(path + " --no-such-flag")
		}
		if !takesAny[path] && !strings.Contains(c.Use, "[FILE...]") {
			usage(path + " a b c d")
		}
		if _, needs, _ := strings.Cut(c.Use, " "); needs != "" && needs[0] != '[' {
			usage(path)
		}
	}
	for _, line := range []string{
		"gc anlyze", "trace", "keys x", "store x", "trace verify --tool x trace.jsonl", "completion", "completion x", "completion bash x", "help x", "help gc x", "gc pin", "gc prune --segment-ids s1",
		"gc prune --segment-ids s1 --action x", "gc settings --for opencode --json", "gateway --json servers.json", "gateway --wrap", "gateway --wrap --http -- x", "gateway list no.json", "gateway list servers.json --mode x",
		"replay --html - --json sessions.jsonl", "replay --explain x --json sessions.jsonl", "replay --policy x", "recover prn_3ddf8b97 --lines x",
		"recover prn_3ddf8b97 --pattern (", "init vi", "init claude --show --uninstall", "hook vi", "gateway init vi", "proxy --port x", "proxy --upstream x",
		"proxy --policy x", "trace list --json --csv trace.jsonl", "prune --batch a.go", "fsm --machine x", "doctor --port 0",
		"gateway --port 8010 servers.json", "gateway --host 127.0.0.1 servers.json", "gateway --report --root . servers.json",
	} {
		usage(line)
	}
}

// TestWhatCannotBeRead: what is not there or unreadable is said on the standard error, with exit code 1.
func TestWhatCannotBeRead(t *testing.T) {
	w := newWorkplace(t)
	require.NoError(t, os.WriteFile("bad", []byte("\x00{bad\n"), 0o600))
	for _, line := range []string{
		"prune -q x no.go", "prune -q x .", "replay no.jsonl", "replay bad", "replay --json .config", "recover prn_00000000", "gc get s99",
		"gc analyze --store .", "trace verify no.jsonl", "trace stats no.jsonl", "trace list .", "trace heads bad", "trace report -o - no.jsonl", "trace no.jsonl",
		"trace stats --heads no.txt trace.jsonl", "gain", "doctor --port 1", "replay --html no/report.html sessions.jsonl",
	} {
		code, stdout, stderr := w.run(line)
		assert.Equal(t, command.Fail, code, line)
		assert.Empty(t, stdout, line)
		assert.Regexp(t, `^mcp-pruner`, stderr, line)
		assert.NotContains(t, stderr, "Try '", line)
	}
}

// output are command lines that print something.
var output = []string{
	"--help", "--version", "doctor", "fsm", "gc", "gc stats", "trace trace.jsonl", "keys", "keys list", "gateway --list servers.json", "gc settings", "gc analyze", "gc search x", "gc pin --segment-ids s1", "gc unpin --segment-ids s1", "gateway list servers.json", "gateway --report servers.json",
	"trace verify trace.jsonl", "trace stats trace.jsonl", "trace list trace.jsonl", "trace heads trace.jsonl", "trace report -o - trace.jsonl", "replay sessions.jsonl",
	"prune -q x a.go", "prune -q x --why a.go", "init claude --show", "completion bash",
	"replay --html - - < sessions.jsonl", "prune -q x - < a.go", "prune -q x < a.go", "trace verify - < trace.jsonl", "trace stats - < trace.jsonl", "trace list - < trace.jsonl",
	"gateway list - < servers.json", "gateway --report - < servers.json",
}

// values are command lines that print one JSON value.
var values = []string{
	"replay --json sessions.jsonl", "replay --json - < sessions.jsonl", "gc analyze --json", "gc search --json x", "gc get --json s1", "gc stats --json", "gc stats --json --ledger",
	"gc settings --json", "gc clean --json", "gc pin --json --segment-ids s1", "gc unpin --json --segment-ids s1", "gc prune --json --segment-ids s1 --action stash",
	"gateway --report --json servers.json", "gateway --report --json - < servers.json", "trace verify --json trace.jsonl", "trace stats --json - < trace.jsonl",
	"trace list --json trace.jsonl", "trace list --json --tool none trace.jsonl", "prune --json -q x a.go", "prune --json -q x - < a.go", "fsm --format json", "trace --json trace.jsonl", "keys --json",
}

func TestStandardStreams(t *testing.T) {
	w := newWorkplace(t)
	for _, line := range values {
		code, stdout, stderr := w.run(line)
		require.Zero(t, code, "%s: %s", line, stderr)
		d := json.NewDecoder(strings.NewReader(stdout))
		require.NoError(t, d.Decode(new(any)), line)
		assert.ErrorIs(t, d.Decode(new(any)), io.EOF, line)
	}
	for _, line := range output {
		code, stdout, stderr := w.run(line)
		assert.Zero(t, code, "%s: %s", line, stderr)
		assert.NotEmpty(t, stdout, line)
	}
	said, err := w.program("gateway", "-").CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(said), "the standard input carries MCP")
}

// TestTheReaderOfTheOutputIsGone: as in "mcp-pruner ... | head", that is no error. A full disk is one.
func TestTheReaderOfTheOutputIsGone(t *testing.T) {
	w := newWorkplace(t)
	lines := slices.DeleteFunc(append(output, values...), func(line string) bool { return strings.Contains(line, " < ") })
	for _, line := range lines {
		r, out, err := os.Pipe()
		require.NoError(t, err)
		require.NoError(t, r.Close())
		code, said := w.execute(line, out)
		assert.Zero(t, code, line)
		require.NoError(t, out.Close())
		assert.NotRegexp(t, "^mcp-pruner|broken pipe", said, line)
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("only Linux has /dev/full")
	}
	defer full.Close()
	for _, line := range lines[1:] { // cobra ignores errors of --help
		code, said := w.execute(line, full)
		assert.Equal(t, command.Fail, code, line)
		assert.Contains(t, said, "no space left on device", line)
	}
}
