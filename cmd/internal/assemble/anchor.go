package assemble

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
)

// journal is the socket on which systemd's journal takes messages.
const journal = "/run/systemd/journal/socket"

// anchorPatience is how long a head may take to be sent. A place that takes no more holds up the trace's batches for so
// long, and never a request.
const anchorPatience = time.Second

// anchor sends the heads of a trace to a place that the audited agent cannot reach, as the event log's lines. Whoever
// reads them there can keep them for `trace verify --heads`.
type anchor struct {
	open func() (io.WriteCloser, error)

	mu  sync.Mutex
	out io.WriteCloser // nil: to be opened again
}

// openAnchor opens the place that MCP_PRUNER_TRACE_HEADS names: unix:SOCKET, exec:PROGRAM ARGUMENTS... or journald. It
// returns nil for "".
func openAnchor(target string) (*anchor, error) {
	if target == "" {
		return nil, nil
	}
	a := &anchor{}
	kind, rest, _ := strings.Cut(target, ":")
	switch kind {
	case "unix":
		a.open = func() (io.WriteCloser, error) { return dial("unix", rest) }
	case "journald":
		a.open = func() (io.WriteCloser, error) { return dialJournal(journal) }
	case "exec":
		a.open = func() (io.WriteCloser, error) { return startReader(strings.Fields(rest)) }
	default:
		return nil, fmt.Errorf("MCP_PRUNER_TRACE_HEADS=%q: want unix:SOCKET, exec:PROGRAM ARGUMENTS or journald", target)
	}
	var err error
	if a.out, err = a.open(); err != nil {
		return nil, fmt.Errorf("MCP_PRUNER_TRACE_HEADS: %w", err)
	}
	return a, nil
}

// Keep implements [trace.Heads]. After a failure the place is opened again, once for each head.
func (a *anchor) Keep(h trace.Head) error {
	var line bytes.Buffer
	fsm.JSONSink(&line, fsm.LevelDebug)(h.Event())
	a.mu.Lock()
	defer a.mu.Unlock()
	var failed error
	for range 2 {
		if a.out == nil {
			if a.out, failed = a.open(); failed != nil {
				a.out = nil
				return fmt.Errorf("heads: %w", failed)
			}
		}
		if _, failed = a.out.Write(line.Bytes()); failed == nil {
			return nil
		}
		_ = a.out.Close() // the failed write is reported
		a.out = nil
	}
	return fmt.Errorf("heads: %w", failed)
}

// bounded gives each write a deadline.
type bounded struct {
	io.WriteCloser
	deadline func(time.Time) error
}

func (b bounded) Write(p []byte) (int, error) {
	if err := b.deadline(time.Now().Add(anchorPatience)); err != nil && !errors.Is(err, os.ErrNoDeadline) {
		return 0, err
	}
	return b.WriteCloser.Write(p)
}

func dial(network, address string) (io.WriteCloser, error) {
	c, err := net.DialTimeout(network, address, anchorPatience)
	if err != nil {
		return nil, err
	}
	return bounded{c, c.SetWriteDeadline}, nil
}

// entries frames each line as an entry of systemd's journal.
type entries struct{ io.WriteCloser }

func dialJournal(socket string) (io.WriteCloser, error) {
	out, err := dial("unixgram", socket)
	if err != nil {
		return nil, err
	}
	return entries{out}, nil
}

func (e entries) Write(line []byte) (int, error) {
	entry := fmt.Sprintf("MESSAGE=%s\nPRIORITY=6\nSYSLOG_IDENTIFIER=mcp-pruner\n", bytes.TrimSuffix(line, []byte("\n")))
	if _, err := e.WriteCloser.Write([]byte(entry)); err != nil {
		return 0, err
	}
	return len(line), nil
}

// startReader starts a program that reads the heads on its standard input. It has no settings of this program, and
// nothing of its output is read.
func startReader(argv []string) (io.WriteCloser, error) {
	if len(argv) == 0 {
		return nil, errors.New("exec: names no program")
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin = theirs
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, ours.Close())
	}
	go func() { _ = cmd.Wait() }() // it ends with its input; what becomes of it shows at the next write
	return bounded{ours, ours.SetWriteDeadline}, nil
}
