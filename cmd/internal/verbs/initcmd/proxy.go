package initcmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/secret"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// claudeProxy sends Claude Code's API calls through the proxy, with the secret in a header. Claude Code reads headers from
// its environment only, so that the secret is in its settings, which then only their owner can read.
func (h home) claudeProxy(file setup.File) piece {
	p := h.memberPiece(proxy, file, proxyURL, "env", "ANTHROPIC_BASE_URL")
	change := func(text []byte, add func() (string, error)) ([]byte, error) {
		return edit(text, func(j *setup.JSON) error {
			now, isText := j.Get("env", claudeHeaders).(string)
			if !isText && j.Get("env", claudeHeaders) != nil {
				return fmt.Errorf("env.%s is not a text", claudeHeaders)
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
				j.Remove("env", claudeHeaders)
			case isText:
				return replace(j, text, []string{"env", claudeHeaders})
			case text != "":
				return j.Set(text, "env", claudeHeaders)
			}
			return nil
		})
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

// claudeHeaders is the variable with which Claude Code is given headers, one a line.
const claudeHeaders = "ANTHROPIC_CUSTOM_HEADERS"

// opencodeProxy sends opencode's calls of Anthropic's API through the proxy. opencode reads the secret from its file.
func (h home) opencodeProxy(file setup.File) piece {
	p := h.memberPiece(proxy, file, proxyURL+"/v1", "provider", "anthropic", "options", "baseURL")
	header := func() (piece, error) {
		path, err := secret.File(h.Lookup)
		return h.memberPiece(proxy, file, "{file:"+path+"}", "provider", "anthropic", "options", "headers", secret.Header), err
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

// extended returns a piece with further edits of its file.
func extended(p piece, install, remove func([]byte) ([]byte, error)) piece {
	first, last := p.install, p.remove
	p.install = func(text []byte) ([]byte, error) {
		text, err := first(text)
		if err != nil {
			return nil, err
		}
		return install(text)
	}
	p.remove = func(text []byte) ([]byte, error) {
		text, err := remove(text)
		if err != nil {
			return nil, err
		}
		return last(text)
	}
	return p
}

// dropSecret deletes the secret of the proxy once no client that init set up uses it any more.
func (h home) dropSecret(chosen []piece) error {
	if !slices.ContainsFunc(chosen, func(p piece) bool { return p.kind == proxy }) {
		return nil
	}
	for _, c := range agent.Clients {
		all, err := h.pieces(c.Name)
		if err != nil {
			continue // init cannot set it up
		}
		if slices.ContainsFunc(all, func(p piece) bool { return p.kind == proxy && p.installed() }) {
			return nil
		}
	}
	if err := secret.Remove(h.Lookup); err != nil {
		return errors.Join(errors.New("the secret of the proxy stays"), err)
	}
	return nil
}
