package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/calls"
	"github.com/mcp-pruner/mcp-pruner/cmd/dev/results"
)

// client is one client by the names that it has for the doors.
type client struct {
	name  string // as it announces itself over MCP
	hooks string // as `hook` calls it; "": it has none
}

// clients are those whose limits the program knows, and one that it does not know.
var clients = []client{
	{"claude-code", "claude"}, {"codex-mcp-client", "codex"}, {"gemini-cli-mcp-client", "gemini"}, {"opencode", "opencode"}, {"somebody", ""},
}

// door is one way into the program. play returns the exchanges of one client.
type door struct {
	name string
	play func(*stand, client) ([]exchange, error)
}

var doors = []door{{"stdio", (*stand).stdio}, {"hook", (*stand).hook}, {"proxy", (*stand).proxy}, {"gateway", (*stand).gateway}}

// stand is the place in which a program plays. Its path and the addresses of its servers are the same for both programs,
// because answers name them.
type stand struct {
	dir    string
	events []*results.Sample
	cases  []calls.Call
	size   sizes

	service  *httptest.Server // prunes, as PRUNER_URL
	upstream *upstream        // the model's API behind the proxy
	other    *httptest.Server // another MCP server behind the gateway
}

// open starts the servers that the programs talk to.
func (s *stand) open() (end func()) {
	s.service, s.upstream, s.other = newService(), newUpstream(), newOther()
	return func() {
		s.service.Close()
		s.upstream.Close()
		s.other.Close()
	}
}

// through sets the stand up anew for a program and plays a client's part at one door.
func (s *stand) through(d door, c client, program string) ([]exchange, error) {
	if err := s.setUp(program); err != nil {
		return nil, err
	}
	s.upstream.reset()
	return d.play(s, c)
}

func (s *stand) root() string    { return filepath.Join(s.dir, "shop") }
func (s *stand) program() string { return filepath.Join(s.dir, "mcp-pruner") }

// setUp makes the stand's folders as if nobody had used them, and puts the program there.
func (s *stand) setUp(program string) error {
	if err := os.RemoveAll(s.dir); err != nil {
		return err
	}
	for _, folder := range []string{"home", "state", "config", "cache", "shop/.git"} {
		if err := os.MkdirAll(filepath.Join(s.dir, folder), 0o700); err != nil {
			return err
		}
	}
	if err := calls.Write(s.root()); err != nil {
		return err
	}
	if err := writeOdd(s.root()); err != nil {
		return err
	}
	text, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	return os.WriteFile(s.program(), text, 0o700)
}

// start prepares the program with an environment that has nothing of this machine but PATH.
func (s *stand) start(env []string, args ...string) *exec.Cmd {
	cmd := exec.Command(s.program(), args...)
	cmd.Dir = s.root()
	cmd.Env = append([]string{
		"HOME=" + filepath.Join(s.dir, "home"), "XDG_STATE_HOME=" + filepath.Join(s.dir, "state"), "XDG_CONFIG_HOME=" + filepath.Join(s.dir, "config"),
		"XDG_CACHE_HOME=" + filepath.Join(s.dir, "cache"), "PATH=" + filepath.Join(s.root(), "bin") + ":" + os.Getenv("PATH"), "LANG=C.UTF-8", "TZ=UTC",
	}, env...)
	return cmd
}

// writeOdd adds the files that are not plain text with short lines.
func writeOdd(root string) error {
	long := strings.Repeat("needle in a long line; ", 9000)
	for name, text := range map[string]string{
		"odd/crlf.txt":    strings.Repeat("first line\r\nsecond line with a timeout\r\n\r\n", 300),
		"odd/latin1.txt":  strings.Repeat("caf\xe9 \xfcber stra\xdfe\nna\xefve timeout\n", 200),
		"odd/broken.txt":  strings.Repeat("good \xff\xfe\xc3( bad\nplain needle\n", 200),
		"odd/binary.dat":  "\x7fELF\x00\x01\x02" + strings.Repeat("\x00needle\xff", 500),
		"odd/long.txt":    "short\n" + long + "\nend\n",
		"odd/one.json":    `[` + strings.TrimSuffix(strings.Repeat(`{"id":1,"name":"needle","nested":{"ok":true}},`, 2000), ",") + `]`,
		"odd/big.log":     strings.Repeat("2026-01-02T03:04:05Z INFO request served in 12 ms by worker 7\n", 40_000) + "ERROR: needle, the disk is full\n",
		"odd/empty.txt":   "",
		"odd/no-end.txt":  "one\ntwo\nthree",
		"odd/bom.txt":     "\xef\xbb\xbfwith a mark\nand a needle\n",
		"odd/utf16.txt":   "\xff\xfeh\x00i\x00\n\x00y\x00o\x00u\x00\n\x00",
		"odd/wide.txt":    strings.Repeat("日本語の行 – emoji 🙂 – needle\n", 400),
		"odd/sp ace.txt":  "a name with a space: needle\n",
		"odd/bars.txt":    strings.Repeat("10%\r20%\r30%\rdone\n", 200),
		"../outside.txt":  "outside of the root\n",
		"odd/hidden/.env": "SECRET=needle\n",
	} {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
	}
	if err := os.Symlink("../../outside.txt", filepath.Join(root, "odd/link-out")); err != nil {
		return err
	}
	return os.Symlink("no-end.txt", filepath.Join(root, "odd/link-in"))
}

// once runs the program to its end with a text as its standard input.
func (s *stand) once(stdin string, env []string, args ...string) (string, error) {
	cmd := s.start(env, args...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%q: %w: %s", args, err, errs.String())
	}
	return out.String(), nil
}

// process is a running program.
type process struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines chan string // of the standard output; closed at its end
}

// serve starts the program and reads its lines.
func (s *stand) serve(env []string, args ...string) (*process, error) {
	p := &process{cmd: s.start(env, args...), lines: make(chan string, 64)}
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go scan(out, p.lines)
	return p, nil
}

// end closes the input and waits for the end.
func (p *process) end() error {
	if err := p.stdin.Close(); err != nil {
		return err
	}
	kill := time.AfterFunc(patience, func() { _ = p.cmd.Process.Kill() }) // Wait then reports it
	defer kill.Stop()
	for range p.lines { // the reader ends before Wait closes the pipe
	}
	return p.cmd.Wait()
}

// patience is the longest wait for an answer.
const patience = 90 * time.Second
