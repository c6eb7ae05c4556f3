package prefix

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// Project is a project's folder as a client sees it.
type Project struct {
	Client *agent.Client
	Folder string
	Lookup func(string) (string, bool)
}

func (p Project) settings(path string) map[string]any { return settingsOf(p.Client)(path) }

// files returns the paths of the settings of the user, the project and an administrator.
func (p Project) files() (user, shared, managed []string) {
	if f, err := (setup.Home{Lookup: p.Lookup}).Files(p.Client.Name); err == nil {
		user = append(user, f.Servers.Path)
		if f.Hooks.Path != f.Servers.Path && p.Client.Files.Hooks.As != agent.AnyText {
			user = append(user, f.Hooks.Path)
		}
	}
	for _, name := range p.Client.Files.InProject {
		if !slices.Contains(p.Client.Prefix.Shared, name) {
			user = append(user, filepath.Join(p.Folder, filepath.FromSlash(name)))
		}
	}
	for _, name := range p.Client.Prefix.Shared {
		shared = append(shared, filepath.Join(p.Folder, filepath.FromSlash(name)))
	}
	if p.Client.Files.Managed != nil {
		managed = p.Client.Files.Managed(runtime.GOOS, func(name string) string { v, _ := p.Lookup(name); return v })
	}
	return user, shared, managed
}

// Servers returns the names of the MCP servers that the client's settings and the project's list.
func (p Project) Servers() []string {
	names := map[string]bool{}
	user, shared, managed := p.files()
	for _, path := range slices.Concat(user, shared, managed) {
		data := p.settings(path)
		noteNames(names, data[p.Client.Servers.Member])
		projects, _ := data["projects"].(map[string]any)
		own, _ := projects[p.Folder].(map[string]any)
		noteNames(names, own[p.Client.Servers.Member])
	}
	return slices.Sorted(maps.Keys(names))
}

// Entry returns a checksum of what the user's settings say of a server, "" if they do not list it.
func (p Project) Entry(server string) string {
	user, _, _ := p.files()
	for _, path := range user {
		list, _ := p.settings(path)[p.Client.Servers.Member].(map[string]any)
		entry, ok := list[server].(map[string]any)
		if !ok {
			continue
		}
		entry = maps.Clone(entry)
		delete(entry, "enabled") // a switch of its own
		text, err := json.Marshal(entry)
		if err != nil {
			continue
		}
		sum := sha256.Sum256(text)
		return hex.EncodeToString(sum[:8])
	}
	return ""
}

// noteNames adds the names of an object's members, or the texts of a list.
func noteNames(names map[string]bool, value any) {
	switch v := value.(type) {
	case map[string]any:
		for name := range v {
			names[name] = true
		}
	case []any:
		for _, e := range v {
			if text, ok := e.(string); ok {
				names[text] = true
			}
		}
	}
}

// Starts lists the programs that the client starts with every session, for the user to read before the client is started.
func (p Project) Starts() string {
	var said []string
	if servers := p.Servers(); len(servers) > 0 {
		said = append(said, "MCP servers "+strings.Join(servers, ", "))
	}
	user, shared, managed := p.files()
	for _, member := range p.Client.Prefix.Started {
		names := map[string]bool{}
		for _, path := range slices.Concat(user, shared, managed) {
			noteNames(names, p.settings(path)[member])
		}
		if len(names) > 0 {
			said = append(said, member+" "+strings.Join(slices.Sorted(maps.Keys(names)), ", "))
		}
	}
	if said == nil {
		return "no MCP servers and no hooks"
	}
	return strings.Join(said, "; ")
}

// Trusted returns an error if the client has not been told to trust the folder. A client that asks nobody would follow the
// settingsOf of any folder; one that has such settings counts as not trusted.
func (p Project) Trusted() error {
	if p.Client.Prefix.Trust == nil {
		_, shared, _ := p.files()
		for _, path := range shared {
			if _, err := os.Stat(path); err == nil {
				return fmt.Errorf("%s has settings of its own (%s), which %s would follow: look at them, then say --trust", p.Folder, path, p.Client.Title)
			}
		}
		return nil
	}
	file, err := setup.Home{Lookup: p.Lookup}.File(p.Client, p.Client.Prefix.Trust.File)
	if err != nil {
		return err
	}
	text, err := file.Read()
	if err != nil {
		return fmt.Errorf("%s: %w", file.Path, err)
	}
	data, err := file.Syntax.Decode(text)
	if err != nil {
		return fmt.Errorf("%s: %w", file.Path, err)
	}
	object, _ := data.(map[string]any)
	if !p.Client.Prefix.Trust.In(object, p.Folder) {
		return fmt.Errorf("%s has not been told to trust %s, and starting it there would follow the settings of that folder: start %s there once, or say --trust",
			p.Client.Title, p.Folder, p.Client.Name)
	}
	return nil
}

// Reachable returns an error if an administrator's settings send the client to another API than the stand-in.
func (p Project) Reachable() error {
	_, _, managed := p.files()
	for _, path := range managed {
		data := p.settings(path)
		for _, setting := range p.Client.Prefix.Elsewhere {
			if agent.ValueAt(data, setting...) != nil {
				return fmt.Errorf("%s sets %s, and nothing wins over it: %s would ask a model in earnest; take a recorded request instead (--from)",
					path, strings.Join(setting, "."), p.Client.Title)
			}
		}
	}
	return nil
}

// Decided returns who decided that a part stands in the prefix: an administrator or the project, for all who work on it; ""
// for the user.
func (p Project) Decided(part sessions.Part) string {
	_, shared, managed := p.files()
	for _, path := range managed {
		if p.decides(p.settings(path), part) {
			return path
		}
	}
	for _, path := range shared {
		if p.decides(p.settings(path), part) {
			return path
		}
		for _, name := range []string{part.Name, part.Name + ".md", part.Name + ".toml"} {
			inner := filepath.Join(path, filepath.Base(name))
			if _, err := os.Stat(inner); err == nil && (part.Kind == sessions.SkillPart || part.Kind == sessions.AgentPart) {
				return inner
			}
		}
	}
	return ""
}

// decides reports whether settings name a part, or set what would switch it off.
func (p Project) decides(settings map[string]any, part sessions.Part) bool {
	if s := p.Client.Prefix.Switch(agent.Thing{Kind: string(part.Kind), Name: part.Name, Server: part.Server}); s != nil && !s.List {
		if agent.ValueAt(settings, s.Path...) != nil {
			return true
		}
	}
	return mentions(settings, part)
}

// mentions reports whether settings name a part or its server, in a key, a value, or a rule such as Name(...).
func mentions(value any, part sessions.Part) bool {
	is := func(text string) bool {
		rule, _, _ := strings.Cut(text, "(")
		return text == part.Name || rule == part.Name || part.Server != "" && (text == part.Server || strings.HasPrefix(text, "mcp__"+part.Server))
	}
	switch v := value.(type) {
	case string:
		return is(v)
	case []any:
		return slices.ContainsFunc(v, func(e any) bool { return mentions(e, part) })
	case map[string]any:
		for name, inner := range v {
			if is(name) || mentions(inner, part) {
				return true
			}
		}
	}
	return false
}
