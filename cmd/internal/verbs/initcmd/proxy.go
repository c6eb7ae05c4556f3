package initcmd

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/secret"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// proxyPiece sends a client's API calls through the proxy, with the secret in a header.
func (h home) proxyPiece(file setup.File, c *agent.Client) piece {
	p := c.Proxy
	if p.HeaderLines == nil && p.Headers == nil {
		return h.linePiece(file, c)
	}
	address := h.withStart(h.memberPiece(proxy, file, proxyURL+p.Suffix, p.URL...), c)
	if p.Note != "" {
		address.note += " " + p.Note
	}
	if p.Also != nil {
		address = h.withBeside(address, p.Also)
	}
	if p.HeaderLines != nil {
		return h.withHeaderLine(address, p.HeaderLines)
	}
	return h.withHeader(address, p.Headers)
}

// withBeside adds a setting unless the user has one.
func (h home) withBeside(p piece, b *agent.Beside) piece {
	unless := append(slices.Clone(b.Path[:len(b.Path)-1]), b.Unless)
	return extended(p, edits(func(j *setup.JSON) error {
		_, own := h.Lookup(b.Variable())
		_, other := h.Lookup(b.Unless)
		if own || other || j.Get(b.Path...) != nil || j.Get(unless...) != nil {
			return nil
		}
		return j.Set(b.Value, b.Path...)
	}), takesOut(func(j *setup.JSON) {
		if j.Get(b.Path...) == b.Value && !h.hadBefore(p.file, b) {
			j.Remove(b.Path...)
		}
	}))
}

// hadBefore reports whether the user had the very value before the first change of the file.
func (h home) hadBefore(file setup.File, b *agent.Beside) bool {
	text, err := setup.File{Path: file.Backup()}.Read()
	return err == nil && finds(func(j *setup.JSON) bool { return j.Get(b.Path...) == b.Value })(text)
}

// linePiece is one line before everything else in a TOML file: the address with the secret in it. Clients rewrite such a file, so
// the line alone is taken out again.
func (h home) linePiece(file setup.File, c *agent.Client) piece {
	key := c.Proxy.URL[0]
	line := regexp.MustCompile(`(?m)^` + key + ` = "(http://127\.0\.0\.1:\d+)/mcpp_[0-9a-f]{48}` + c.Proxy.Suffix + `"[^\n]*\n?`)
	remove := func(text []byte) ([]byte, error) { return line.ReplaceAll(text, nil), nil }
	return piece{
		kind: proxy, file: file, present: line.Match, remove: remove,
		note:    c.Proxy.Note,
		address: func(text []byte) string { return string(line.FindSubmatch(text)[1]) }, // it is present
		install: func(text []byte) ([]byte, error) {
			if !line.Match(text) {
				if err := settable(file, text, key); err != nil {
					return nil, err
				}
			}
			own, err := secret.Load(h.Lookup)
			if err != nil {
				return nil, err
			}
			ours := fmt.Sprintf("%s = %q\n", key, own.URL(proxyURL)+c.Proxy.Suffix)
			if bytes.Contains(text, []byte("\r\n")) {
				ours = strings.Replace(ours, "\n", "\r\n", 1)
			}
			if line.Match(text) {
				return line.ReplaceAllLiteral(text, []byte(ours)), nil
			}
			return append([]byte(ours), text...), nil
		},
	}
}

// settable returns an error if a line with the key would change nothing or something of the user's.
func settable(file setup.File, text []byte, key string) error {
	data, err := file.Syntax.Decode(text)
	if err != nil {
		return err
	}
	all, _ := data.(map[string]any)
	if all[key] != nil {
		return fmt.Errorf("%s is set to something else", key)
	}
	if p, _ := all["model_provider"].(string); p != "" && p != "openai" {
		return fmt.Errorf("model_provider is %q, whose address %s does not move; \"mcp-pruner run codex --proxy\" does, for a run", p, key)
	}
	return nil
}

// withHeaderLine adds the secret to a text of headers, one a line.
func (h home) withHeaderLine(p piece, at []string) piece {
	return extended(p, edits(func(j *setup.JSON) error {
		s, err := secret.Load(h.Lookup)
		if err != nil {
			return err
		}
		return changeLines(j, at, secret.Header+": "+string(s))
	}), edits(func(j *setup.JSON) error { return changeLines(j, at, "") }))
}

// changeLines replaces the line of the secret in a text of headers by another, or by none.
func changeLines(j *setup.JSON, at []string, line string) error {
	now, isText := j.Get(at...).(string)
	if !isText && j.Get(at...) != nil {
		return fmt.Errorf("%s is not a text", strings.Join(at, "."))
	}
	lines := strings.Split(now, "\n")
	lines = slices.DeleteFunc(lines, func(l string) bool { return l == "" || strings.HasPrefix(l, secret.Header+":") })
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
