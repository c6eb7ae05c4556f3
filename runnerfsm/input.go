package runnerfsm

import (
	"io"
	"os"
	"sync"
)

// clientInput is the run's standard input. A client that is started a second time receives the
// clientInput of the first launch again. The source is read only when a launch asks for more, by
// a goroutine that nothing waits for: reading from an idle pipe may never return.
type clientInput struct {
	source io.Reader
	file   *os.File // set when source is a file that can be read again
	start  int64    // offset at which reading begins

	mu      sync.Mutex
	changed sync.Cond
	kept    []byte // data read from any other source; while keep is set, from the beginning
	at      int    // how much of kept the current launch has read
	keep    bool
	reading bool // a read of the source is in progress
	err     error
	launch  int // number of the current launch
}

// newClientInput returns nil if there is no input to read: no source, or a terminal. A client
// without a screen has no use for a terminal, and a process group in the background must
// not read it.
func newClientInput(source io.Reader) *clientInput {
	in := &clientInput{source: source, keep: true}
	in.changed.L = &in.mu
	file, ok := source.(*os.File)
	if !ok {
		if source == nil {
			return nil
		}
		return in
	}
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice != 0 {
		return nil
	}
	if info.Mode().IsRegular() {
		in.file = file
		in.start, _ = file.Seek(0, io.SeekCurrent)
	}
	return in
}

// Open returns the input of one launch of the client, from the beginning. It ends when the
// next one is opened.
func (in *clientInput) Open(last bool) io.Reader {
	switch {
	case in == nil:
		return nil
	case in.file != nil:
		_, _ = in.file.Seek(in.start, io.SeekStart)
		return in.file
	}
	in.End()
	in.mu.Lock()
	defer in.mu.Unlock()
	in.at = 0
	in.keep = in.keep && !last
	return launchInput{in, in.launch}
}

// End ends the input of the current launch, even during a read.
func (in *clientInput) End() {
	if in == nil {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.launch++
	in.changed.Broadcast()
}

// Forget stops keeping the data, because there will be no second launch.
func (in *clientInput) Forget() {
	if in == nil {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.keep = false
	in.trim()
}

// trim drops the data that was read, once it is no longer kept.
func (in *clientInput) trim() {
	if !in.keep {
		in.kept, in.at = in.kept[in.at:], 0
	}
}

// fill reads the source once.
func (in *clientInput) fill() {
	buffer := make([]byte, 32<<10)
	n, err := in.source.Read(buffer)
	in.mu.Lock()
	defer in.mu.Unlock()
	in.kept = append(in.kept, buffer[:n]...)
	in.reading, in.err = false, err
	in.changed.Broadcast()
}

// launchInput is the input as one launch reads it.
type launchInput struct {
	*clientInput
	number int
}

func (l launchInput) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.number == l.launch {
		switch {
		case l.at < len(l.kept):
			n := copy(p, l.kept[l.at:])
			l.at += n
			l.trim()
			return n, nil
		case l.err != nil:
			return 0, l.err
		case !l.reading:
			l.reading = true
			go l.fill()
		}
		l.changed.Wait()
	}
	return 0, io.EOF
}
