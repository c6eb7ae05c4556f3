package redirect

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/secret"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

const (
	ownProvider    = "openai"                  // the one that Codex uses unless it is told otherwise
	ownAddress     = "openai_base_url"         // moves it, for both kinds of login
	secretVariable = "MCP_PRUNER_PROXY_SECRET" // settings.Unknown knows it
)

// Names of providers in Codex whose requests the proxy cannot work on, and what they are.
var codexOthers = map[string]string{"amazon-bedrock": "Amazon Bedrock", "oss": "a local model", "ollama": "a local model", "lmstudio": "a local model"}

// codexID matches the names of providers that can be written in an option.
var codexID = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// codexProvider is an entry of model_providers.
type codexProvider struct {
	BaseURL string `toml:"base_url"`
	AWS     any    `toml:"aws"`
}

// codexConfig is the part of Codex's configuration that is read.
type codexConfig struct {
	Provider  string                   `toml:"model_provider"`
	Profile   string                   `toml:"profile"`
	Base      string                   `toml:"openai_base_url"`
	Providers map[string]codexProvider `toml:"model_providers"`
	Profiles  map[string]struct {
		Provider string `toml:"model_provider"`
	} `toml:"profiles"`
}

// codex sends the calls of Codex to a proxy by options for its provider. The secret is in the environment, because other
// users can read command lines.
func codex(c *agent.Client, s Start) (Plan, error) {
	files, err := s.home().Files(c.Name)
	if err != nil {
		return Plan{}, err
	}
	given, err := parseCodex(s.Args)
	if err != nil {
		return Plan{}, err
	}
	config, err := readCodex(files.Servers, given)
	if err != nil {
		return Plan{}, err
	}
	id := config.Provider
	what, refused := codexOthers[id]
	switch {
	case given.local:
		what, refused = codexOthers["oss"], true
	case config.Providers[id].AWS != nil:
		what, refused = "Amazon Bedrock", true
	}
	if refused {
		return Plan{}, refusef("%s uses %s (model_provider %q), whose requests the proxy cannot work on: choose another provider, or start it without --proxy", c.Title, what, id)
	}
	base, where := config.Providers[id].BaseURL, files.Servers.Path
	if id == ownProvider {
		base = config.Base // the variable OPENAI_BASE_URL is for other programs: Codex itself goes on to its own address
	}
	var passed []string
	if id == ownProvider && secret.In([]byte(base)) {
		passed, base = append(passed, origin(base)), "" // a proxy of ours, which would do the same work twice
	}
	u, err := upstream(c, base, where)
	if err != nil {
		return Plan{}, err
	}
	path := u.Path
	u.Path, u.RawPath = "", ""
	plan := toOne(u, func(p Proxy) (Change, error) { return codexChange(s, id, p, path, given.rest), nil })
	plan.Passed = passed
	if id == ownProvider && base == "" {
		plan.Upstreams = nil // by a key or by a login with ChatGPT: each request says which
	}
	return plan, nil
}

// codexChange gives a provider the proxy's address, with the secret in a header, from the environment.
func codexChange(s Start, id string, p Proxy, path string, rest []string) Change {
	set := func(key, value string) []string { return []string{"--config", key + "=" + strconv.Quote(value)} }
	if id == ownProvider {
		return Change{
			Env:  []string{secret.ProjectVariable + "=" + secret.Secret(p.Secret).Project(s.get(secret.ProjectVariable))},
			Args: slices.Concat(set(ownAddress, p.Address+path), rest),
		}
	}
	at := "model_providers." + id
	return Change{
		Env:  []string{secretVariable + "=" + p.Secret},
		Args: slices.Concat(set(at+".base_url", p.Address+path), set(at+".env_http_headers."+secret.Header, secretVariable), rest),
	}
}

// codexArgs are the options in the user's arguments that concern the provider.
type codexArgs struct {
	overrides []string // KEY=VALUE
	profile   string
	local     bool
	alone     bool     // without the user's configuration
	rest      []string // the arguments without those that the run's own options replace
}

func parseCodex(args []string) (codexArgs, error) {
	var found codexArgs
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			found.rest = append(found.rest, args[i:]...)
			return found, nil
		}
		name, value, attached := strings.Cut(arg, "=")
		width := 1
		if !attached && i+1 < len(args) {
			value, width = args[i+1], 2
		}
		switch name {
		case "-c", "--config":
			found.overrides = append(found.overrides, value)
			key, _, _ := strings.Cut(value, "=")
			if key = strings.TrimSpace(key); key == "model_providers" || strings.Count(key, ".") == 1 && strings.HasPrefix(key, "model_providers.") {
				return found, refusef("--config %s replaces a whole provider, so that the run cannot give it another address: set its members one by one", key)
			}
			if key != ownAddress && !strings.HasSuffix(key, ".base_url") {
				found.rest = append(found.rest, args[i:i+width]...)
			}
			i += width - 1
			continue
		case "-p", "--profile":
			found.profile = value
		case "--oss":
			found.local = true
		case "--ignore-user-config":
			found.alone = true
		}
		found.rest = append(found.rest, arg)
	}
	return found, nil
}

// readCodex reads Codex's configuration with the options that override it.
func readCodex(file setup.File, given codexArgs) (codexConfig, error) {
	config := codexConfig{}
	if !given.alone {
		text, err := file.Read()
		if err == nil {
			err = toml.Unmarshal(text, &config)
		}
		if err != nil {
			return config, fmt.Errorf("%s: %w", file.Path, err)
		}
	}
	if given.profile != "" {
		config.Profile = given.profile
	}
	if p := config.Profiles[config.Profile].Provider; p != "" {
		config.Provider = p
	}
	if config.Profile != "" { // newer versions keep a profile in a file of its own
		if text, err := os.ReadFile(filepath.Join(filepath.Dir(file.Path), filepath.Base(config.Profile)+".config.toml")); err == nil {
			if err := toml.Unmarshal(text, &config); err != nil {
				return config, fmt.Errorf("profile %s: %w", config.Profile, err)
			}
		}
	}
	for _, o := range given.overrides {
		config.override(o)
	}
	if config.Provider == "" {
		config.Provider = ownProvider
	}
	if !codexID.MatchString(config.Provider) {
		return config, refusef("the name of the provider %q cannot be written in an option of Codex", config.Provider)
	}
	return config, nil
}

// override applies an option KEY=VALUE. A value that is no TOML is a text.
func (c *codexConfig) override(option string) {
	key, raw, _ := strings.Cut(option, "=")
	var value struct{ V any }
	text := strings.TrimSpace(raw)
	if toml.Unmarshal([]byte("V = "+raw), &value) == nil {
		if v, ok := value.V.(string); ok {
			text = v
		}
	}
	parts := strings.Split(strings.TrimSpace(key), ".")
	switch {
	case key == "model_provider":
		c.Provider = text
	case key == ownAddress:
		c.Base = text
	case len(parts) == 3 && parts[0] == "model_providers" && parts[2] == "base_url":
		if c.Providers == nil {
			c.Providers = map[string]codexProvider{}
		}
		p := c.Providers[parts[1]]
		p.BaseURL = text
		c.Providers[parts[1]] = p
	}
}
