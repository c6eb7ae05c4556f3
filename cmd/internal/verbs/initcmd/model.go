package initcmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// answersWithin is the time limit for a client to print its models.
const answersWithin = 10 * time.Second

// ModelOf returns the model that a client uses unless a run says otherwise. Nil without an error: each of the client's models calls tools
// in the same way.
func ModelOf(ctx context.Context, p command.Process, client string) (*agent.Model, error) {
	c := agent.Named(client)
	if c.Models == nil {
		return nil, nil
	}
	h := home{Home: setup.Home{Lookup: p.Lookup}}
	program := h.lookPath(c.Name)
	if program == "" {
		return nil, errors.New(c.Name + " is not on PATH")
	}
	ctx, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	var list bytes.Buffer
	cmd := exec.CommandContext(ctx, program, c.Models.List...)
	cmd.Env, cmd.Stdout, cmd.WaitDelay = p.Env, &list, time.Second
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s does not list its models: %w", c.Name, err)
	}
	m, err := c.Models.Used(list.Bytes(), func(name string) map[string]any {
		file, _ := h.File(c, agent.File{Name: name, As: agent.TOML})
		return h.dataOf(file)
	})
	if err != nil {
		return nil, fmt.Errorf("the models of %s: %w", c.Name, err)
	}
	return &m, nil
}

// dataOf returns what a client finds in its file, nothing if it cannot read it.
func (h home) dataOf(file setup.File) map[string]any {
	text, err := file.Read()
	if err != nil {
		return nil
	}
	data, _ := file.Syntax.Decode(text) // nothing after an error
	object, _ := data.(map[string]any)
	return object
}

// fit returns the kinds of pieces that work with a client's model, and why. The proxy is left out where it cannot be set up beside hooks.
func fit(c *agent.Client, m *agent.Model, err error, proxied func() error) (wanted map[kind]bool, why string) {
	hooked := map[kind]bool{hooks: true}
	switch {
	case err != nil:
		return hooked, fmt.Sprintf("Which model %s uses is not known (%v). Hooks do nothing with one that calls tools from code, as today's do: init %s --proxy is for these.", c.Title, err, c.Name)
	case m == nil:
		return hooked, ""
	case m.FromCode:
		return map[kind]bool{proxy: true, start: true, unit: true}, fmt.Sprintf("%s's model %s calls tools from code, where a hook can replace nothing: the proxy, which clears old results, and no hooks.", c.Title, m)
	}
	if err := proxied(); err != nil {
		return hooked, fmt.Sprintf("%s's model %s calls its tools itself: hooks. No proxy: %v.", c.Title, m, err)
	}
	return map[kind]bool{proxy: true, start: true, unit: true, hooks: true}, fmt.Sprintf("%s's model %s calls its tools itself: hooks, and the proxy, which clears old results.", c.Title, m)
}
