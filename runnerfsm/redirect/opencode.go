package redirect

import (
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/inject"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/secret"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// The addresses that opencode's own providers have unless it is told otherwise. Those of others are not known.
var opencodeOwn = map[string]string{
	"anthropic": "https://api.anthropic.com/v1", "openai": "https://api.openai.com/v1", "google": "https://generativelanguage.googleapis.com/v1beta",
}

// opencode sends the calls of opencode to a proxy by a configuration in its environment, which wins over those in files. It
// can change its model, so every provider with a known address gets another one.
func opencode(c *agent.Client, s Start) (Plan, error) {
	addresses, model, err := opencodeConfig(c, s)
	if err != nil {
		return Plan{}, err
	}
	for i, arg := range s.Args {
		if v, ok := strings.CutPrefix(arg, "--model="); ok {
			model = v
		} else if (arg == "-m" || arg == "--model") && i+1 < len(s.Args) {
			model = s.Args[i+1]
		}
	}
	plan := Plan{Upstreams: map[string]*url.URL{}}
	paths := map[string]string{}
	for id, address := range addresses {
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || !codexID.MatchString(id) {
			continue // such as one that opencode takes from a variable
		}
		paths[id] = u.Path
		u.Path, u.RawPath = "", ""
		plan.Upstreams[id] = u
	}
	if id, _, ok := strings.Cut(model, "/"); ok && plan.Upstreams[id] == nil {
		return Plan{}, refusef("%s uses the provider %s (model %s), whose address is not known or is none that the proxy can work on: choose another model, or start it without --proxy", c.Title, id, model)
	}
	plan.change = func(p Proxy) (Change, error) {
		content, err := opencodeContent(c, s)
		if err != nil {
			return Change{}, err
		}
		if p.Shown {
			clear(content)
		}
		for _, id := range slices.Sorted(maps.Keys(paths)) {
			object(object(object(content, "provider"), id), "options")["baseURL"] = p.url(id, paths[id])
		}
		return Change{Env: []string{c.Base.Variable + "=" + inject.JSON(content)}, Args: s.Args}, nil
	}
	return plan, nil
}

// object returns a member that is an object, and makes it one.
func object(of map[string]any, name string) map[string]any {
	found, ok := of[name].(map[string]any)
	if !ok {
		found = map[string]any{}
		of[name] = found
	}
	return found
}

// opencodeContent returns the configuration that is in the environment already.
func opencodeContent(c *agent.Client, s Start) (map[string]any, error) {
	data, err := (setup.Syntax{Client: c.Title, Format: agent.JSONC}).Decode([]byte(s.get(c.Base.Variable)))
	if err != nil {
		return nil, refusef("%s: %v", c.Base.Variable, err)
	}
	if content, ok := data.(map[string]any); ok {
		return content, nil
	}
	return map[string]any{}, nil
}

// opencodeConfig returns the addresses of opencode's providers, and its model.
func opencodeConfig(c *agent.Client, s Start) (addresses map[string]string, model string, err error) {
	files, err := s.home().Files(c.Name)
	if err != nil {
		return nil, "", err
	}
	paths := []string{files.Servers.Path}
	if given := s.get("OPENCODE_CONFIG"); given != "" {
		paths = append(paths, given)
	}
	addresses = maps.Clone(opencodeOwn)
	learn := func(data any) {
		if m, ok := member(data, "model").(string); ok {
			model = m
		}
		providers, _ := member(data, "provider").(map[string]any)
		for id := range providers {
			if base, ok := member(providers, id, "options", "baseURL").(string); ok && !secret.In([]byte(base)) && !ourHeader(providers[id]) {
				addresses[id] = base
			}
		}
	}
	for _, path := range append(paths, opencodeProject(s.Dir)...) {
		text, err := setup.File{Path: path}.Read()
		if err != nil || text == nil {
			continue
		}
		data, err := files.Servers.Syntax.Decode(text)
		if err != nil {
			return nil, "", refusef("%s: %v", path, err)
		}
		learn(data)
	}
	content, err := opencodeContent(c, s)
	if err != nil {
		return nil, "", err
	}
	learn(content)
	return addresses, model, nil
}

// ourHeader reports whether a provider's address is that of a proxy of ours, which would do the same work twice.
func ourHeader(provider any) bool {
	return member(provider, "options", "headers", secret.Header) != nil
}

// opencodeProject returns the configurations of the project, the outermost first.
func opencodeProject(dir string) (paths []string) {
	for {
		var here []string
		for _, name := range []string{"opencode.jsonc", "opencode.json", filepath.Join(".opencode", "opencode.jsonc"), filepath.Join(".opencode", "opencode.json")} {
			here = append(here, filepath.Join(dir, name))
		}
		paths = append(here, paths...)
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil || dir == filepath.Dir(dir) {
			return paths
		}
		dir = filepath.Dir(dir)
	}
}
