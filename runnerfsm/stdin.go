package runnerfsm

import (
	"bytes"
	"io"
	"os"
	"slices"
	"sync"
)

// input is the run's standard input. A client that is started a second time gets
// again what the first launch read.
type input struct {
	source io.Reader
	file   *os.File // set when source is a file that can be read again
	start  int64    // where its reading begins

	mu   sync.Mutex
	kept []byte // what was read of any other source
	keep bool
}

// newInput returns nil for an input that is not to be read: there is none, or it
// is a terminal, which a client without a screen has no use for and which a
// process group in the background must not touch.
func newInput(source io.Reader) *input {
	in := &input{source: source, keep: true}
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

// launch is the input of one launch of the client, from its beginning.
func (in *input) launch(last bool) io.Reader {
	switch {
	case in == nil:
		return nil
	case in.file != nil:
		_, _ = in.file.Seek(in.start, io.SeekStart)
		return in.file
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	again := bytes.NewReader(slices.Clone(in.kept))
	if last {
		in.kept, in.keep = nil, false
	}
	return io.MultiReader(again, io.TeeReader(in.source, in))
}

// Write keeps what a launch read, until forget.
func (in *input) Write(p []byte) (int, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.keep {
		in.kept = append(in.kept, p...)
	}
	return len(p), nil
}

// forget stops keeping: there will be no second launch.
func (in *input) forget() {
	if in == nil {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.kept, in.keep = nil, false
}
