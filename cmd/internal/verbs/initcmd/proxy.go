package initcmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/secret"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// proxyPiece sends a client's API calls through the proxy, with the secret in a header.
func (h home) proxyPiece(file setup.File, c *agent.Client) piece {
	p := c.Proxy
	address := h.withStart(h.memberPiece(proxy, file, proxyURL+p.Suffix, p.URL...), c)
	if p.HeaderLines != nil {
		return h.withHeaderLine(address, p.HeaderLines)
	}
	return h.withHeader(address, p.Headers)
}

// withHeaderLine adds the secret to a text of headers, one a line.
func (h home) withHeaderLine(p piece, at []string) piece {
	change := func(text []byte, add func() (string, error)) ([]byte, error) {
		return edit(text, func(j *setup.JSON) error { return changeLines(j, at, add) })
	}
	return extended(p, func(text []byte) ([]byte, error) {
		return change(text, func() (string, error) {
			s, err := secret.Load(h.Lookup)
			return secret.Header + ": " + string(s), err
		})
	}, func(text []byte) ([]byte, error) {
		return change(text, func() (string, error) { return "", nil })
	})
}

// changeLines replaces the line of the secret in a text of headers by another, or by none.
func changeLines(j *setup.JSON, at []string, add func() (string, error)) error {
	now, isText := j.Get(at...).(string)
	if !isText && j.Get(at...) != nil {
		return fmt.Errorf("%s is not a text", strings.Join(at, "."))
	}
	lines := strings.Split(now, "\n")
	lines = slices.DeleteFunc(lines, func(l string) bool { return l == "" || strings.HasPrefix(l, secret.Header+":") })
	line, err := add()
	if err != nil {
		return err
	}
	if line != "" {
		lines = append(lines, line)
	}
	switch text := strings.Join(lines, "\n"); {
	case text == "" && isText:
		j.Remove(at...)
	case isText:
		return replace(j, text, at)
	case text != "":
		return j.Set(text, at...)
	}
	return nil
}

// withHeader adds the secret to an object of headers, as the name of its file, which the client reads.
func (h home) withHeader(p piece, at []string) piece {
	header := func() (piece, error) {
		path, err := secret.File(h.Lookup)
		return h.memberPiece(proxy, p.file, "{file:"+path+"}", append(slices.Clone(at), secret.Header)...), err
	}
	return extended(p, func(text []byte) ([]byte, error) {
		if _, err := secret.Load(h.Lookup); err != nil {
			return nil, err
		}
		headers, err := header()
		if err != nil {
			return nil, err
		}
		return headers.install(text)
	}, func(text []byte) ([]byte, error) {
		headers, err := header()
		if err != nil {
			return nil, err
		}
		return headers.remove(text)
	})
}
