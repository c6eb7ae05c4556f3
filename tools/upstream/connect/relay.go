package connect

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"time"
)

// Editor changes lines that pass between a client and its server. A line ends with its newline.
type Editor interface {
	// FromClient returns what the server gets of a client's line, and what the client is answered instead.
	FromClient(line []byte) (toServer, toClient []byte)
	// Waits reports whether a line of the server may have to be changed. Else it passes in parts, however long it is.
	Waits() bool
	// FromServer returns what the client gets of a line of the server.
	FromServer(line []byte) []byte
}

// pieceBytes is the size of the parts in which long lines pass.
const pieceBytes = 32 << 10

// Relay starts a server for one client and passes on what they say until either ends. It returns the server's exit code.
func Relay(ctx context.Context, c Config, env []string, in io.Reader, out, stderr io.Writer, e Editor) (code int, err error) {
	p, err := spawn(c, env, func(line string) { fmt.Fprintln(stderr, line) })
	if err != nil {
		return 0, err
	}
	p.input.patient = true // a client without a relay waits, too
	r := &relayed{out: out, editor: e, most: maxReceived}
	left, silent := make(chan struct{}), make(chan struct{})
	go func() { // nothing can wait for it: a read of standard input goes on until the client says something
		r.fromClient(in, p.input)
		close(left)
	}()
	go func() {
		r.fromServer(p.output)
		close(silent)
	}()
	select {
	case <-ctx.Done(): // clients that end a server by signals do not wait long
	case <-left: // its input has ended, too
		p.wait()
	case <-p.ended:
	}
	p.kill()
	p.wait()
	select {
	case <-silent: // all that it said has passed
	case <-time.After(p.within): // something that it left behind holds its output
	}
	p.close()
	select {
	case <-p.ended:
		if ended := (*exitError)(nil); errors.As(p.err, &ended) {
			return ended.code, nil
		}
	default:
	}
	return 0, nil
}

// relayed is what both directions share.
type relayed struct {
	editor Editor
	most   int        // bytes of a server's line up to which it is changed; a longer one passes as it is
	mu     sync.Mutex // of out, for whole lines
	out    io.Writer
}

// fromClient passes on the client's lines until its input ends.
func (r *relayed) fromClient(in io.Reader, server io.WriteCloser) {
	defer server.Close()
	lines := bufio.NewReaderSize(in, pieceBytes)
	for {
		line, err := lines.ReadSlice('\n')
		if err == bufio.ErrBufferFull {
			line, err = whole(lines, line, math.MaxInt)
		}
		toServer, toClient := r.editor.FromClient(line)
		if len(toClient) > 0 {
			r.mu.Lock()
			_, _ = r.out.Write(toClient) // a client that is gone needs no answer
			r.mu.Unlock()
		}
		if _, failed := server.Write(toServer); failed != nil || err != nil {
			return
		}
	}
}

// fromServer passes on the server's lines until its output ends.
func (r *relayed) fromServer(output io.Reader) {
	lines := bufio.NewReaderSize(output, pieceBytes)
	for {
		line, err := lines.ReadSlice('\n')
		r.mu.Lock()
		if r.editor.Waits() {
			if err == bufio.ErrBufferFull {
				line, err = whole(lines, line, r.most)
			}
			if err != bufio.ErrBufferFull {
				line = r.editor.FromServer(line)
			}
		}
		_, failed := r.out.Write(line)
		for err == bufio.ErrBufferFull && failed == nil {
			line, err = lines.ReadSlice('\n')
			_, failed = r.out.Write(line)
		}
		r.mu.Unlock()
		if err != nil || failed != nil {
			return
		}
	}
}

// whole returns a long line that begins with a part that was read, or what is more than most bytes of it and bufio.ErrBufferFull.
func whole(lines *bufio.Reader, part []byte, most int) (line []byte, err error) {
	for line, err = bytes.Clone(part), bufio.ErrBufferFull; err == bufio.ErrBufferFull && len(line) <= most; {
		part, err = lines.ReadSlice('\n')
		line = append(line, part...) // the next read takes its place
	}
	return line, err
}
