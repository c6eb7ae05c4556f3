package setup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/system"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// answersWithin is the time limit for a client to print its models.
const answersWithin = 10 * time.Second

// Model returns the model that a client uses unless a run says otherwise. Nil without an error: each of the client's models calls tools
// in the same way.
func (h Home) Model(ctx context.Context, c *agent.Client, env []string) (*agent.Model, error) {
	if c.ModelList == nil {
		return nil, nil
	}
	program := system.Here(env).LookPath(c.Name)
	if program == "" {
		return nil, errors.New(c.Name + " is not on PATH")
	}
	ctx, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	var list bytes.Buffer
	cmd := exec.CommandContext(ctx, program, c.ModelList...)
	cmd.Env, cmd.Stdout, cmd.WaitDelay = env, &list, time.Second
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s does not list its models: %w", c.Name, err)
	}
	m, err := c.UsedModel(list.Bytes(), func(name string) map[string]any {
		file, _ := h.File(c, agent.File{Name: name, As: agent.TOML})
		return file.Object()
	})
	if err != nil {
		return nil, fmt.Errorf("the models of %s: %w", c.Name, err)
	}
	return &m, nil
}

// Trusts reports whether a client runs our hook of an event.
func (h Home) Trusts(c *agent.Client, event string, ours func(entry any) bool) bool {
	files, err := h.Files(c.Name)
	if err != nil || c.Hooks.Trusted == nil {
		return err == nil
	}
	list, _ := agent.ValueAt(files.Hooks.Object(), "hooks", event).([]any)
	for i, v := range list {
		if entry, ok := v.(map[string]any); ok && ours(v) && c.Hooks.Trusted(files.Servers.Object(), files.Hooks.Path, event, i, entry) {
			return true
		}
	}
	return false
}

// Object returns what a client finds in its file, nothing if it cannot read it.
func (f File) Object() map[string]any {
	text, err := f.Read()
	if err != nil {
		return nil
	}
	data, _ := f.Syntax.Decode(text) // nothing after an error
	object, _ := data.(map[string]any)
	return object
}
