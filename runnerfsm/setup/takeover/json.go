package takeover

import (
	"maps"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/takeover/restriction"
)

// member returns the name of the object that contains the servers.
func (t Takeover) member() string { return t.client().Servers.Member }

// movesJSON returns the entries that a gateway can take over: all except its own, those with an unsupported
// transport, and those that the client's rules restrict.
func (t Takeover) movesJSON(text []byte) (kept, error) {
	k := kept{Servers: map[string]any{}, Original: map[string]any{}, stay: map[string]string{}}
	file, err := setup.ParseJSON(text)
	if err != nil {
		return k, err
	}
	rules, err := t.source().JSON(file)
	if err != nil {
		return k, err
	}
	k.Text = file.Text(t.member())
	entries, _ := file.Get(t.member()).(map[string]any)
	for name, entry := range entries {
		fields, _ := entry.(map[string]any)
		converted := t.convert(fields)
		if t.own(fields["command"]) {
			continue
		}
		if converted == nil {
			k.stay[name] = "its transport is not supported"
			continue
		}
		if why := t.stays(name, fields, rules); why != "" {
			k.stay[name] = why
			continue
		}
		k.Servers[name], k.Original[name] = converted, entry
	}
	k.stale = restriction.Stale(rules, k.Servers)
	return k, nil
}

// convert returns an entry in the gateway's form, or nil if its transport is not supported.
func (t Takeover) convert(fields map[string]any) map[string]any {
	out := maps.Clone(fields)
	url, kind := fields["url"], fields["type"]
	switch {
	case t.client().Servers.CommandList:
		return convertList(fields)
	case fields["command"] != nil:
		return out
	case fields["httpUrl"] != nil: // Gemini CLI
		out["url"] = fields["httpUrl"]
		delete(out, "httpUrl")
		return out
	case url != nil && kind == "http", url != nil && t.client().Servers.URLIsHTTP && kind == nil:
		return out
	}
	return nil
}

// convertList converts an entry whose command is a list.
func convertList(fields map[string]any) map[string]any {
	out := map[string]any{"disabled": fields["enabled"] == false}
	if fields["type"] == "remote" {
		out["url"], out["headers"] = fields["url"], fields["headers"]
		return out
	}
	command, _ := fields["command"].([]any)
	if len(command) == 0 {
		return nil
	}
	out["command"], out["args"], out["env"] = command[0], command[1:], fields["environment"]
	return out
}

// entry returns the gateway's entry in the client's configuration.
func (t Takeover) entry() map[string]any {
	if t.client().Servers.CommandList {
		return map[string]any{"type": "local", "command": []any{t.Program, "gateway", t.Config}}
	}
	return map[string]any{"command": t.Program, "args": []any{"gateway", t.Config}}
}

func (t Takeover) installJSON(text []byte, moved kept) ([]byte, error) {
	file, err := setup.ParseJSON(text)
	if err != nil {
		return nil, err
	}
	if file.Get(t.member(), entryName) == nil {
		if err := file.Set(t.entry(), t.member(), entryName); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(moved.Servers)) {
		file.Remove(t.member(), name)
	}
	return file.Bytes(), nil
}

// restoreJSON restores the entries in a file that was changed since install. If the servers are as install
// left them, their original text is restored.
func (t Takeover) restoreJSON(text []byte, k kept) ([]byte, error) {
	file, err := setup.ParseJSON(text)
	if err != nil {
		return nil, err
	}
	if t.untouched(file, k) {
		err := file.SetText(k.Text, t.member())
		return file.Bytes(), err
	}
	for _, name := range slices.Sorted(maps.Keys(k.Original)) {
		if file.Get(t.member(), name) != nil {
			continue // there is a new entry with that name
		}
		if err := file.Set(k.Original[name], t.member(), name); err != nil {
			return nil, err
		}
	}
	file.Remove(t.member(), entryName)
	return file.Bytes(), nil
}

// untouched reports whether the servers in a file are exactly what install made of the original text.
func (t Takeover) untouched(file *setup.JSON, k kept) bool {
	whole, err := setup.ParseJSON(file.Bytes())
	if err != nil || whole.SetText(k.Text, t.member()) != nil {
		return false
	}
	if different, err := t.compare(whole.Bytes(), k); err != nil || different != "" {
		return false
	}
	again, err := t.installJSON(whole.Bytes(), k)
	if err != nil {
		return false
	}
	made, err := setup.ParseJSON(again)
	return err == nil && made.Text(t.member()) == file.Text(t.member())
}
