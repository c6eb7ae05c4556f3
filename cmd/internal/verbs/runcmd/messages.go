package runcmd

import (
	"io"
	"sync"
)

// messages is standard error, shared by the client and this program. It is safe for concurrent use.
type messages struct {
	mu      sync.Mutex
	w       io.Writer
	midLine bool // the client's last line has no newline yet
}

// Write writes the client's output unchanged.
func (m *messages) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.write(p)
}

func (m *messages) write(p []byte) (int, error) {
	if len(p) > 0 {
		m.midLine = p[len(p)-1] != '\n'
	}
	return m.w.Write(p)
}

// own returns a writer for this program's own lines. They always start on a new line.
func (m *messages) own() io.Writer { return ownLines{m} }

type ownLines struct{ *messages }

func (o ownLines) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.midLine {
		_, _ = o.write([]byte("\n"))
	}
	return o.write(p)
}
