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

// opencodeOwn are the addresses of opencode's own providers, and the variables that it obeys where its configuration has
// no address, as seen with 1.18.33. The addresses of other providers are not known.
var opencodeOwn = map[string]struct{ address, variable string }{
	"anthropic": {"https://api.anthropic.com/v1", "ANTHROPIC_BASE_URL"},
	"openai":    {"https://api.openai.com/v1", "OPENAI_BASE_URL"},
	"google":    {"https://generativelanguage.googleapis.com/v1beta", ""},
}

// opencode sends the calls of opencode to a proxy by a configuration in its environment, which wins over those in files. It
// can change its model, so every provider with a known address gets another one.
func opencode(c *agent.Client, s Start) (Plan, error) {
	addresses, passed, model, err := opencodeConfig(c, s)
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
	plan := Plan{Upstreams: map[string]*url.URL{}, Passed: passed}
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
	plan.Change = func(p Proxy) (Change, error) {
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

// opencodeConfig returns the addresses of opencode's providers, those of our proxies, and its model.
func opencodeConfig(c *agent.Client, s Start) (addresses map[string]string, passed []string, model string, err error) {
	files, err := s.home().Files(c.Name)
	if err != nil {
		return nil, nil, "", err
	}
	addresses = opencodeDefaults(s)
	learn := func(data any) {
		config, _ := data.(map[string]any)
		if m, ok := config["model"].(string); ok {
			model = m
		}
		providers, _ := config["provider"].(map[string]any)
		for id := range providers {
			base, ok := agent.ValueAt(providers, id, "options", "baseURL").(string)
			switch {
			case !ok:
			case secret.In([]byte(base)) || agent.ValueAt(providers, id, "options", "headers", secret.Header) != nil:
				passed = append(passed, origin(base))
			default:
				addresses[id] = base
			}
		}
	}
	for _, path := range opencodeFiles(files.Servers.Path, s) {
		text, err := setup.File{Path: path}.Read()
		if err != nil || text == nil {
			continue
		}
		data, err := files.Servers.Syntax.Decode(text)
		if err != nil {
			return nil, nil, "", refusef("%s: %v", path, err)
		}
		learn(data)
	}
	content, err := opencodeContent(c, s)
	if err != nil {
		return nil, nil, "", err
	}
	learn(content)
	return addresses, passed, model, nil
}

// opencodeDefaults returns the addresses of opencode's own providers if no file has others.
func opencodeDefaults(s Start) map[string]string {
	addresses := map[string]string{}
	for id, own := range opencodeOwn {
		addresses[id] = own.address
		if own.variable == "" {
			continue
		}
		if base := s.get(own.variable); base != "" && !secret.In([]byte(base)) {
			addresses[id] = base
		}
	}
	return addresses
}

// opencodeFiles returns the configurations that opencode reads, the weakest first.
func opencodeFiles(global string, s Start) []string {
	paths := []string{global}
	if given := s.get("OPENCODE_CONFIG"); given != "" {
		paths = append(paths, given)
	}
	if off := strings.ToLower(s.get("OPENCODE_DISABLE_PROJECT_CONFIG")); off != "1" && off != "true" {
		paths = append(paths, opencodeProject(s.Dir)...)
	}
	if dir := s.get("OPENCODE_CONFIG_DIR"); dir != "" {
		paths = append(paths, filepath.Join(dir, "opencode.jsonc"), filepath.Join(dir, "opencode.json"))
	}
	return paths
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
