//go:build unix

package verbs

import (
	"bytes"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
)

// modelsOfCodex is what `codex debug models` prints, without what is not read.
const modelsOfCodex = `{"models": [
{"slug": "gpt-6-astra", "visibility": "list", "priority": 2, "tool_mode": "code_mode_only"},
{"slug": "gpt-6.1-sol", "visibility": "list", "priority": 1, "tool_mode": "code_mode_only"},
{"slug": "gpt-daybreak-blue-latest", "visibility": "hide", "priority": 0, "tool_mode": "code_mode_only"},
{"slug": "gpt-5.5", "visibility": "list", "priority": 13, "tool_mode": null}]}`

// TestDoctorInEachState: the files of a case are a user's home, and doctor says its state in the words of the section "want". HOME and
// PORT stand for the home and a free port.
func TestDoctorInEachState(t *testing.T) {
	cases, err := filepath.Glob("testdata/doctor/*.txtar")
	require.NoError(t, err)
	require.Greater(t, len(cases), 10)
	for _, file := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			require.NoError(t, err)
			s := newDoctorState(t)
			for _, f := range archive.Files {
				s.add(f.Name, s.fill(string(f.Data)))
			}
			out := s.doctor()
			for line := range strings.Lines(s.want) {
				assert.Contains(t, out, strings.TrimSuffix(line, "\n"))
			}
			for line := range strings.Lines(s.never) {
				assert.NotContains(t, out, strings.TrimSuffix(line, "\n"))
			}
		})
	}
}

type doctorState struct {
	*testing.T
	home, port, want, never string
	listener                net.Listener
	env                     []string
}

func newDoctorState(t *testing.T) *doctorState {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	s := &doctorState{T: t, home: t.TempDir(), port: port, listener: l}
	s.env = []string{"HOME=" + s.home, "PATH=" + filepath.Join(s.home, "bin") + ":" + os.Getenv("PATH")}
	s.file("bin/codex", "#!/bin/sh\n[ \"$*\" = 'debug models' ] || exit 1\ncat <<'E'\n"+modelsOfCodex+"\nE\n")
	t.Cleanup(func() { _ = l.Close() })
	return s
}

func (s *doctorState) fill(text string) string {
	return strings.NewReplacer("HOME", s.home, "PORT", s.port, "LONG", strings.Repeat("a line\\n", 1000)).Replace(text)
}

// file writes a file as if that was long ago, but a session of now.
func (s *doctorState) file(name, text string) {
	path := filepath.Join(s.home, filepath.FromSlash(name))
	require.NoError(s, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(s, os.WriteFile(path, []byte(text), 0o700))
	if !strings.Contains(path, "sessions") && !strings.Contains(path, "hook-ran") {
		long := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		require.NoError(s, os.Chtimes(path, long, long))
	}
}

// add does what a section of a case says.
func (s *doctorState) add(section, text string) {
	switch section {
	case "want":
		s.want = text
	case "never":
		s.never = text
	case "env":
		s.env = append(s.env, strings.TrimSpace(text))
	case "no-codex":
		s.env[1] = "PATH=/nowhere"
	case "listens":
		s.listen(strings.TrimSpace(text))
	default:
		require.Contains(s, section, "/", "unknown section")
		s.file(section, text)
	}
}

func (s *doctorState) listen(what string) {
	if what == "another program" {
		go func(l net.Listener) { _ = http.Serve(l, http.NotFoundHandler()) }(s.listener)
		s.listener = nil
		return
	}
	program, err := builtProgram()
	require.NoError(s, err)
	require.NoError(s, s.listener.Close())
	proxy := exec.Command(program, "proxy", "--port", s.port)
	proxy.Env = s.env
	require.NoError(s, proxy.Start())
	s.Cleanup(func() { _, _ = proxy.Process.Kill(), proxy.Wait() })
	require.Eventually(s, func() bool {
		c, err := net.Dial("tcp", "127.0.0.1:"+s.port)
		return err == nil && c.Close() == nil
	}, 30*time.Second, 10*time.Millisecond)
}

// doctor returns what doctor prints.
func (s *doctorState) doctor() string {
	if s.listener != nil {
		_ = s.listener.Close()
	}
	return s.verb("doctor")
}

func (s *doctorState) verb(args ...string) string {
	var out bytes.Buffer
	Run(command.Process{Args: args, Env: s.env, Stdout: &out, Stderr: &out})
	return out.String()
}

// TestTheProxyEndsWithItsLastClient: init, which takes the proxy out of the last client and deletes its secret, ends it. It would refuse
// the secret of the next init.
func TestTheProxyEndsWithItsLastClient(t *testing.T) {
	s := newDoctorState(t)
	s.add(".codex/config.toml", s.fill("openai_base_url = \"http://127.0.0.1:PORT/mcpp_000102030405060708090a0b0c0d0e0f1011121314151617/v1\"\n"))
	s.listen("proxy")
	s.verb("init", "claude", "--proxy")
	assert.NotContains(t, s.verb("init", "claude", "--proxy", "--uninstall"), "has ended", "Codex uses it")
	assert.Contains(t, s.verb("init", "codex", "--proxy", "--uninstall"), s.fill("the proxy at http://127.0.0.1:PORT has ended"))
	_, err := net.Dial("tcp", "127.0.0.1:"+s.port)
	assert.Error(t, err)
}
