package initcmd

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	served "github.com/mcp-pruner/mcp-pruner/cmd/internal/proxy"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/secret"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// unreadable returns the reason why a client cannot read its file, or nil.
func unreadable(file setup.File) error {
	text, err := file.Read()
	if err == nil {
		_, err = file.Syntax.Decode(text)
	}
	return err
}

// Hooked is a client whose own tools have our hooks.
type Hooked struct {
	Client, File string
	Program      string // what they start, or "" if init did not write them
	Plugin       bool   // they are a plugin's, which starts the program that is on PATH
	Untrusted    bool   // the client does not run them until the user lets it
}

// AllHooked lists the clients that have our hooks. Files that their clients cannot read have none.
func AllHooked(p command.Process) (found []Hooked) {
	h, err := homeOf(p)
	if err != nil {
		return nil
	}
	h.eachInstalled(hooks, func(c *agent.Client, p piece, text []byte) {
		trusted := len(c.Hooks.Events) == 0 || h.Trusts(c, c.Hooks.Events[0].Name, func(v any) bool { return h.ours(v, c.Name) })
		found = append(found, Hooked{Client: c.Name, File: p.file.Path, Program: p.program(text), Untrusted: !trusted})
	})
	for _, c := range agent.Clients {
		if c.Hooks != nil && c.Hooks.Enabled != nil && h.enabled(c) {
			files, _ := h.Files(c.Name) // found before
			found = append(found, Hooked{Client: c.Name, File: files.Hooks.Path, Plugin: true})
		}
	}
	return found
}

// enabled reports whether a client's plugin with our hooks is in use for the user.
func (h home) enabled(c *agent.Client) bool {
	files, err := h.Files(c.Name)
	if err != nil || unreadable(files.Hooks) != nil {
		return false
	}
	text, err := files.Hooks.Read()
	if err != nil || text == nil {
		return false
	}
	j, err := setup.ParseJSON(text)
	return err == nil && j.Get(c.Hooks.Enabled...) == true
}

// Refusal is a file that init would not change.
type Refusal struct {
	Client string
	File   string // "": the client's files cannot be found
	Err    error
	Broken bool // the client cannot read it; otherwise it is only not safe to change
}

// Refusals lists the files of all clients that init would not change as they are now. Files that do not exist are not
// listed.
func Refusals(p command.Process) (found []Refusal) {
	h, err := homeOf(p)
	if err != nil {
		return nil
	}
	for _, client := range clients() {
		all, err := h.pieces(client)
		if err != nil {
			found = append(found, Refusal{Client: client, Err: err, Broken: true})
			continue
		}
		for _, file := range filesOf(all) {
			if text, err := file.Read(); err == nil && text == nil {
				continue
			}
			if err := file.Check(); err != nil {
				found = append(found, Refusal{client, file.Path, err, unreadable(file) != nil})
			}
		}
	}
	return found
}

// Proxied is a client whose API calls go to the proxy that init set up.
type Proxied struct {
	Client, File string
	Address      string // of the proxy
	Starts       bool   // the client starts the proxy itself
}

// AllProxied lists the clients whose API calls go to the proxy.
func AllProxied(p command.Process) (found []Proxied) {
	h, err := homeOf(p)
	if err != nil {
		return nil
	}
	h.eachInstalled(proxy, func(c *agent.Client, p piece, text []byte) {
		at := proxyURL
		if p.address != nil {
			at = p.address(text)
		}
		found = append(found, Proxied{c.Name, p.file.Path, at, h.starting(c)})
	})
	return found
}

// eachInstalled calls use for each client with a piece of a kind in a file that the client can read.
func (h home) eachInstalled(k kind, use func(c *agent.Client, p piece, text []byte)) {
	for _, client := range clients() {
		all, _ := h.pieces(client)
		for _, p := range all {
			if text, err := p.file.Read(); err == nil && p.kind == k && unreadable(p.file) == nil && text != nil && p.present(text) {
				use(agent.Named(client), p, text)
			}
		}
	}
}

// starting reports whether a client starts the proxy itself.
func (h home) starting(c *agent.Client) bool {
	return len(c.Proxy.Start) > 0 && h.Trusts(c, c.Proxy.Start[0], h.startEntry)
}

// StopProxies ends the proxies to which init sent clients, which hooks or a service of the user's session started.
func StopProxies(ctx context.Context, p command.Process, w io.Writer, clients []Proxied) (failed error) {
	if len(clients) == 0 {
		return nil
	}
	key, err := secret.LoadProof(p.Lookup) // it makes one if there is none
	if err != nil {
		return err
	}
	stopped := map[string]bool{}
	for _, client := range clients {
		if stopped[client.Address] {
			continue
		}
		stopped[client.Address] = true
		switch err := served.Stop(ctx, client.Address, key); {
		case err == nil:
			_, _ = fmt.Fprintf(w, "the proxy at %s has ended; a session that uses it has to be started again\n", client.Address)
		case served.Taken(err):
			_, _ = fmt.Fprintf(w, "%v, and goes on\n", err)
		case !served.NotRunning(err):
			failed = errors.Join(failed, fmt.Errorf("the proxy at %s goes on: %w", client.Address, err))
		}
	}
	return failed
}
