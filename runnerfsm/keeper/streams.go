package keeper

import (
	"context"
	"io"
	"os"
	"os/exec"
	"reflect"
	"sync/atomic"
	"time"
)

// Streams that are not files go through pipes of our own. os/exec would wait for a standard
// input that is never closed, and its one limit on that wait (WaitDelay) also drops output
// whose reader is slow.

const (
	// silence is how long a pipe that outlives the command must stay silent before it counts
	// as ended: what the command wrote is in the pipe by then.
	silence = 500 * time.Millisecond
	// mostHeld is the largest content of a pipe, in bytes. More than that after the
	// command's end was written by a process that survived it.
	mostHeld = 1 << 20
)

// pipes connects those streams of a command that are not files.
type pipes struct {
	theirs  []*os.File // the command's ends
	ours    []*os.File
	outputs []*output
	feed    func() // copies the input; nil: it is a file, or none
}

func (p *pipes) connect(cmd *exec.Cmd) error {
	same := sameWriter(cmd.Stdout, cmd.Stderr)
	stdin, err := p.input(cmd.Stdin)
	if err != nil {
		return err
	}
	stdout, err := p.output(cmd.Stdout)
	if err != nil {
		return err
	}
	stderr := stdout
	if !same {
		if stderr, err = p.output(cmd.Stderr); err != nil {
			return err
		}
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
	return nil
}

func (p *pipes) input(from io.Reader) (io.Reader, error) {
	if _, isFile := from.(*os.File); isFile || from == nil {
		return from, nil
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.theirs, p.ours = append(p.theirs, theirs), append(p.ours, ours)
	p.feed = func() {
		defer ours.Close()
		_, _ = io.Copy(ours, from) // the command need not take all of it
	}
	return theirs, nil
}

func (p *pipes) output(to io.Writer) (io.Writer, error) {
	if _, isFile := to.(*os.File); isFile || to == nil {
		return to, nil
	}
	ours, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.theirs, p.ours = append(p.theirs, theirs), append(p.ours, ours)
	p.outputs = append(p.outputs, &output{pipe: ours, to: to, done: make(chan struct{})})
	return theirs, nil
}

// run starts the copying. Output is waited for, see drain. Input is not, because reading it
// may never return.
func (p *pipes) run() {
	closeAll(p.theirs)
	if p.feed != nil {
		go p.feed()
	}
	for _, o := range p.outputs {
		go o.copy()
	}
}

// close closes pipes whose command did not start.
func (p *pipes) close() {
	closeAll(p.theirs)
	closeAll(p.ours)
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// sameWriter says whether both streams are the same writer. They then share one pipe.
func sameWriter(a, b io.Writer) bool {
	return a != nil && b != nil && reflect.TypeOf(a).Comparable() && a == b
}

// Ender is a writer whose End is called after the last write.
type Ender interface{ End() }

// output copies what a command prints to a writer. When the writer fails, the pipe to the
// command is closed.
type output struct {
	pipe    *os.File
	to      io.Writer
	done    chan struct{}
	reading atomic.Int64 // when the current read began, in Unix nanoseconds; 0 during a write
	late    atomic.Bool  // the command has ended
}

func (o *output) copy() {
	defer close(o.done)
	defer o.pipe.Close()
	if ender, ok := o.to.(Ender); ok {
		defer ender.End()
	}
	buffer := make([]byte, 32<<10)
	for late := 0; late <= mostHeld; {
		o.reading.Store(time.Now().UnixNano())
		n, err := o.pipe.Read(buffer)
		o.reading.Store(0)
		if n > 0 {
			if _, failed := o.to.Write(buffer[:n]); failed != nil {
				return
			}
		}
		if err != nil {
			return
		}
		if o.late.Load() {
			late += n
		}
	}
}

// drain is called after the command's end. It waits until all output is copied, however
// long that takes, or until the output is no longer wanted. A surviving process that holds
// the pipe is not waited for once it is silent.
func (o *output) drain(wanted context.Context) {
	o.late.Store(true)
	ended := time.Now()
	tick := time.NewTicker(silence / 10)
	defer tick.Stop()
	for {
		select {
		case <-o.done:
			return
		case <-wanted.Done():
			o.pipe.Close() // a write that has begun may never end
			return
		case <-tick.C:
			if o.silentSince(ended) {
				o.pipe.Close() // ends the read
			}
		}
	}
}

func (o *output) silentSince(ended time.Time) bool {
	began := o.reading.Load()
	if began == 0 {
		return false
	}
	return time.Since(time.Unix(0, max(began, ended.UnixNano()))) > silence
}
