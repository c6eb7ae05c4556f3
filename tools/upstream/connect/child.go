package connect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"

	"github.com/mcp-pruner/mcp-pruner/tools/process"
)

// closeWithin is the time that a server has to end after it was asked to, and again after it was killed.
const closeWithin = 3 * time.Second

// child is an upstream server that the gateway started: its process and the pipes to it.
type child struct {
	input  *outbox
	output *os.File
	ended  chan struct{} // closed when the process and all its descendants have ended
	err    error         // the reason it ended, valid after ended
	kill   context.CancelFunc
	within time.Duration         // closeWithin
	lost   atomic.Pointer[error] // why it was ended because of a message; nil: it was not
}

// spawn starts a server's command. stderr gets each line that the server writes to standard error.
func spawn(c Config, env []string, stderr func(line string)) (*child, error) {
	path, err := exec.LookPath(c.Command)
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return nil, fmt.Errorf("the command %s is not found: install it or give its whole path", c.Command)
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	output, stdout, err := os.Pipe()
	if err != nil {
		_ = theirs.Close()
		_ = ours.Close()
		return nil, err
	}
	life, kill := context.WithCancel(context.Background())
	p := &child{input: newOutbox(ours), output: output, ended: make(chan struct{}), kill: kill, within: closeWithin}
	command := process.Process{
		Path: path, Args: c.Args, Env: environment(env, c.Env), Dir: c.Cwd,
		Stdin: theirs, Stdout: stdout, Stderr: &lineWriter{take: stderr}, Watched: true, Whole: true,
	}
	go func() {
		code, err := command.Run(life)
		if p.err = err; err == nil {
			p.err = &exitError{code}
		}
		_ = theirs.Close()
		_ = stdout.Close()
		close(p.ended)
	}()
	return p, nil
}

// exitError is the error of a server that ended by itself.
type exitError struct{ code int }

func (e *exitError) Error() string { return fmt.Sprintf("it ended with exit code %d", e.code) }

// close closes the server's input, which asks it to end, and kills the remaining processes after a time limit. It waits
// for their end, but not forever: a reader of the server's standard error that never returns would keep it from ending.
func (p *child) close() {
	_ = p.input.Close()
	p.wait()
	p.kill()
	p.wait()
	_ = p.output.Close()
}

// wait waits until the server has ended, or the time limit is over.
func (p *child) wait() {
	late := time.NewTimer(p.within)
	defer late.Stop()
	select {
	case <-p.ended:
	case <-late.C:
	}
}

// why returns the reason why the server ended, valid after ended.
func (p *child) why() error {
	if why := p.lost.Load(); why != nil {
		return *why
	}
	return p.err
}

// transport speaks MCP over the pipes.
func (p *child) transport() transport.Interface {
	in := newReadable(endOnError{p.output}, nil, byLine)
	in.lost = func(why error) {
		p.lost.Store(&why)
		p.kill()
	}
	t := transport.NewIO(in, p.input, nil)
	transport.WithCommandLogger(silent)(t)
	return t
}

// endOnError reports every read error as the end of the stream.
type endOnError struct{ io.Reader }

func (r endOnError) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	if err != nil {
		err = io.EOF
	}
	return n, err
}

// environment returns the inherited environment with a server's own variables added.
func environment(inherited []string, own map[string]string) []string {
	env := append([]string{}, inherited...)
	for name, value := range own {
		env = append(env, name+"="+value)
	}
	return env
}

// The bytes kept of a line of an upstream's standard error, and of its log for all lines of a minute.
const maxLine, maxStderr = 2000, 256 << 10

// sparing passes on the lines of a minute up to a limit, and says once in that minute that others are left out.
func sparing(take func(line string), now func() time.Time) func(line string) {
	var began time.Time
	room := 0
	return func(line string) {
		if at := now(); at.Sub(began) >= time.Minute {
			began, room = at, maxStderr
		}
		if room > 0 {
			take(line)
			if room -= len(line) + 200; room <= 0 { // with what the log adds
				take("its further lines are left out for up to a minute: it writes more than the log takes")
			}
		}
	}
}

// lineWriter passes on whole lines.
type lineWriter struct {
	take func(string)
	mu   sync.Mutex
	part []byte
}

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
