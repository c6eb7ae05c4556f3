// Package stdio carries MCP over a pair of streams: one message a line.
package stdio

import (
	"bufio"
	"io"
)

// lineReader reads lines up to a maximum length.
type lineReader struct {
	r     *bufio.Reader
	limit int
}

func newLineReader(r io.Reader, limit int) *lineReader {
	return &lineReader{bufio.NewReaderSize(r, 64<<10), limit}
}

// next returns the next line without its newline. A line over the limit is
// skipped to its end and reported as too long; memory stays bounded. A last line
// without a newline counts. The error is io.EOF or the stream's own.
func (l *lineReader) next() (line []byte, tooLong bool, err error) {
	for {
		chunk, err := l.r.ReadSlice('\n')
		ended := err == nil
		if ended {
			chunk = chunk[:len(chunk)-1]
		}
		switch {
		case tooLong:
		case len(line)+len(chunk) > l.limit:
			line, tooLong = nil, true
		default:
			line = append(line, chunk...)
		}
		if ended {
			return line, tooLong, nil
		}
		if err != bufio.ErrBufferFull {
			if len(line) > 0 || tooLong {
				return line, tooLong, nil // the next call returns the error again
			}
			return nil, false, err
		}
	}
}

// atEnd waits for the next byte and reports whether there is none.
func (l *lineReader) atEnd() bool {
	_, err := l.r.Peek(1)
	return err != nil
}
