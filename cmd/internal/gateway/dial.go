package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/client/transport"
)

// silent drops what the transports log: standard error carries events only, and
// what goes wrong comes back as an error.
var silent = slog.New(slog.DiscardHandler)

// dialer opens connections: processes with the environment given, their standard
// error told line by line.
type dialer struct {
	env    []string // of upstream processes, before their own entries
	stderr func(server, line string)
}

func (d dialer) dial(_ context.Context, c ServerConfig) (transport.Interface, func(), error) {
	if c.URL != "" {
		t, err := transport.NewStreamableHTTP(c.URL, transport.WithHTTPHeaders(c.Headers), transport.WithHTTPLogger(silent))
		if err != nil {
			return nil, nil, fmt.Errorf("the url is unusable: %w", redacted(err, c))
		}
		return t, func() {}, nil
	}
	started := &processGroup{}
	lines := &lineWriter{take: func(line string) { d.stderr(c.Name, line) }}
	t := transport.NewStdioWithOptions(c.Command, nil, c.Args,
		transport.WithCommandStderrWriter(lines), transport.WithCommandLogger(silent),
		transport.WithCommandFunc(func(ctx context.Context, command string, _ []string, args []string) (*exec.Cmd, error) {
			path, err := exec.LookPath(command)
			if err != nil && !errors.Is(err, exec.ErrDot) {
				return nil, fmt.Errorf("the command %s is not found: install it or give its whole path", command)
			}
			cmd := exec.CommandContext(ctx, path, args...)
			cmd.Dir, cmd.Env = c.Cwd, environment(d.env, c.Env)
			started.prepare(cmd)
			return cmd, nil
		}))
	return t, started.kill, nil
}

// environment is the inherited environment with a server's own entries.
func environment(inherited []string, own map[string]string) []string {
	env := append([]string{}, inherited...)
	for name, value := range own {
		env = append(env, name+"="+value)
	}
	return env
}

// redacted is an error without the values of a server's headers and environment.
func redacted(err error, c ServerConfig) error {
	text := err.Error()
	for _, secrets := range []map[string]string{c.Headers, c.Env} {
		for _, value := range secrets {
			if len(value) > 3 {
				text = strings.ReplaceAll(text, value, "[hidden]")
			}
		}
	}
	if text == err.Error() {
		return err
	}
	return errors.New(text)
}

// maxLine bounds what is kept of one line of an upstream's standard error.
const maxLine = 2000

// lineWriter hands on whole lines.
type lineWriter struct {
	take func(string)
	mu   sync.Mutex
	part []byte
}

var _ io.Writer = (*lineWriter)(nil)

// Write implements io.Writer.
func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, b := range p {
		switch {
		case b == '\n':
			w.take(strings.TrimRight(string(w.part), "\r"))
			w.part = w.part[:0]
		case len(w.part) < maxLine:
			w.part = append(w.part, b)
		}
	}
	return len(p), nil
}
