package verbs

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// builtProgram is the real program, built once and only by the tests that need it.
var builtProgram = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "mcp-pruner-trace")
	if err != nil {
		return "", err
	}
	removeLater(dir)
	out := filepath.Join(dir, "mcp-pruner")
	build := exec.Command("go", "build", "-o", out, "github.com/mcp-pruner/mcp-pruner/cmd/mcp-pruner")
	if text, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, text)
	}
	return out, nil
})

var (
	leftovers []string
	leaving   sync.Mutex
)

func removeLater(dir string) {
	leaving.Lock()
	defer leaving.Unlock()
	leftovers = append(leftovers, dir)
}

func TestMain(m *testing.M) {
	if os.Getenv(readyFile) != "" {
		serveReady()
		return
	}
	code := m.Run()
	for _, dir := range leftovers {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// runVerb runs a verb and returns its exit code and what it printed.
func runVerb(t testing.TB, verb func(command.Process) *cobra.Command, env []string, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	p := command.Process{Args: args, Env: env, Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs}
	code = command.Verb(context.Background(), verb(p), p)
	return code, out.String(), errs.String()
}

// tracedServer is a running mcp-pruner.
type tracedServer struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	pipe io.Closer // of out
}

func startServer(t testing.TB, root string, env ...string) *tracedServer {
	t.Helper()
	path, err := builtProgram()
	require.NoError(t, err)
	return startProgram(t, path, root, env...)
}

func startProgram(t testing.TB, path, root string, env ...string) *tracedServer {
	t.Helper()
	s := prepareProgram(t, path, root, env...)
	require.NoError(t, s.cmd.Start())
	return s
}

// prepareServer returns a server that is not started yet.
func prepareServer(t testing.TB, root string, env ...string) *tracedServer {
	t.Helper()
	path, err := builtProgram()
	require.NoError(t, err)
	return prepareProgram(t, path, root, env...)
}

func prepareProgram(t testing.TB, path, root string, env ...string) *tracedServer {
	t.Helper()
	s := &tracedServer{cmd: exec.Command(path)}
	s.cmd.Env = append(append(os.Environ(), "HOME="+root, "MCP_PRUNER_CWD="+root), env...)
	var err error
	s.in, err = s.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := s.cmd.StdoutPipe()
	require.NoError(t, err)
	s.out, s.pipe = bufio.NewReaderSize(out, 1<<20), out
	return s
}

// call sends one tools/call.
func (s *tracedServer) call(id int, tool string, args map[string]any) error {
	line, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": args},
	})
	if err != nil {
		return err
	}
	_, err = s.in.Write(append(line, '\n'))
	return err
}

// close ends the server by the end of its input.
func (s *tracedServer) close(t testing.TB) {
	t.Helper()
	require.NoError(t, s.in.Close())
	_, _ = io.Copy(io.Discard, s.out)
	require.NoError(t, s.cmd.Wait())
}
