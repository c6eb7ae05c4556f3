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

// Streams that are no files go through pipes of our own. Those of os/exec wait for
// a standard input that nobody closes, and their one limit on that wait also drops
// output whose reader is slow.

const (
	// silence is how long a pipe that outlives the command has to be silent until
	// it is taken to be at its end: what the command wrote is in it already.
	silence = 500 * time.Millisecond
	// mostHeld is the most that a pipe holds. What comes of it after the command's
	// end and beyond this, a survivor wrote.
	mostHeld = 1 << 20
)

// pipes makes the streams of a command that are no files into pipes.
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

// run starts the copying. Output is waited for, see drain. Nobody waits for the
// input: its reader may never return.
func (p *pipes) run() {
	closeAll(p.theirs)
	if p.feed != nil {
		go p.feed()
	}
	for _, o := range p.outputs {
		go o.copy()
	}
}

// close gives up pipes whose command did not start.
func (p *pipes) close() {
	closeAll(p.theirs)
	closeAll(p.ours)
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// sameWriter says whether two streams are one, which then get one pipe.
func sameWriter(a, b io.Writer) bool {
	return a != nil && b != nil && reflect.TypeOf(a).Comparable() && a == b
}

// Ender is a writer that is to be told the end of what is written to it.
type Ender interface{ End() }

// output is what a command prints, on its way to a writer. A writer that fails
// closes the pipe to the command.
type output struct {
	pipe    *os.File
	to      io.Writer
	done    chan struct{}
	reading atomic.Int64 // when the read under way began; 0: what was read is being written
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

// drain waits, after the command's end, until all it printed is handed on, however
// long that takes, or until it is no longer wanted. A survivor that holds the pipe
// is not waited for once it is silent.
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
			o.pipe.Close() // and a write that is under way may never end
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
