package redirect

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/inject"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/secret"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

const (
	claudeHeaders  = "ANTHROPIC_CUSTOM_HEADERS"
	settingsOption = "--settings"
	sourcesOption  = "--setting-sources"
)

// claude sends the calls of Claude Code to a proxy by its variable. Its settings win over variables, and the settings of the
// command line over those in files, except an administrator's.
func claude(c *agent.Client, s Start) (Plan, error) {
	layers, err := claudeLayers(c, s)
	if err != nil {
		return Plan{}, err
	}
	from := func(name string) (value, where string) {
		for _, l := range layers {
			if v, ok := l.env[name].(string); ok {
				return v, l.where
			}
		}
		return s.get(name), "the environment"
	}
	get := func(name string) string { v, _ := from(name); return v }
	if err := other(c, get); err != nil {
		return Plan{}, err
	}
	base, where := from(c.Base.Variable)
	if layers[0].env[c.Base.Variable] != nil {
		return Plan{}, refusef("an administrator's settings decide where %s sends its requests (%s in %s)", c.Title, c.Base.Variable, where)
	}
	var passed []string
	if strings.Contains(get(claudeHeaders), secret.Header+":") || secret.In([]byte(base)) {
		passed = append(passed, origin(base))
		base = "" // a proxy of ours, which would do the same work twice
	}
	u, err := upstream(c, base, where)
	if err != nil {
		return Plan{}, err
	}
	inSettings := where != "the environment"
	plan := toOne(u, func(p Proxy) (Change, error) {
		address := p.url("", "")
		change := Change{Env: []string{c.Base.Variable + "=" + address}, Args: s.Args}
		if small := c.Proxy.Also; get(small.Variable()) == "" && get(small.Unless) == "" {
			change.Env = append(change.Env, small.Variable()+"="+small.Value)
		}
		if !inSettings {
			return change, nil
		}
		given, rest := optionGiven(s.Args, settingsOption)
		if p.Shown {
			given = ""
		}
		merged, err := withVariable(given, s.Dir, c.Base.Variable, address)
		if err != nil {
			return Change{}, err
		}
		file := filepath.Join(p.Folder, "settings.json")
		change.Files = map[string]string{file: merged + "\n"}
		change.Args = append([]string{settingsOption, file}, rest...)
		return change, nil
	})
	plan.Passed = passed
	return plan, nil
}

// claudeLayer is one of Claude Code's settings.
type claudeLayer struct {
	where string
	env   map[string]any
}

// claudeLayers returns the variables in Claude Code's settings, the strongest first. The first are an administrator's.
func claudeLayers(c *agent.Client, s Start) ([]claudeLayer, error) {
	managed := claudeLayer{where: "managed settings"}
	for _, path := range c.Files.Managed(runtime.GOOS, s.get) {
		if l, err := settingsFile(c, path); err == nil && l.env != nil {
			managed = l
		}
	}
	layers := []claudeLayer{managed}
	if given, _ := optionGiven(s.Args, settingsOption); given != "" {
		text, err := settingsText(given, s.Dir)
		if err != nil {
			return nil, err
		}
		layers = append(layers, claudeLayer{settingsOption, variablesIn(text)})
	}
	files, err := s.home().Files(c.Name)
	if err != nil {
		return nil, err
	}
	paths := []string{files.Hooks.Path}
	for _, name := range c.Files.InProject { // from weak to strong
		paths = append(paths, filepath.Join(s.Dir, filepath.FromSlash(name)))
	}
	for i, path := range slices.Backward(paths) {
		if !readsSource(s.Args, i) {
			continue
		}
		l, err := settingsFile(c, path)
		if err != nil {
			return nil, err
		}
		layers = append(layers, l)
	}
	return layers, nil
}

// settingsFile reads the variables of a file, none if there is no file.
func settingsFile(c *agent.Client, path string) (claudeLayer, error) {
	text, err := setup.File{Path: path}.Read()
	if err != nil {
		return claudeLayer{}, fmt.Errorf("%s: %w", path, err)
	}
	if text == nil {
		return claudeLayer{where: path}, nil
	}
	if _, err := (setup.Syntax{Client: c.Title, Format: agent.StrictJSON}).Decode(text); err != nil {
		return claudeLayer{}, fmt.Errorf("%s: %w", path, err)
	}
	return claudeLayer{path, variablesIn(text)}, nil
}

func variablesIn(text []byte) map[string]any {
	var settings struct{ Env map[string]any }
	_ = json.Unmarshal(text, &settings) // what is no object has no variables
	return settings.Env
}

// claudeSources are the names of Claude Code's settings in files, from weak to strong.
var claudeSources = []string{"user", "project", "local"}

// readsSource reports whether Claude Code reads one of claudeSources. What it was told to leave out decides nothing.
func readsSource(args []string, source int) bool {
	chosen, rest := optionGiven(args, sourcesOption)
	if len(rest) == len(args) {
		return true // it was told nothing
	}
	for name := range strings.SplitSeq(chosen, ",") {
		if strings.TrimSpace(name) == claudeSources[source] {
			return true
		}
	}
	return false
}

// optionGiven returns the value of an option, and the other arguments.
func optionGiven(args []string, option string) (value string, rest []string) {
	for i := 0; i < len(args); i++ {
		v, attached := strings.CutPrefix(args[i], option+"=")
		switch {
		case args[i] == "--":
			return value, append(rest, args[i:]...)
		case attached:
			value = v
		case args[i] == option && i+1 < len(args):
			i++
			value = args[i]
		default:
			rest = append(rest, args[i])
		}
	}
	return value, rest
}

// settingsText returns the settings that the option names: a file, or the settings themselves.
func settingsText(given, dir string) ([]byte, error) {
	if strings.HasPrefix(strings.TrimSpace(given), "{") {
		return []byte(given), nil
	}
	if !filepath.IsAbs(given) {
		given = filepath.Join(dir, given)
	}
	text, err := os.ReadFile(given)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", settingsOption, err)
	}
	return text, nil
}

// withVariable returns settings with a variable of the environment.
func withVariable(given, dir, name, value string) (string, error) {
	settings := map[string]any{}
	if given != "" {
		text, err := settingsText(given, dir)
		if err == nil {
			err = json.Unmarshal(text, &settings)
		}
		if err != nil {
			return "", errors.Join(errors.New(settingsOption+" cannot be read"), err)
		}
	}
	env, _ := settings["env"].(map[string]any)
	if env == nil {
		env = map[string]any{}
	}
	env[name] = value
	settings["env"] = env
	return inject.JSON(settings), nil
}
