package sessions

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// documentOf returns the client whose transcripts are documents with names such as this one, or nil.
func documentOf(path string) *agent.Client {
	for _, c := range agent.Clients {
		if d := c.Transcripts.Document; d != nil && strings.HasSuffix(path, d.Suffix) {
			return c
		}
	}
	return nil
}

func readDocument(c *agent.Client, path string, yield func(Session) error) error {
	format := c.Transcripts.Document
	text, err := readUpTo(path, maxLine)
	if err != nil {
		return err
	}
	about, _ := readUpTo(strings.TrimSuffix(path, format.Suffix)+format.About, maxLine) // without it less is known
	h, steps, ok := format.Read(text, about)
	if !ok {
		return fmt.Errorf("%s: not a transcript of %s", path, c.Title)
	}
	r := newOwnReader(c)
	r.entry(ownEntry{h, steps})
	return yield(*r.read())
}

func readUpTo(path string, most int) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err == nil && len(text) > most {
		return nil, fmt.Errorf("%s: longer than %d MiB", path, most>>20)
	}
	return text, err
}
