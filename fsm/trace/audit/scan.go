package audit

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
)

// chunkBytes is the size of the part of a file that one worker reads at a time.
const chunkBytes = 1 << 20

// maxLineBytes bounds a line, in case a file is hostile: no record is nearly as long. Of a
// longer line, only enough is kept to show that it is too long.
const maxLineBytes = 16 << 20

// maxPieces bounds the number of records in one line.
const maxPieces = 16

// errStop ends a scan early without an error.
var errStop = errors.New("stop")

// chunk is a sequence of whole lines with the results of its worker.
type chunk struct {
	source *Source
	number int // line number of its first line
	text   []byte
	lines  []line
	err    error // reading failed after this chunk
	done   chan struct{}
}

// scan reads lines on all processors and passes them to take in order.
// It ends with the first error that take returns.
func scan(sources []*Source, newReader func() reader, take func(*line) error) error {
	workers := runtime.GOMAXPROCS(0)
	work, order := make(chan *chunk, workers), make(chan *chunk, 2*workers)
	stop := make(chan struct{})
	var running sync.WaitGroup
	defer func() {
		close(stop)
		running.Wait()
	}()
	for range workers {
		running.Go(func() { // ends with the files or with the scan
			read := newReader()
			for c := range work {
				c.read(read)
				close(c.done)
			}
		})
	}
	running.Go(func() {
		defer close(order)
		defer close(work)
		for _, s := range sources {
			if !split(s, work, order, stop) {
				return
			}
		}
	})
	for c := range order {
		<-c.done
		for i := range c.lines {
			if err := take(&c.lines[i]); err != nil {
				return err
			}
		}
		if c.err != nil {
			return fmt.Errorf("read %s: %w", c.source.Name, c.err)
		}
	}
	return nil
}

// split divides a file into chunks. It returns false once the scan is over.
func split(s *Source, work, order chan<- *chunk, stop <-chan struct{}) bool {
	in := bufio.NewReaderSize(s.begin(), 64<<10)
	number := 1
	for {
		text, err := nextChunk(in)
		c := &chunk{source: s, number: number, text: text, done: make(chan struct{})}
		if err == io.EOF {
			c.err = s.end()
		} else {
			c.err = err
		}
		number += bytes.Count(text, []byte("\n"))
		select {
		case order <- c:
		case <-stop:
			return false
		}
		work <- c
		if err != nil {
			return c.err == nil
		}
	}
}

func nextChunk(in *bufio.Reader) ([]byte, error) {
	text := make([]byte, chunkBytes, chunkBytes+8<<10)
	n, err := io.ReadFull(in, text)
	text = text[:n]
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	longest := bytes.LastIndexByte(text, '\n') + 1 + maxLineBytes + len("+\n")
	for err == nil && text[len(text)-1] != '\n' {
		var rest []byte
		rest, err = in.ReadSlice('\n')
		text = append(text, rest...)
		if len(text) > longest { // the last byte may be the newline
			text = append(text[:longest-1], text[len(text)-1])
		}
		if err == bufio.ErrBufferFull {
			err = nil
		}
	}
	return text, err
}

func (c *chunk) read(read reader) {
	c.lines = make([]line, 0, len(c.text)/1000)
	number := c.number
	for rest := c.text; len(rest) > 0; number++ {
		end := bytes.IndexByte(rest, '\n')
		ended := end >= 0
		if !ended {
			end = len(rest)
		}
		one := line{file: c.source.number, number: number, last: !ended}
		if len(bytes.TrimSpace(rest[:end])) > 0 {
			c.readLine(read, rest[:end], one)
		} else {
			one.blank = true
			c.lines = append(c.lines, one)
		}
		rest = rest[min(end+1, len(rest)):]
	}
	c.text = nil
}

func (c *chunk) readLine(read reader, text []byte, l line) {
	for n := 1; text != nil; n++ {
		c.lines = append(c.lines, l)
		one := &c.lines[len(c.lines)-1]
		if text = read.read(text, one); n == maxPieces && text != nil {
			one.err = errPieces
			return
		}
	}
}
