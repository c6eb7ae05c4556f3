package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// nobody is the user and group without rights on most systems.
const nobody = 65534

// lookAtServer is a command of an agent that tries to reach its server. It says what succeeded.
const lookAtServer = `
ls /proc/$PPID/fd/ >/dev/null 2>&1 && echo fd
cat /proc/$PPID/environ >/dev/null 2>&1 && echo environ
(exec 3<>/proc/$PPID/mem) 2>/dev/null && echo mem
for f in /proc/$PPID/fd/*; do [ "$(readlink $f)" = "$PWD/trace.jsonl" ] && : >>$f && echo trace; done
kill -0 $PPID && echo kill
cat /proc/self/environ >/dev/null && echo own`

// TestServerWithATraceIsClosedToItsCommands: a command of the same user reaches neither the files nor the memory of a
// server that keeps a trace. It can still end the server.
func TestServerWithATraceIsClosedToItsCommands(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can become another user, and root may look at every process")
	}
	dir, err := os.MkdirTemp("", "mcp-pruner-closed")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o777))
	program := built(t)
	open := lookAsNobody(t, dir, program)
	assert.Subset(t, open, []string{"fd", "environ", "kill", "own"}, "without a trace the server is an ordinary process")
	closed := lookAsNobody(t, dir, program, "MCP_PRUNER_TRACE="+filepath.Join(dir, "trace.jsonl"))
	assert.Equal(t, []string{"kill", "own"}, closed)
}

// lookAsNobody runs lookAtServer in the bash tool of a server that runs as nobody, and returns its words.
func lookAsNobody(t *testing.T, dir, program string, env ...string) []string {
	t.Helper()
	cmd := exec.Command(program)
	cmd.Dir = dir
	cmd.Env = append(env, "PATH=/usr/bin:/bin", "HOME="+dir, "TMPDIR="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	answers, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = fmt.Fprintf(in, "%s\n%s\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"bash\",\"arguments\":{\"command\":%q}}}\n",
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`, lookAtServer)
	require.NoError(t, err)
	lines := bufio.NewReader(answers)
	_, err = lines.ReadString('\n')
	require.NoError(t, err)
	answer, err := lines.ReadString('\n')
	require.NoError(t, err)
	require.NoError(t, in.Close())
	_, err = io.Copy(io.Discard, lines)
	require.NoError(t, err)
	require.NoError(t, cmd.Wait())
	_, text, ok := strings.Cut(answer, `"text":"`)
	require.True(t, ok, answer)
	text, _, _ = strings.Cut(text, `"`)
	return strings.Fields(strings.ReplaceAll(text, `\n`, " "))
}
